//go:build !(linux || darwin || freebsd)

package storage

import (
	"errors"
	"os"
	"sync/atomic"

	"go.etcd.io/bbolt"
)

// lock does nothing: the lock on crawl.db must suffice.
func (d *directory) lock(bool) error { return nil }

// lockFile returns false: on this system only a crawl adds to sidecars.
func lockFile(*os.File) bool { return false }

type readers struct{}

func (r *readers) close() {}

// share does nothing: the archive cannot be read while a crawl writes.
func (a *Archive) share() {}

type liveWriter struct {
	txs  chan *bbolt.Tx
	late atomic.Bool
}

func (d *directory) join() (*liveWriter, error) { return nil, errors.ErrUnsupported }
func (w *liveWriter) opened() error             { return errors.ErrUnsupported }
func (w *liveWriter) close()                    {}
