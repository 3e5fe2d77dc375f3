package fetch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxGrow is the most that is made room for before it has come.
const maxGrow = 1 << 20

// recording holds what was sent and received in one exchange, verbatim: the
// request, the heads and, behind them, the body, which may move to a file that
// has no name, so that nothing of it is left whatever happens.
type recording struct {
	buf     []byte // all of it; with a file, the body's place is room to read into
	request int    // where the request ends in buf
	open    int    // of the request, what is sent as it stands here
	secret  []byte // not empty: the fields that are sent in place of what follows
	head    int    // where the final head begins
	body    int    // where it ends and the body begins
	size    int64  // octets of body recorded
	scratch *scratch
	file    File
	large   chan struct{} // not nil: a token of it is held
}

// ErrNoRoom says that the file of a body could not be made or written.
var ErrNoRoom = errors.New("no room for the body")

// File holds a body. It is gone when it is closed or the process ends.
type File interface {
	io.Writer
	io.ReaderAt
	io.Closer
}

// space gives room to read into, for want more octets of body as far as is
// known (-1: unknown).
func (r *recording) space(want int64) []byte {
	if free := int64(cap(r.buf) - len(r.buf)); free == 0 || free < min(want, 16<<10) {
		r.grow(want)
	}
	return r.buf[len(r.buf):cap(r.buf)]
}

// grow makes room for want more octets, within reason: lengths may lie.
func (r *recording) grow(want int64) {
	n := len(r.buf) + int(min(max(want, 1), maxGrow))
	if cap(r.buf) >= n {
		return
	}
	if len(r.buf) == cap(r.buf) {
		n = max(n, cap(r.buf)+min(cap(r.buf), 4*maxGrow))
	}
	buf := make([]byte, len(r.buf), n)
	copy(buf, r.buf)
	r.scratch.recycle(r.buf)
	r.buf = buf
}

// keep records the next n octets of the space that was given as body.
func (r *recording) keep(n int) error {
	r.size += int64(n)
	if r.file == nil {
		r.buf = r.buf[:len(r.buf)+n]
		return nil
	}
	return r.write(r.buf[len(r.buf) : len(r.buf)+n])
}

// spill moves the body to a file.
func (r *recording) spill(create func() (File, error)) error {
	f, err := create()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoRoom, err)
	}
	r.file = f
	err = r.write(r.buf[r.body:])
	r.buf = append(r.scratch.buffer(), r.buf[:r.body]...)
	r.yield()
	return err
}

func (r *recording) write(b []byte) error {
	if _, err := r.file.Write(b); err != nil {
		return fmt.Errorf("%w: %w", ErrNoRoom, err)
	}
	return nil
}

// yield gives the token of large bodies back.
func (r *recording) yield() {
	if r.large != nil {
		<-r.large
		r.large = nil
	}
}

// reader gives the recorded body, anew each time.
func (r *recording) reader() io.Reader {
	if r.file != nil {
		return io.NewSectionReader(r.file, 0, r.size)
	}
	return bytes.NewReader(r.memory())
}

// memory is the body where it is in memory, else nil.
func (r *recording) memory() []byte {
	if r.file != nil {
		return nil
	}
	return r.buf[r.body:]
}

// forget drops everything but the request.
func (r *recording) forget() {
	r.buf = r.buf[:r.request]
	r.head, r.body, r.size = r.request, r.request, 0
	r.closeFile()
	r.yield()
}

// release gives the buffer back and closes the file.
func (r *recording) release() {
	r.closeFile()
	r.scratch.recycle(r.buf)
	r.buf = nil
	r.yield()
}

func (r *recording) closeFile() {
	if r.file != nil {
		r.file.Close()
		r.file = nil
	}
}
