package mirror

import (
	"bytes"
	"context"
	"runtime/debug"

	"golang.org/x/sync/semaphore"
)

// Several documents are rewritten in memory at a time. held limits their total decoded length.
// A document is first read as a short one; if it is longer, it waits for more memory and is
// read again.
const (
	shortDocument = 1 << 20  // bytes
	maxRewrite    = 24 << 20 // documents over this are copied without rewriting
	perByte       = 6        // memory per byte of a document: body, tags, and the growing output
	maxHeld       = perByte * maxRewrite
	givenBack     = 8 << 20 // freed at once after a larger document
)

// held limits the memory of all workers.
type held struct{ sem *semaphore.Weighted }

func newHeld() held { return held{semaphore.NewWeighted(maxHeld)} }

// take waits until a document of n bytes may be read; give releases it.
func (h held) take(n int64) (give func()) {
	cost := min(n, maxRewrite) * perByte
	_ = h.sem.Acquire(context.Background(), cost) // cannot fail: the context does not end
	return func() {
		if n > givenBack {
			debug.FreeOSMemory()
		}
		h.sem.Release(cost)
	}
}

// buffers are reusable buffers for the body of a document and its rewritten form.
type buffers struct {
	body bytes.Buffer
	out  []byte
}

func (w *writer) takeBuffers() *buffers {
	if b, ok := w.spare.Get().(*buffers); ok {
		b.body.Reset()
		return b
	}
	return new(buffers)
}

func (w *writer) giveBuffers(b *buffers) {
	if b.body.Cap() <= shortDocument && cap(b.out) <= shortDocument {
		w.spare.Put(b)
	}
}
