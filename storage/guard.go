package storage

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"go.etcd.io/bbolt"

	"curtsy/frontier"
)

// Guard turns a panic caused by a damaged crawl.db into an error. It works for the goroutine that defers it
// and passes on all other panics:
//
//	defer storage.Guard(&err)()
func Guard(err *error) func() {
	return func() {
		switch p := recover().(type) {
		case nil:
		case *DamageError:
			*err = p
		default:
			panic(p)
		}
	}
}

// reach is the range of addresses that reading a bbolt file may touch: its memory map, and beyond that what
// a damaged page may refer to.
type reach struct{ from, to uint64 }

// maxNamed is how far beyond its page an entry may refer: offset and length have 32 bits each.
const maxNamed = 1 << 33

func (r *reach) of(db *bbolt.DB, tx *bbolt.Tx) {
	from := uint64(db.Info().Data)
	*r = reach{from, from + uint64(max(mappedSize, tx.Size())) + maxNamed}
}

// guarded runs code that uses a bbolt file. bbolt trusts the file: if it is damaged, bbolt or a user of its
// data may panic or access invalid memory. guarded turns that into a panic with a *DamageError, which
// passes callers that ignore errors, up to a Guard. Panics because of bugs are passed on unchanged.
func guarded(use func(*reach) error) error {
	var r reach
	before := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		p := recover()
		if p == nil {
			return
		}
		if r.has(p) || p == frontier.ErrCorrupt || byBbolt() {
			p = &DamageError{File: dbName, What: fmt.Sprint("damaged: ", p)}
		}
		panic(p)
	}()
	return use(&r)
}

// has reports whether a panic is a memory fault within the range.
func (r *reach) has(p any) bool {
	fault, ok := p.(interface{ Addr() uintptr })
	return ok && uint64(fault.Addr()) >= r.from && uint64(fault.Addr()) < r.to
}

// byBbolt reports, in a deferred function, whether bbolt or a function it called panicked, and not one of
// ours.
func byBbolt() bool {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	for panicked := false; ; {
		f, more := frames.Next()
		switch {
		case panicked && strings.HasPrefix(f.Function, "go.etcd.io/bbolt"):
			return true
		case panicked && strings.HasPrefix(f.Function, "curtsy/"), !more:
			return false
		}
		panicked = panicked || f.Function == "runtime.gopanic"
	}
}
