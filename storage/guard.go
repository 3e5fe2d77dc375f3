package storage

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"go.etcd.io/bbolt"

	"curtsy/frontier"
)

// Guard makes the damage of crawl.db that a transaction met an error, where it would
// end the process. It is for the goroutine it is called in, and lets all other
// panics pass:
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

// reach is the memory in which what a bbolt file holds lies: its map, and whatever
// a damaged page of it may name.
type reach struct{ from, to uint64 }

// maxNamed is how far behind its page an entry may say that it lies and ends: two
// numbers of 32 bits.
const maxNamed = 1 << 33

func (r *reach) of(db *bbolt.DB, tx *bbolt.Tx) {
	from := uint64(db.Info().Data)
	*r = reach{from, from + uint64(max(mappedSize, tx.Size())) + maxNamed}
}

// updateDB is bbolt's Update, guarded.
func updateDB(db *bbolt.DB, fn func(*bbolt.Tx) error) error {
	return guarded(func(r *reach) error {
		return db.Update(func(tx *bbolt.Tx) error {
			r.of(db, tx)
			return fn(tx)
		})
	})
}

// guarded runs what uses a bbolt file. bbolt trusts the file: one that is not as it
// was written makes it panic, or read where nothing is, and so may whoever reads what
// it gave out. Such a panic goes on as a *DamageError, through all who would take no
// notice of an error, up to a Guard. A mistake of ours goes on as it is.
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

// has says whether a panic is a fault within what is reached.
func (r *reach) has(p any) bool {
	fault, ok := p.(interface{ Addr() uintptr })
	return ok && uint64(fault.Addr()) >= r.from && uint64(fault.Addr()) < r.to
}

// byBbolt says, in a function that was deferred, whether bbolt panicked, or what it
// called, and not a function of ours.
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
