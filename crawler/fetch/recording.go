package fetch

import (
	"bytes"
	"io"
	"os"
)

// maxGrow is the most that is made room for before it has come.
const maxGrow = 1 << 20

// recording holds what was sent and received in one exchange, verbatim: the
// request, the heads and, behind them, the body, which moves to a file once
// it exceeds spillAt. The file has no name, so that nothing of it is left
// whatever happens.
type recording struct {
	buf     []byte // all of it; with a file, the body's place is room to read into
	request int    // where the request ends in buf
	head    int    // where the final head begins
	body    int    // where it ends and the body begins
	size    int64  // octets of body recorded
	spillAt int64
	scratch *scratch
	dir     string
	file    *os.File
	named   bool // the file could not be removed while it is open
}

// space gives room to read into, for want more octets of body as far as is
// known (-1: unknown).
func (r *recording) space(want int64) ([]byte, error) {
	if r.file == nil && r.size >= r.spillAt {
		if err := r.spill(); err != nil {
			return nil, err
		}
	}
	if free := int64(cap(r.buf) - len(r.buf)); free == 0 || free < min(want, 16<<10) {
		r.grow(want)
	}
	return r.buf[len(r.buf):cap(r.buf)], nil
}

// grow makes room for want more octets, within reason: lengths may lie.
func (r *recording) grow(want int64) {
	n := len(r.buf) + int(min(max(want, 1), maxGrow))
	if cap(r.buf) >= n {
		return
	}
	if len(r.buf) == cap(r.buf) {
		n = max(n, 2*cap(r.buf))
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
	_, err := r.file.Write(r.buf[len(r.buf) : len(r.buf)+n])
	return err
}

// spill moves the body to a file.
func (r *recording) spill() error {
	f, err := os.CreateTemp(r.dir, ".curtsy-body-*")
	if err != nil {
		return err
	}
	r.file, r.named = f, os.Remove(f.Name()) != nil
	_, err = f.Write(r.buf[r.body:])
	r.buf = r.buf[:r.body]
	return err
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
}

// release gives the buffer back and closes the file.
func (r *recording) release() {
	r.closeFile()
	r.scratch.recycle(r.buf)
	r.buf = nil
}

func (r *recording) closeFile() {
	if r.file != nil {
		r.file.Close()
		if r.named {
			os.Remove(r.file.Name())
		}
		r.file = nil
	}
}
