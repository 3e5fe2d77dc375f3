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

// socketName is the writer's socket in the archive's directory.
const socketName = "crawl.db.readers"

// late tells a reader that its commit is kept no longer.
const late = 'x'

const (
	handshake = 2 * time.Second // for a reader to open what is kept for it; nothing is committed until then
	maxKept   = time.Hour       // that a reader may take, since crawl.db grows meanwhile
)

// lock takes the lock on the directory: a writer's own, or one that readers
// share. ErrInUse: others hold it. It is held until the directory is closed;
// where the file system knows no such lock, that of crawl.db must do.
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

// lockFile takes the lock on a file, until it is closed; false: another has it, or
// there is no such lock.
func lockFile(f *os.File) bool { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil }

// socket is the path by which the socket is reached, wherever the directory is
// by now, and however long its name is.
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

// readers are those that read while this writer writes.
type readers struct {
	a        *Archive
	listener *net.UnixListener
	done     sync.WaitGroup
	mu       sync.Mutex
	conns    map[net.Conn]bool
}

// share lets others read while the archive is written. Where that cannot be,
// they are told that it is in use.
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
	l.SetUnlinkOnClose(false) // the path is of this moment
	if err := d.root.Chmod(socketName, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// dropSocket removes the socket that this writer, or a killed one, has made.
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

// serve keeps the last commit for one reader.
func (r *readers) serve(c net.Conn) {
	tx, ok := r.keep(c)
	if !ok {
		return
	}
	defer tx.Rollback()
	_ = c.SetDeadline(time.Now().Add(maxKept))
	_, err := c.Read(make([]byte, 1)) // until the reader has done, or is gone
	if errors.Is(err, os.ErrDeadlineExceeded) {
		_ = c.SetDeadline(time.Now().Add(handshake))
		_, _ = c.Write([]byte{late})
		_, _ = c.Read(make([]byte, 1)) // time for it to see that
	}
}

// keep opens a transaction for a reader, and waits until the reader has one of
// the same commit.
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

// close ends the sharing. Who still reads holds crawl.db's lock, so that no
// other writer begins.
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

// liveWriter is the crawl that writes while this process reads.
type liveWriter struct {
	conn net.Conn
	txs  chan *bbolt.Tx
	late atomic.Bool // it keeps our commit no longer
}

// join asks the writer to keep its last commit.
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

// opened tells the writer that it may go on.
func (w *liveWriter) opened() error {
	_ = w.conn.SetDeadline(time.Time{})
	if _, err := w.conn.Write([]byte("o")); err != nil {
		return err
	}
	go func() {
		var b [1]byte
		if n, _ := w.conn.Read(b[:]); n == 1 && b[0] == late { // else it has ended, and writes no more
			w.late.Store(true)
		}
	}()
	return nil
}

func (w *liveWriter) close() { w.conn.Close() }
