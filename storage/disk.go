package storage

import (
	"errors"
	"slices"
	"syscall"

	"go.etcd.io/bbolt"
)

// refusals are system errors that do not mean damage: there is no room, the disk fails, too many files are
// open.
var refusals = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EIO, syscall.EMFILE, syscall.ENFILE,
	syscall.ENOMEM}

// IsDisk reports whether the system refused to write or open a file, so that the operation may succeed
// later.
func IsDisk(err error) bool {
	return errors.Is(err, errDisk) ||
		!isDamage(err) && slices.ContainsFunc(refusals, func(e error) bool { return errors.Is(err, e) })
}

// refused wraps the error of a write in errDisk, unless it is damage.
func refused(err error) error {
	if errors.Is(err, errDisk) || isDamage(err) {
		return err
	}
	return diskError(err)
}

func isDamage(err error) bool {
	_, is := errors.AsType[*DamageError](err)
	return is
}

// update is bbolt's Update. If a transaction panics because of a damaged file, it returns a DamageError, but
// bbolt's locks stay locked: nothing more can be written, and Close leaves closing the file to the system.
func (a *Archive) update(fn func(*bbolt.Tx) error) (err error) {
	if a.stuck {
		return &DamageError{File: dbName, What: "damaged: a transaction was not completed"}
	}
	a.gate.Lock()
	defer a.gate.Unlock()
	defer Guard(&err)()
	var own error
	a.stuck = true
	err = guarded(func(r *reach) error {
		tx, err := a.beginTx(true)
		if err != nil {
			return err
		}
		defer tx.Rollback() // has no effect after a commit
		r.of(a.db, tx)
		a.release(tx, commitReads)
		if own = a.whole(tx); own == nil {
			own = fn(tx)
		}
		if own == nil {
			own = raiseSchema(tx)
		}
		if own != nil {
			return own
		}
		return tx.Commit()
	})
	a.stuck = false
	if err != nil && own == nil {
		return refused(err)
	}
	return err
}

func (a *Archive) isJammed() bool {
	a.beginning.Lock()
	defer a.beginning.Unlock()
	return a.jammed
}

func (a *Archive) closeDB() error {
	if a.stuck || a.isJammed() {
		return nil
	}
	return errors.Join(a.endLive(nil), a.db.Close())
}
