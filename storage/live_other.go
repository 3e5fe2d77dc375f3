//go:build !(linux || darwin || freebsd)

package storage

import (
	"errors"
	"os"
	"sync/atomic"

	"go.etcd.io/bbolt"
)

// lock leaves it to the lock of crawl.db.
func (d *directory) lock(bool) error { return nil }

// lockFile knows no lock: only a crawl adds to files.
func lockFile(*os.File) bool { return false }

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
