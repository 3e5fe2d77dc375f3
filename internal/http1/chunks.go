package http1

import (
	"errors"
	"io"
	"strconv"
)

// Chunks decodes the chunked transfer coding (RFC 9112 §7.1) incrementally. The zero value is
// ready for the start of a body.
type Chunks struct {
	state   chunkState
	left    int64 // of the size being read, or of the data of the current chunk
	line    int   // octets of the size line or of the trailer so far
	payload int64 // octets of data so far
	blank   bool  // in the trailer: the current line is empty so far
	digits  bool  // in the size line: it has a digit
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
	errChunkSize = errors.New("invalid chunk size")
	errChunkLine = errors.New("a chunk's size line or the trailer is too long")
	errChunkEnd  = errors.New("a chunk does not end at its stated size")
)

// Next consumes n octets of b and returns the data among them. n is 0 only if b is empty or the
// body has ended.
func (c *Chunks) Next(b []byte) (data []byte, n int, err error) {
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

// Ended reports whether the body is complete.
func (c *Chunks) Ended() bool { return c.state == atEnd }

// Payload returns the octets of data so far.
func (c *Chunks) Payload() int64 { return c.payload }

// octet consumes an octet that is not data.
func (c *Chunks) octet(b byte) error {
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

// size parses hexadecimal digits and their terminator.
func (c *Chunks) size(b byte) error {
	d, err := strconv.ParseUint(string(rune(b)), 16, 8)
	if err != nil {
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

// extension skips to the end of the line.
func (c *Chunks) extension(b byte) error {
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

// trailer skips trailer fields up to the blank line.
func (c *Chunks) trailer(b byte) error {
	switch {
	case b == '\n' && c.blank:
		c.state = atEnd
		return nil
	case b == '\n':
		c.blank = true
	case b != '\r':
		c.blank = false
	}
	return c.long(maxTrailer)
}

func (c *Chunks) long(most int) error {
	c.line++
	if c.line > most {
		return errChunkLine
	}
	return nil
}

// dechunked reads the data of an archived chunked body.
type dechunked struct {
	from io.Reader
	c    Chunks
	buf  []byte
	rest []byte
	err  error
}

// Dechunk returns the data of a chunked body that consists of begun followed by from, which may
// be nil. A truncated body ends with io.ErrUnexpectedEOF.
func Dechunk(begun []byte, from io.Reader) io.Reader { return &dechunked{from: from, rest: begun} }

func (d *dechunked) Read(p []byte) (int, error) {
	for len(p) > 0 && d.err == nil && !d.c.Ended() {
		if len(d.rest) == 0 {
			d.more()
			continue
		}
		data, n, err := d.c.Next(d.rest[:min(len(d.rest), len(p))])
		d.rest, d.err = d.rest[n:], err
		if len(data) > 0 {
			return copy(p, data), nil
		}
	}
	if len(p) > 0 && d.err == nil {
		return 0, io.EOF
	}
	return 0, d.err
}

func (d *dechunked) more() {
	if d.from == nil {
		d.err = io.ErrUnexpectedEOF
		return
	}
	if d.buf == nil {
		d.buf = make([]byte, 32<<10)
	}
	n, err := d.from.Read(d.buf)
	d.rest = d.buf[:n]
	if n > 0 {
		return // the error is returned again on the next call
	}
	if d.err = err; err == io.EOF {
		d.err = io.ErrUnexpectedEOF
	}
}
