package publish

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"curtsy/storage"
)

// MaxBody is the most that is unpacked of one body, in octets: what a bomb
// holds beyond it is never written anywhere.
const MaxBody = 4 << 30

// maxCodings bounds how many codings lie upon each other.
const maxCodings = 5

// Body is a kept payload as a browser would see it: without content codings.
type Body struct {
	Header http.Header
	r      io.Reader
	resp   *storage.Response
	close  []func()
}

// OpenBody opens the payload of a visit. The caller closes it.
func OpenBody(a *storage.Archive, v *storage.Visit) (*Body, error) {
	resp, err := a.Response(v)
	if err != nil {
		return nil, damaged(v, err)
	}
	b := &Body{Header: resp.Header, resp: resp, r: &kept{v: v, r: resp.Body}}
	if err := b.decode(codings(resp)); err != nil {
		b.Close()
		return nil, fmt.Errorf("read %s: %w", v.URL, err)
	}
	b.r = io.LimitReader(b.r, MaxBody)
	return b, nil
}

// kept reads the payload as the archive holds it. An error here is the
// archive's, one in a coding is the site's.
type kept struct {
	v *storage.Visit
	r io.Reader
}

func (k *kept) Read(p []byte) (int, error) {
	n, err := k.r.Read(p)
	switch {
	case err == nil || err == io.EOF:
	case errors.Is(err, io.ErrUnexpectedEOF) && k.v.Truncated != "":
		err = io.EOF // the server broke off, and the archive says so
	default:
		err = damaged(k.v, err)
	}
	return n, err
}

func damaged(v *storage.Visit, err error) error {
	var d *storage.DamageError
	if errors.As(err, &d) || errors.Is(err, storage.ErrNoBody) || errors.Is(err, storage.ErrHead) {
		return err
	}
	file := "crawl.db"
	if v.Record != nil {
		file = v.Record.Segment
	}
	return &storage.DamageError{File: file, What: fmt.Sprintf("%s does not read back: %v", v.URL, err)}
}

// Read gives the next octets of the payload.
func (b *Body) Read(p []byte) (int, error) { return b.r.Read(p) }

// Close ends the reading.
func (b *Body) Close() error {
	for _, f := range b.close {
		f()
	}
	return b.resp.Close()
}

// codings are what is to be undone, the first to be undone first. An archive
// that is served with the coding that is its own format stays one: browsers
// too keep x.tar.gz compressed when it comes as gzip in gzip.
func codings(r *storage.Response) []string {
	var list []string
	h := r.Header
	for _, line := range h.Values("Content-Encoding") {
		for c := range strings.SplitSeq(line, ",") {
			c = strings.ToLower(strings.TrimSpace(c))
			if c != "" && c != "identity" && c != "none" {
				list = append(list, c)
			}
		}
	}
	switch t, _, _ := strings.Cut(strings.ToLower(h.Get("Content-Type")), ";"); strings.TrimSpace(t) {
	case "application/gzip", "application/x-gzip", "application/x-gunzip", "application/x-gtar", "application/x-compress":
		list = slices.DeleteFunc(list, func(c string) bool { return c == "gzip" || c == "x-gzip" })
	}
	list = append(list, r.Transfer...)
	slices.Reverse(list)
	return list
}

// decode puts decoders over the payload. A coding that is only claimed, as
// the first octets show, is passed over.
func (b *Body) decode(codings []string) error {
	if len(codings) > maxCodings {
		return fmt.Errorf("%d content codings, the most is %d", len(codings), maxCodings)
	}
	for _, c := range codings {
		in := bufio.NewReaderSize(b.r, 32<<10)
		head, _ := in.Peek(64)
		r, err := b.undo(c, in, head)
		if err != nil {
			return fmt.Errorf("content coding %.20q: %w", c, err)
		}
		b.r = r
	}
	return nil
}

func (b *Body) undo(coding string, in *bufio.Reader, head []byte) (io.Reader, error) {
	switch coding {
	case "gzip", "x-gzip":
		if !hasPrefix(head, 0x1f, 0x8b, 8) {
			return in, nil
		}
		return gzip.NewReader(in)
	case "deflate":
		if len(head) >= 2 && head[0]&0x0f == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0 {
			return zlib.NewReader(in)
		}
		if isText(head) {
			return in, nil
		}
		return flate.NewReader(in), nil
	case "br":
		if isText(head) {
			return in, nil
		}
		return brotli.NewReader(in), nil
	case "zstd":
		if !hasPrefix(head, 0x28, 0xb5, 0x2f, 0xfd) {
			return in, nil
		}
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20))
		if err != nil {
			return nil, err
		}
		b.close = append(b.close, z.Close)
		return z, nil
	}
	return nil, errors.New("it is unknown")
}

func hasPrefix(b []byte, prefix ...byte) bool {
	return len(b) >= len(prefix) && slices.Equal(b[:len(prefix)], prefix)
}

// isText says whether b begins as text does; brotli and deflate have no first
// octets of their own.
func isText(b []byte) bool {
	if len(b) > 0 && b[0] == '<' {
		return true
	}
	for _, c := range b {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' || c >= 0x80 {
			return false
		}
	}
	return len(b) >= 16
}
