package storage

import (
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"curtsy/internal/mapped"
)

// Reading while a crawl writes.
//
// The writer holds the lock on the directory, and keeps crawl.db open for reading by others. bbolt reuses
// only pages that no open transaction can reach. So a reader connects to the writer's socket; the writer
// opens a transaction for it, commits nothing until the reader has opened its own on the same commit, and
// keeps its own open as long as the connection lasts. The reader sees that one commit until it ends, and of
// each segment what that commit includes.

// errLate reports that the writer no longer preserves the state that a reader uses.
var errLate = errors.New("the running crawl no longer holds the state being read: run the command again")

// view runs a read transaction on the last commit or, while a crawl writes, on the commit that was the last
// when the archive was opened.
func (a *Archive) view(fn func(*bbolt.Tx) error) error {
	return guarded(func(r *reach) error {
		tx, err := a.take()
		if err != nil {
			return err
		}
		defer a.give(tx)
		r.of(a.db, tx)
		a.release(tx, 1)
		if err = fn(tx); a.live != nil && a.live.late.Load() {
			return errLate
		}
		return err
	})
}

// take returns a read transaction, which the caller must return with give.
func (a *Archive) take() (tx *bbolt.Tx, err error) {
	if a.live != nil {
		if a.live.late.Load() {
			return nil, errLate
		}
		return <-a.live.txs, nil
	}
	return a.beginTx(false)
}

func (a *Archive) give(tx *bbolt.Tx) {
	if a.live != nil {
		a.live.txs <- tx
		return
	}
	_ = tx.Rollback()
}

// beginTx is bbolt's Begin. If the first pages of crawl.db are damaged, that panics with bbolt's locks
// locked; later calls then panic too instead of waiting for them.
func (a *Archive) beginTx(writable bool) (tx *bbolt.Tx, err error) {
	a.beginning.Lock()
	defer a.beginning.Unlock()
	if a.jammed {
		panic(&DamageError{File: dbName, What: "damaged: a transaction could not begin"})
	}
	a.jammed = true
	err = guarded(func(*reach) (err error) {
		tx, err = a.db.Begin(writable)
		return err
	})
	a.jammed = false
	return tx, err
}

// release acts after releaseAfter reads; a commit counts as commitReads.
const (
	releaseAfter = 1 << 14
	commitReads  = 1 << 7
)

// release tells the system now and then that the mapped pages of crawl.db are not needed: else the memory
// use of a process seems to grow with the archive.
func (a *Archive) release(tx *bbolt.Tx, reads int64) {
	if used := a.used.Add(reads); used/releaseAfter != (used-reads)/releaseAfter {
		mapped.Release(a.db.Info().Data, tx.Size())
	}
}

// IsLive reports whether a crawl writes to the archive, which is open for reading.
func (a *Archive) IsLive() bool { return a.live != nil }

// liveViews is the number of simultaneous views, nested ones included.
const liveViews = 64

// openLive opens crawl.db while a crawl writes to it.
func (a *Archive) openLive() error {
	w, err := a.dir.join()
	if err != nil {
		return fmt.Errorf("%s: %w", a.dir.file(dbName), errors.Join(ErrInUse, err))
	}
	if err := a.openDB(dbName, true); err != nil {
		w.close()
		return err
	}
	a.live = w
	w.txs = make(chan *bbolt.Tx, liveViews)
	for range liveViews {
		tx, err := a.beginTx(false)
		if err != nil {
			return a.endLive(err)
		}
		w.txs <- tx
	}
	if err := w.opened(); err != nil {
		return a.endLive(err)
	}
	return nil
}

// endLive ends the transactions of a reader, which db.Close would wait for.
func (a *Archive) endLive(err error) error {
	if a.live == nil {
		return err
	}
	for range len(a.live.txs) {
		tx := <-a.live.txs
		err = errors.Join(err, tx.Rollback())
	}
	a.live.close()
	a.live = nil
	return err
}
