package publish

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"curtsy/internal/coding"
	"curtsy/internal/http1"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// MaxBody is the most octets that are decoded of one body. It bounds decompression bombs:
// nothing beyond it is read or written.
const MaxBody = 4 << 30

// Body is an archived payload with its content codings and transfer codings removed.
type Body struct {
	Header http.Header
	r      io.Reader
	kept   *kept
	coded  *coding.Reader // nil: the payload is not coded
	resp   *storage.Response
}

// OpenBody opens the payload of a visit for reading. The caller closes it.
func OpenBody(a *storage.Archive, v *crawllog.Visit) (*Body, error) {
	resp, err := a.Response(v)
	if err != nil {
		return nil, damaged(v, err)
	}
	b := &Body{Header: resp.Header, resp: resp, kept: &kept{v: v, r: resp.Body}}
	b.r = b.kept
	if list := codings(resp); len(list) > 0 {
		if b.coded, err = new(coding.Pool).Open(b.kept, list, MaxBody); err != nil {
			b.Close()
			return nil, fmt.Errorf("read %s: %w", v.URL, cmp.Or(b.kept.err, err))
		}
		b.r = b.coded
	}
	b.r = io.LimitReader(b.r, MaxBody)
	return b, nil
}

// OpenPage opens what a visit shows: the rendered DOM if a browser rendered the page, otherwise
// the payload. The caller closes it.
func OpenPage(a *storage.Archive, v *crawllog.Visit) (*Body, error) {
	if v.Rendered == nil {
		return OpenBody(a, v)
	}
	resp, err := a.Response(v)
	if err != nil {
		return nil, damaged(v, err)
	}
	html, err := a.Rendered(v)
	if err != nil {
		resp.Close()
		return nil, damaged(v, err)
	}
	h := resp.Header.Clone()
	h.Del("Content-Encoding")
	h.Set("Content-Type", crawllog.TypeRendered)
	k := &kept{v: v, r: bytes.NewReader(html)}
	return &Body{Header: h, r: k, kept: k, resp: resp}, nil
}

// kept reads the payload from the archive and remembers read errors, so that damage of the
// archive can be told from a broken coding sent by the site.
type kept struct {
	v   *crawllog.Visit
	r   io.Reader
	err error // of reading the archive
}

func (k *kept) Read(p []byte) (int, error) {
	n, err := k.r.Read(p)
	switch {
	case err == nil || err == io.EOF:
	case errors.Is(err, io.ErrUnexpectedEOF) && k.v.Truncated != "":
		err = io.EOF // the server closed the connection early; WARC-Truncated records it
	default:
		err = damaged(k.v, err)
		k.err = err
	}
	return n, err
}

func damaged(v *crawllog.Visit, err error) error {
	if IsOfArchive(err) || errors.Is(err, storage.ErrNoBody) || errors.Is(err, storage.ErrHead) {
		return err
	}
	file := "crawl.db"
	if v.Record != nil {
		file = v.Record.Segment
	}
	return &storage.DamageError{File: file, What: fmt.Sprintf("%s cannot be decoded: %v", v.URL, err)}
}

// Read reads decoded octets of the payload.
func (b *Body) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err != nil && b.kept.err != nil {
		err = b.kept.err // a decoder may report it as EOF or as an error of its own
	}
	return n, err
}

// Coded reports whether a content coding is being decoded.
func (b *Body) Coded() bool { return b.coded != nil }

// Close releases the decoder and the WARC reader.
func (b *Body) Close() error {
	b.coded.Close()
	return b.resp.Close()
}

// codings lists the codings to remove, in order of removal. A gzip file served with
// Content-Encoding: gzip stays a gzip file, as in browsers: servers often label x.tar.gz so.
func codings(r *storage.Response) []string {
	list := coding.Order(append(http1.Tokens(r.Header["Content-Encoding"]), r.Transfer...))
	switch http1.MediaType(r.Header.Get("Content-Type")) {
	case "application/gzip", "application/x-gzip", "application/x-gunzip", "application/x-gtar",
		"application/x-compress":
		list = slices.DeleteFunc(list, func(c string) bool { return c == "gzip" || c == "x-gzip" })
	}
	return list
}
