package fetch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxGrow is the most that is allocated in advance because of an announced length.
const maxGrow = 1 << 20

// recording holds the verbatim request, heads and body of one exchange. The body may move to an
// unnamed file, which the system removes even after a crash.
type recording struct {
	buf     []byte // request, heads and body; if file is set, the space behind the head is the read buffer
	request int    // end of the request in buf
	open    int    // end of the part of the request that is sent as recorded
	secret  []byte // not empty: the fields sent instead of the rest
	head    int    // start of the final head
	body    int    // end of the head and start of the body
	size    int64  // octets of body recorded
	scratch *scratch
	file    File
	large   chan struct{} // not nil: this recording holds one of its tokens
}

// ErrNoRoom reports that the file for a body could not be created or written.
var ErrNoRoom = errors.New("no room for the body")

// File holds a body. It disappears when it is closed or the process ends.
type File interface {
	io.Writer
	io.ReaderAt
	io.Closer
}

// space returns room to read into. want is how many more octets of body are expected; -1 is unknown.
func (r *recording) space(want int64) []byte {
	if free := int64(cap(r.buf) - len(r.buf)); free == 0 || free < min(want, 16<<10) {
		r.grow(want)
	}
	return r.buf[len(r.buf):cap(r.buf)]
}

// grow makes room for want more octets, but for at most maxGrow, since announced lengths may lie.
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

// keep records the first n octets of the space returned as body.
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

// yield returns the token for large bodies.
func (r *recording) yield() {
	if r.large != nil {
		<-r.large
		r.large = nil
	}
}

// reader returns a new reader of the recorded body.
func (r *recording) reader() io.Reader {
	if r.file != nil {
		return io.NewSectionReader(r.file, 0, r.size)
	}
	return bytes.NewReader(r.memory())
}

// memory returns the body if it is in memory, else nil.
func (r *recording) memory() []byte {
	if r.file != nil {
		return nil
	}
	return r.buf[r.body:]
}

// forget drops everything except the request.
func (r *recording) forget() {
	r.buf = r.buf[:r.request]
	r.head, r.body, r.size = r.request, r.request, 0
	r.closeFile()
	r.yield()
}

// release recycles the buffer and closes the file.
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
