package fetch

import (
	"sync"

	"curtsy/internal/coding"
)

const (
	firstBuf = 64 << 10 // holds request, head and body of most pages
	poolMost = 1 << 20  // larger buffers are left to the garbage collector
)

// scratch is what a client's exchanges use in turn: buffers and decoders.
type scratch struct {
	buffers  sync.Pool
	decoders coding.Pool
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
