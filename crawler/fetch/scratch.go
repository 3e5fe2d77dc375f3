package fetch

import (
	"bufio"
	"io"
	"sync"
)

const (
	firstBuf = 64 << 10 // holds request, head and body of most pages
	poolMost = 1 << 20  // larger buffers are left to the garbage collector
)

// scratch is what a client's exchanges use in turn: buffers and decoders.
type scratch struct {
	buffers, readers      sync.Pool
	gzips, brotlis, zstds sync.Pool
}

// buffer gives an empty buffer of at least firstBuf.
func (s *scratch) buffer() []byte {
	if b, ok := s.buffers.Get().(*[]byte); ok {
		return (*b)[:0]
	}
	return make([]byte, 0, firstBuf)
}

// recycle takes a buffer that nobody uses any more.
func (s *scratch) recycle(b []byte) {
	if c := cap(b); c >= firstBuf && c <= poolMost {
		s.buffers.Put(&b)
	}
}

// reader gives a buffered reader of r.
func (s *scratch) reader(r io.Reader) *bufio.Reader {
	if b, ok := s.readers.Get().(*bufio.Reader); ok {
		b.Reset(r)
		return b
	}
	return bufio.NewReaderSize(r, 32<<10)
}
