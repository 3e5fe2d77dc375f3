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

// maxPage is how much of a decoded page is read for its text, in octets.
const maxPage = 32 << 20

// Text is what a person reads in the page of a visit that may be shown, up to most
// octets (htmlmeta.ReadText). Of a page that cannot be decoded to its end it is what
// can be read, beside the error; see IsOfArchive.
func Text(a *storage.Archive, v *crawllog.Visit, most int) (text []htmlmeta.Block, err error) {
	err = lend(a, v, maxPage, func(p htmlmeta.Page) { text = htmlmeta.ReadText(inCharset(p, v), most) })
	return text, err
}

// WholeText is the text of a page with navigation, banners and forms
// (htmlmeta.ReadWholeText); an error is one of the archive.
func WholeText(a *storage.Archive, page Page, most int) (text []htmlmeta.Block, err error) {
	v, err := page.visit(a)
	if err != nil {
		return nil, err
	}
	err = lend(a, v, maxPage, func(p htmlmeta.Page) { text = htmlmeta.ReadWholeText(inCharset(p, v), most) })
	return text, OfArchive(err)
}

// ReadPage is the page of a visit that may be shown, without codings. Of one that
// cannot be decoded to its end it is what can be read, beside the error.
func ReadPage(a *storage.Archive, v *crawllog.Visit) (htmlmeta.Page, error) {
	p, err := readPage(a, v, maxPage, new(bytes.Buffer))
	return inCharset(p, v), err
}

// inCharset is a page with the charset that was found out when it was read first.
func inCharset(p htmlmeta.Page, v *crawllog.Visit) htmlmeta.Page {
	if p.Header != nil && v.Charset != "" && v.Rendered == nil {
		mime, _, _ := strings.Cut(v.ContentType, ";")
		p.Header.Set("Content-Type", strings.TrimSpace(mime)+"; charset="+v.Charset)
	}
	return p
}

// bodies hold a page each while it is read.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// lend gives the page of a visit, up to most octets, and takes its body back when f is done
// with it. Where nothing can be read of it, it is a page without a body; where the archive
// is damaged, none.
func lend(a *storage.Archive, v *crawllog.Visit, most int64, f func(htmlmeta.Page)) error {
	body := bodies.Get().(*bytes.Buffer)
	defer func() {
		if body.Cap() <= 2*maxRoom { // else it would stay as large
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

// maxRoom is how much room is made for a body before any of it is read, in octets.
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
