//go:build linux || darwin || freebsd

package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

// socketName is the name of the writer's socket in the archive's directory.
const socketName = "crawl.db.readers"

// late tells a reader that its commit is no longer preserved.
const late = 'x'

const (
	handshake = 2 * time.Second // time for a reader to open the preserved commit; until then nothing is committed
	maxKept   = time.Hour       // limit for a reader, since crawl.db grows while it is kept
)

// lock locks the directory until it is closed: exclusively for a writer, or shared for readers. The error is
// ErrInUse if others hold it. If the file system does not support such locks, the lock on crawl.db must
// suffice.
func (d *directory) lock(exclusive bool) error {
	f, err := d.root.Open(".")
	if err != nil {
		return err
	}
	how := unix.LOCK_SH | unix.LOCK_NB
	if exclusive {
		how = unix.LOCK_EX | unix.LOCK_NB
	}
	for end := time.Now().Add(lockTimeout); ; time.Sleep(lockTimeout / 8) {
		err = unix.Flock(int(f.Fd()), how)
		if err == nil {
			d.locked = f
			return nil
		}
		if err != unix.EWOULDBLOCK || time.Now().After(end) {
			f.Close()
			break
		}
	}
	if err == unix.EWOULDBLOCK {
		return fmt.Errorf("%s: %w", d.file(dbName), ErrInUse)
	}
	return nil
}

// lockFile locks a file until it is closed; false if another process has it or locks are not supported.
func lockFile(f *os.File) bool { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil }

// socket returns a path to the socket that works even if the directory was moved or has a long name.
func (d *directory) socket() (path string, release func(), err error) {
	if runtime.GOOS != "linux" {
		return filepath.Join(d.path, socketName), func() {}, nil
	}
	f, err := d.root.Open(".")
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", f.Fd(), socketName), func() { f.Close() }, nil
}

// readers serves those that read while this process writes.
type readers struct {
	a        *Archive
	listener *net.UnixListener
	done     sync.WaitGroup
	mu       sync.Mutex
	conns    map[net.Conn]bool
}

// share lets others read while the archive is written. If that is not possible, they get ErrInUse.
func (a *Archive) share() {
	if a.opts.Alone || a.dir.locked == nil || a.file == nil || !a.mapsAll {
		return
	}
	l, err := a.dir.listen()
	if err != nil {
		a.opts.Logger.Debug("other commands cannot read while this crawl runs", "err", err)
		return
	}
	if err := unix.Flock(int(a.file.Fd()), unix.LOCK_SH|unix.LOCK_NB); err != nil {
		l.Close()
		a.opts.Logger.Debug("other commands cannot read while this crawl runs", "err", err)
		return
	}
	r := &readers{a: a, listener: l, conns: map[net.Conn]bool{}}
	a.sharing = r
	r.done.Go(r.accept)
}

func (d *directory) listen() (*net.UnixListener, error) {
	if err := d.dropSocket(); err != nil {
		return nil, err
	}
	path, release, err := d.socket()
	if err != nil {
		return nil, err
	}
	defer release()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // the path is temporary
	if err := d.root.Chmod(socketName, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// dropSocket removes the socket of this writer or of a killed one.
func (d *directory) dropSocket() error {
	st, err := d.root.Lstat(socketName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && st.Mode()&os.ModeSocket == 0 {
		err = fmt.Errorf("%s: not a socket", d.file(socketName))
	}
	if err != nil {
		return err
	}
	return d.root.Remove(socketName)
}

func (r *readers) accept() {
	for {
		c, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.mu.Lock()
		r.conns[c] = true
		r.mu.Unlock()
		r.done.Go(func() {
			r.serve(c)
			r.mu.Lock()
			delete(r.conns, c)
			r.mu.Unlock()
			c.Close()
		})
	}
}

// serve preserves the last commit for one reader.
func (r *readers) serve(c net.Conn) {
	tx, ok := r.keep(c)
	if !ok {
		return
	}
	defer tx.Rollback()
	_ = c.SetDeadline(time.Now().Add(maxKept))
	_, err := c.Read(make([]byte, 1)) // blocks until the reader has finished or is gone
	if errors.Is(err, os.ErrDeadlineExceeded) {
		_ = c.SetDeadline(time.Now().Add(handshake))
		_, _ = c.Write([]byte{late})
		_, _ = c.Read(make([]byte, 1)) // gives the reader time to notice
	}
}

// keep opens a transaction for a reader, and waits until the reader has opened one on the same commit.
func (r *readers) keep(c net.Conn) (_ *bbolt.Tx, ok bool) {
	r.a.gate.Lock()
	defer r.a.gate.Unlock()
	var err error
	defer Guard(&err)()
	tx, err := r.a.beginTx(false)
	if err != nil {
		return nil, false
	}
	_ = c.SetDeadline(time.Now().Add(handshake))
	var answer [1]byte
	if _, err = c.Write([]byte("k")); err == nil {
		_, err = c.Read(answer[:])
	}
	if err != nil || answer[0] != 'o' {
		_ = tx.Rollback()
		return nil, false
	}
	return tx, true
}

// close ends the service. Processes that still read hold the lock on crawl.db, so that no other writer
// starts.
func (r *readers) close() {
	if r == nil {
		return
	}
	_ = r.a.dir.dropSocket()
	r.listener.Close()
	r.mu.Lock()
	for c := range r.conns {
		c.Close()
	}
	r.mu.Unlock()
	r.done.Wait()
}

// liveWriter is the connection to the crawl that writes while this process reads.
type liveWriter struct {
	conn net.Conn
	txs  chan *bbolt.Tx
	late atomic.Bool // it no longer preserves our commit
}

// join asks the writer to preserve its last commit.
func (d *directory) join() (*liveWriter, error) {
	path, release, err := d.socket()
	if err != nil {
		return nil, err
	}
	defer release()
	if st, err := d.root.Lstat(socketName); err != nil || st.Mode()&os.ModeSocket == 0 {
		return nil, errors.Join(err, errors.New("it accepts no readers"))
	}
	c, err := net.DialTimeout("unix", path, handshake)
	if err != nil {
		return nil, err
	}
	_ = c.SetDeadline(time.Now().Add(10 * handshake))
	if _, err := c.Read(make([]byte, 1)); err != nil {
		c.Close()
		return nil, err
	}
	return &liveWriter{conn: c}, nil
}

// opened tells the writer that it may continue.
func (w *liveWriter) opened() error {
	_ = w.conn.SetDeadline(time.Time{})
	if _, err := w.conn.Write([]byte("o")); err != nil {
		return err
	}
	go func() {
		var b [1]byte
		if n, _ := w.conn.Read(b[:]); n == 1 && b[0] == late { // otherwise the writer has ended
			w.late.Store(true)
		}
	}()
	return nil
}

func (w *liveWriter) close() { w.conn.Close() }
