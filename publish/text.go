package publish

import (
	"bytes"
	"io"
	"strings"
	"sync"

	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// maxPage is the most octets of a decoded page that are read for its text.
const maxPage = 32 << 20

// Text extracts the readable text of the page of a visit that may be shown, at most most octets
// (htmlmeta.ReadText). If the body cannot be decoded completely, it returns the text of the
// decoded part and an error; see IsOfArchive.
func Text(a *storage.Archive, v *crawllog.Visit, most int) (text []htmlmeta.Block, err error) {
	err = lend(a, v, maxPage, func(p htmlmeta.Page) { text = htmlmeta.ReadText(inCharset(p, v), most) })
	return text, err
}

// WholeText is Text with navigation, banners and forms (htmlmeta.ReadWholeText). It returns
// only errors of the archive.
func WholeText(a *storage.Archive, page crawllog.Ref, most int) (text []htmlmeta.Block, err error) {
	v, err := VisitOf(a, page)
	if err != nil {
		return nil, err
	}
	err = lend(a, v, maxPage, func(p htmlmeta.Page) { text = htmlmeta.ReadWholeText(inCharset(p, v), most) })
	return text, OfArchive(err)
}

// ReadPage reads the decoded page of a visit that may be shown. If the body cannot be decoded
// completely, it returns the decoded part and an error.
func ReadPage(a *storage.Archive, v *crawllog.Visit) (htmlmeta.Page, error) {
	p, err := readPage(a, v, maxPage, new(bytes.Buffer))
	return inCharset(p, v), err
}

// inCharset sets the charset that was detected when the page was crawled.
func inCharset(p htmlmeta.Page, v *crawllog.Visit) htmlmeta.Page {
	if p.Header != nil && v.Charset != "" && v.Rendered == nil {
		mime, _, _ := strings.Cut(v.ContentType, ";")
		p.Header.Set("Content-Type", strings.TrimSpace(mime)+"; charset="+v.Charset)
	}
	return p
}

// bodies are reusable buffers, each for one page body.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// lend calls f with the page of a visit, at most most octets; the body is valid only during the
// call. f gets an empty body if nothing can be decoded, and is not called if the archive is
// damaged.
func lend(a *storage.Archive, v *crawllog.Visit, most int64, f func(htmlmeta.Page)) error {
	body := bodies.Get().(*bytes.Buffer)
	defer func() {
		if body.Cap() <= 2*maxRoom { // a buffer never shrinks: drop large ones
			body.Reset()
			bodies.Put(body)
		}
	}()
	p, err := readPage(a, v, most, body)
	if !IsOfArchive(err) {
		f(p)
	}
	return err
}

// maxRoom is the most octets that are allocated for a body before it is read.
const maxRoom = 1 << 20

func readPage(a *storage.Archive, v *crawllog.Visit, most int64, body *bytes.Buffer) (p htmlmeta.Page, err error) {
	p.URL = weburl.FromCanonical(v.URL)
	b, err := OpenPage(a, v)
	if err != nil {
		return p, err
	}
	defer b.Close()
	body.Grow(int(min(max(v.Length, 4<<10), maxRoom)) + bytes.MinRead)
	if _, err = body.ReadFrom(io.LimitReader(b, most)); IsOfArchive(err) {
		return p, err
	}
	p.Header, p.Body = b.Header, body.Bytes()
	return p, err
}
