package fetch

import (
	"sync"

	"curtsy/internal/coding"
)

const (
	firstBuf = 64 << 10 // enough for request, head and body of most pages
	poolMost = 1 << 20  // larger buffers are left to the garbage collector
)

// scratch pools the buffers and decoders of a client's exchanges.
type scratch struct {
	buffers  sync.Pool
	decoders coding.Pool
}

// buffer returns an empty buffer with a capacity of at least firstBuf.
func (s *scratch) buffer() []byte {
	if b, ok := s.buffers.Get().(*[]byte); ok {
		return (*b)[:0]
	}
	return make([]byte, 0, firstBuf)
}

// recycle returns an unused buffer to the pool.
func (s *scratch) recycle(b []byte) {
	if c := cap(b); c >= firstBuf && c <= poolMost {
		s.buffers.Put(&b)
	}
}
