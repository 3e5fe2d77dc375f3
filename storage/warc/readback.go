package warc

import (
	"bytes"
	"compress/gzip"
	"errors"
)

// ErrReadBack is a record that does not inflate to what it was made of.
var ErrReadBack = errors.New("a record does not decode to what was written")

// checkEvery is how many members of the deflater there are to one that is read
// back while crawling; verify reads all of them.
const checkEvery = 64

// readBack inflates a sample of the deflater's members by the standard
// library, which shares no code with it, and compares.
type readBack struct {
	n   int // members so far
	z   gzip.Reader
	src bytes.Reader
	got bytes.Buffer
	err error
}

// member reads back the first member and every checkEvery-th behind it.
func (c *readBack) member(member, want []byte) {
	if c.n++; c.n%checkEvery != 1 || c.err != nil {
		return
	}
	c.src.Reset(member)
	if err := c.z.Reset(&c.src); err != nil {
		c.err = errors.Join(ErrReadBack, err)
		return
	}
	c.got.Reset()
	if _, err := c.got.ReadFrom(&c.z); err != nil || !bytes.Equal(c.got.Bytes(), want) {
		c.err = errors.Join(ErrReadBack, err)
	}
}
