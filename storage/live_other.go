//go:build !(linux || darwin || freebsd)

package storage

import (
	"errors"
	"sync/atomic"

	"go.etcd.io/bbolt"
)

// lock leaves it to the lock of crawl.db.
func (d *directory) lock(bool) error { return nil }

type readers struct{}

func (r *readers) close() {}

// share does nothing: while a crawl writes, the archive is in use.
func (a *Archive) share() {}

type liveWriter struct {
	txs  chan *bbolt.Tx
	late atomic.Bool
}

func (d *directory) join() (*liveWriter, error) { return nil, errors.ErrUnsupported }
func (w *liveWriter) opened() error             { return errors.ErrUnsupported }
func (w *liveWriter) close()                    {}
