package storage

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
)

var errChunks = errors.New("the chunks of a kept body do not read back")

// chunked reads the payload out of a body kept in chunks (RFC 9112 §7.1). What
// is kept was read and bounded once, so that, unlike net/http's reader, it
// minds neither tiny chunks nor long extensions.
type chunked struct {
	r    *bufio.Reader
	left int64 // octets of the current chunk
	err  error
}

func (c *chunked) Read(p []byte) (int, error) {
	for c.err == nil && c.left == 0 {
		c.begin()
	}
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err == nil && c.left == 0 {
		err = c.line(func(b []byte) bool { return len(b) == 0 })
	}
	c.err = err
	return n, err
}

// begin reads a size line; behind the last chunk, the rest is trailers.
func (c *chunked) begin() {
	c.err = c.line(func(b []byte) bool {
		size, _, _ := bytes.Cut(b, []byte(";"))
		n, err := strconv.ParseInt(string(bytes.TrimSpace(size)), 16, 64)
		c.left = n
		return err == nil && n >= 0
	})
	if c.err == nil && c.left == 0 {
		c.err = io.EOF
	}
}

func (c *chunked) line(good func([]byte) bool) error {
	b, err := c.r.ReadSlice('\n')
	if err != nil {
		return io.ErrUnexpectedEOF // too long a line among it
	}
	if !good(bytes.TrimRight(b, "\r\n")) {
		return errChunks
	}
	return nil
}
