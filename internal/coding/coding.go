// Package coding decodes content codings: gzip, deflate, br and zstd, also several on one body
// (RFC 9110 §8.4), as leniently as browsers and within limits. Crawler and outlets both use it,
// so that what is shown is what was read.
package coding

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"sync"
)

const (
	maxCodings = 5       // on one body
	maxMembers = 100_000 // of gzip, in one body
)

// Pool keeps decoders and buffers for reuse. The zero value is ready.
type Pool struct {
	readers, gzips, brotlis, zstds sync.Pool
}

// Order converts codings from the order of application to the order of decoding, without those
// that change nothing.
func Order(applied []string) []string {
	slices.Reverse(applied)
	return slices.DeleteFunc(applied, func(c string) bool { return c == "identity" || c == "none" })
}

// Open starts decoding r with codings, of which there must be at least one, in order. It skips
// a coding that the first octets show not to be applied. Each coding yields at most most+1
// octets. The reader must be closed even after an error, and then reports whether the output
// was cut.
func (p *Pool) Open(r io.Reader, codings []string, most int64) (*Reader, error) {
	if len(codings) > maxCodings {
		return nil, fmt.Errorf("%d content codings, more than %d", len(codings), maxCodings)
	}
	var top *Reader
	for _, c := range codings {
		l, err := p.layer(c, r, most)
		if err != nil {
			return top, fmt.Errorf("content coding %.20q: %w", c, err) // the layers below cannot be decoded
		}
		l.below, top, r = top, l, l
	}
	return top, nil
}

// Reader decodes one coding; below is the reader of the coding decoded before it.
type Reader struct {
	coding string
	r      io.Reader
	in     *bufio.Reader // input of the decoder
	put    func()        // returns the decoder to the pool
	left   int64         // octets that it may still yield
	cut    bool          // there was more than it may yield
	over   error         // the final error
	alien  bool          // the header claims the coding, the body is not in it, and is not a document as it is either
	pool   *Pool
	below  *Reader
}

// Read returns decoded octets up to the limit.
func (l *Reader) Read(p []byte) (int, error) {
	if l.left <= 0 {
		l.cut = true
		return 0, io.EOF
	}
	if l.over != nil {
		return 0, l.over
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("content coding %s: %w", l.coding, err)
	}
	l.over = err
	return n, err
}

// End reads the rest of all codings, and returns what is wrong with them: a truncated stream, a
// wrong checksum or length, a body that is not in the claimed coding, or too much output.
func (l *Reader) End() error {
	for ; l != nil; l = l.below {
		if _, err := io.Copy(io.Discard, l); err != nil {
			return err
		}
		switch {
		case l.cut:
			return fmt.Errorf("content coding %s: too much comes out of it", l.coding)
		case l.alien:
			return fmt.Errorf("content coding %s: the body is not in it", l.coding)
		}
	}
	return nil
}

// Cut reports whether some coding had more output than the limit.
func (l *Reader) Cut() bool { return l != nil && (l.cut || l.below.Cut()) }

// Close returns the decoders to the pool.
func (l *Reader) Close() {
	for ; l != nil; l = l.below {
		if l.put != nil {
			l.put()
		}
		l.in.Reset(nil) // pooled decoders keep a reference to their input
		l.pool.readers.Put(l.in)
	}
}

// buffered returns a pooled buffer that reads r.
func (p *Pool) buffered(r io.Reader) *bufio.Reader {
	in, ok := p.readers.Get().(*bufio.Reader)
	if !ok {
		return bufio.NewReaderSize(r, 32<<10)
	}
	in.Reset(r)
	return in
}
