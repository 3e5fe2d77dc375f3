package publish

import (
	"bytes"
	"io"
	"strings"

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
func Text(a *storage.Archive, v *crawllog.Visit, most int) ([]htmlmeta.Block, error) {
	p, err := ReadPage(a, v)
	if p.Header == nil {
		return nil, err
	}
	return htmlmeta.ReadText(p, most), err
}

// WholeText is the text of a page with navigation, banners and forms
// (htmlmeta.ReadWholeText); an error is one of the archive.
func WholeText(a *storage.Archive, page Page, most int) ([]htmlmeta.Block, error) {
	v, err := page.visit(a)
	if err != nil {
		return nil, err
	}
	p, err := ReadPage(a, v)
	if IsOfArchive(err) {
		return nil, err
	}
	return htmlmeta.ReadWholeText(p, most), nil
}

// ReadPage is the page of a visit that may be shown, without codings. Of one that
// cannot be decoded to its end it is what can be read, beside the error.
func ReadPage(a *storage.Archive, v *crawllog.Visit) (p htmlmeta.Page, err error) {
	b, err := OpenPage(a, v)
	if err != nil {
		return p, err
	}
	defer b.Close()
	var body bytes.Buffer
	body.Grow(int(min(max(v.Length, 4<<10), 1<<20)) + bytes.MinRead)
	if _, err = body.ReadFrom(io.LimitReader(b, maxPage)); IsOfArchive(err) {
		return p, err
	}
	if v.Charset != "" && v.Rendered == nil { // it was found out when the page was read first
		mime, _, _ := strings.Cut(v.ContentType, ";")
		b.Header.Set("Content-Type", strings.TrimSpace(mime)+"; charset="+v.Charset)
	}
	return htmlmeta.Page{URL: weburl.FromCanonical(v.URL), Header: b.Header, Body: body.Bytes()}, err
}
