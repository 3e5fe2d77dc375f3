package mirror

import (
	"bytes"
	"context"
	"runtime/debug"

	"golang.org/x/sync/semaphore"
)

// Documents are rewritten in memory, several at a time: what all workers hold
// together is bounded by the decoded length of what they read. Most documents
// are short; a longer one waits until it has the room, and is read once more.
const (
	shortDocument = 1 << 20  // bytes
	maxRewrite    = 24 << 20 // the longest document whose references are rewritten; others are copied
	perByte       = 6        // what a byte of a document costs: it, its tags, its rewritten form while that grows
	maxHeld       = perByte * maxRewrite
	givenBack     = 8 << 20 // a document over this leaves memory that is given back to the system at once
)

// held is the memory of all workers.
type held struct{ sem *semaphore.Weighted }

func newHeld() held { return held{semaphore.NewWeighted(maxHeld)} }

// take waits for the room for a document of n bytes.
func (h held) take(n int64) (give func()) {
	cost := min(n, maxRewrite) * perByte
	_ = h.sem.Acquire(context.Background(), cost) // fails only where the context ends
	return func() {
		if n > givenBack {
			debug.FreeOSMemory()
		}
		h.sem.Release(cost)
	}
}

// buffers are what a document is read into, and rewritten into: of short ones they are used
// again for the next one.
type buffers struct {
	body bytes.Buffer
	out  []byte
}

func (w *writer) takeBuffers() *buffers {
	select {
	case b := <-w.spare:
		b.body.Reset()
		return b
	default:
		return new(buffers)
	}
}

func (w *writer) giveBuffers(b *buffers) {
	if b.body.Cap() > shortDocument || cap(b.out) > shortDocument {
		return
	}
	select {
	case w.spare <- b:
	default:
	}
}
