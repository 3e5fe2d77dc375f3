package fetch

import (
	"errors"
	"io"
)

// chunks reads the chunked transfer coding (RFC 9112 §7.1), piece by piece
// as it arrives. The zero value is at the start of a body.
type chunks struct {
	state   chunkState
	left    int64 // of the size being read, or of the data still to come
	line    int   // octets of the size line or of the trailer so far
	payload int64 // octets of data passed on
	blank   bool  // in the trailer: the line is empty so far
	digits  bool  // in the size line: it has begun
}

type chunkState int

const (
	inSize chunkState = iota
	inExtension
	inData
	atDataCR
	atDataLF
	inTrailer
	atEnd
)

var (
	errChunkSize = errors.New("a chunk's size is no number")
	errChunkLine = errors.New("a chunk's size line or the trailer is too long")
	errChunkEnd  = errors.New("a chunk does not end where it says")
)

// next consumes n octets of b, at least one unless b is empty or the body
// has ended, and gives the data among them.
func (c *chunks) next(b []byte) (data []byte, n int, err error) {
	for n < len(b) && c.state != atEnd {
		if c.state == inData {
			k := int(min(c.left, int64(len(b)-n)))
			data = b[n : n+k]
			c.left -= int64(k)
			c.payload += int64(k)
			if c.left == 0 {
				c.state = atDataCR
			}
			return data, n + k, nil
		}
		if err := c.octet(b[n]); err != nil {
			return nil, n, err
		}
		n++
	}
	return nil, n, nil
}

// octet consumes one octet that is not data.
func (c *chunks) octet(b byte) error {
	switch c.state {
	case inSize:
		return c.size(b)
	case inExtension:
		return c.extension(b)
	case atDataCR:
		if b != '\r' {
			return errChunkEnd
		}
		c.state = atDataLF
	case atDataLF:
		if b != '\n' {
			return errChunkEnd
		}
		c.state, c.left, c.line, c.digits = inSize, 0, 0, false
	case inTrailer:
		return c.trailer(b)
	}
	return nil
}

// size reads hexadecimal digits, and what follows them to the line's end.
func (c *chunks) size(b byte) error {
	d := -1
	switch {
	case '0' <= b && b <= '9':
		d = int(b - '0')
	case 'a' <= b && b <= 'f':
		d = int(b-'a') + 10
	case 'A' <= b && b <= 'F':
		d = int(b-'A') + 10
	}
	if d < 0 {
		if !c.digits || b != ';' && b != ' ' && b != '\t' && b != '\r' && b != '\n' {
			return errChunkSize
		}
		c.state = inExtension
		return c.extension(b)
	}
	c.digits = true
	if c.left >= 1<<58 {
		return errChunkSize
	}
	c.left = c.left<<4 | int64(d)
	return c.long(maxChunkLine)
}

// extension passes over everything up to the line's end.
func (c *chunks) extension(b byte) error {
	if b != '\n' {
		return c.long(maxChunkLine)
	}
	c.line = 0
	c.state = inData
	if c.left == 0 {
		c.state, c.blank = inTrailer, true
	}
	return nil
}

// trailer passes over trailer fields up to the blank line.
func (c *chunks) trailer(b byte) error {
	switch {
	case b == '\n' && c.blank:
		c.state = atEnd
		return nil
	case b == '\n':
		c.blank = true
	case b != '\r':
		c.blank = false
	}
	return c.long(64 << 10)
}

func (c *chunks) long(most int) error {
	c.line++
	if c.line > most {
		return errChunkLine
	}
	return nil
}

// dechunked reads the data out of a recorded chunked body. What was cut off
// ends where it was cut.
type dechunked struct {
	from io.Reader
	c    chunks
	buf  []byte
	rest []byte
}

func (d *dechunked) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		for len(d.rest) > 0 && d.c.state != atEnd {
			data, n, err := d.c.next(d.rest[:min(len(d.rest), max(len(p), 1))])
			d.rest = d.rest[n:]
			if err != nil {
				return 0, io.EOF
			}
			if len(data) > 0 {
				return copy(p, data), nil
			}
		}
		if d.c.state == atEnd {
			return 0, io.EOF
		}
		n, err := d.from.Read(d.buf)
		if n == 0 && err != nil {
			return 0, io.EOF
		}
		d.rest = d.buf[:n]
	}
}
