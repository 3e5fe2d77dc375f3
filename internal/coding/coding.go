// Package coding answers: what is in a body that came coded? It undoes gzip,
// deflate, br and zstd, also upon each other (RFC 9110 §8.4), as leniently as
// browsers do and within bounds. Whoever reads a page and whoever shows it
// read with it, so that what is shown is what was read.
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

// Pool keeps decoders and buffers for the next body. The zero value is ready.
type Pool struct {
	readers, gzips, brotlis, zstds sync.Pool
}

// Order puts codings, listed as they were applied, in the order in which they
// are undone, and leaves out those that change nothing.
func Order(applied []string) []string {
	slices.Reverse(applied)
	return slices.DeleteFunc(applied, func(c string) bool { return c == "identity" || c == "none" })
}

// Open begins to undo codings of r, the first of them first; there must be
// one. A coding that is only claimed, as the first octets show, is passed
// over. At most one octet more than most comes out of each coding. The reader
// is to be closed after an error, too, and knows whether that came of a cut.
func (p *Pool) Open(r io.Reader, codings []string, most int64) (*Reader, error) {
	if len(codings) > maxCodings {
		return nil, fmt.Errorf("%d content codings, more than %d", len(codings), maxCodings)
	}
	var top *Reader
	for _, c := range codings {
		l, err := p.layer(c, r, most)
		if err != nil {
			return top, fmt.Errorf("content coding %.20q: %w", c, err) // what lies below it cannot be reached
		}
		l.below, top, r = top, l, l
	}
	return top, nil
}

// Reader undoes one coding, and below it those that were undone before.
type Reader struct {
	coding string
	r      io.Reader
	in     *bufio.Reader // what the decoder reads
	put    func()        // gives the decoder back
	left   int64         // octets it may still give
	cut    bool          // it would have given more
	over   error         // why it gives no more
	alien  bool          // it is only claimed, and what came is no document without it
	pool   *Pool
	below  *Reader
}

// Read gives what is decoded, up to the bound.
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

// End reads what is left of all codings, and says what is wrong with them: a
// stream that breaks off, a checksum or a length that differs, octets that are in
// no such coding although they are said to be, or more than may come out.
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

// Cut says whether some coding would have given more than it may.
func (l *Reader) Cut() bool { return l != nil && (l.cut || l.below.Cut()) }

// Close gives the decoders back.
func (l *Reader) Close() {
	for ; l != nil; l = l.below {
		if l.put != nil {
			l.put()
		}
		l.in.Reset(nil) // decoders that wait for the next body hold their input, and must not keep this one
		l.pool.readers.Put(l.in)
	}
}

// buffered is a buffer from the pool that reads r.
func (p *Pool) buffered(r io.Reader) *bufio.Reader {
	in, ok := p.readers.Get().(*bufio.Reader)
	if !ok {
		return bufio.NewReaderSize(r, 32<<10)
	}
	in.Reset(r)
	return in
}
