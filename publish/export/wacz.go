package export

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"curtsy/htmlmeta"
	"curtsy/internal/extsort"
	"curtsy/internal/legible"
	"curtsy/usage"
)

// waczVersion is the version of the specification (specs.webrecorder.net/wacz/1.1.1).
const waczVersion = "1.1.1"

// wacz writes records, index and pages as one zip.
type wacz struct {
	*job
	pack  *pack
	cdx   *extsort.Sorter
	lines int64 // octets in cdx
	pages *pages

	segment string // being copied
	entry   *entry // of that segment; nil before the first
}

func writeWACZ(j *job) (err error) {
	w := &wacz{job: j, pack: &pack{f: j.out, z: zip.NewWriter(j.out), now: j.o.Now}, cdx: extsort.New(j.dir())}
	defer w.cdx.Close()
	if w.pages, err = newPages(j); err != nil {
		return err
	}
	defer w.pages.spool.close()
	if err := w.captures(w.add); err != nil {
		return err
	}
	return w.finish()
}

// add copies the records of a capture and adds it to the index and the pages.
func (w *wacz) add(m *member) error {
	if err := w.open(m); err != nil {
		return err
	}
	offset := w.entry.size
	if err := m.writeTo(w.entry); err != nil {
		return err
	}
	if err := w.index(m, offset); err != nil {
		return err
	}
	if m.flags&flagPage == 0 {
		return nil
	}
	return w.pages.add(m)
}

// index adds a capture to the index, unless it is a 304: readers take it for a redirect and
// show an empty page (wabac.js 2.25, remotearchivedb.ts). Without the 304 in the index they
// show the capture that it confirmed.
func (w *wacz) index(m *member, offset int64) error {
	if m.v.Status == http.StatusNotModified {
		return nil
	}
	line, err := cdxLineOf(m, m.segment, offset)
	if err != nil {
		return err
	}
	w.lines += int64(len(line))
	return asDisk(w.cdx.Add(line))
}

// open begins the entry of a segment with its warcinfo record.
func (w *wacz) open(m *member) error {
	if w.segment == m.segment {
		return nil
	}
	if err := w.entry.close(); err != nil {
		return err
	}
	st, err := m.from.file.Stat()
	if err != nil {
		return err
	}
	// An anonymous warcinfo record may be a little longer than the original, and so may be
	// recompressed records.
	if w.entry, err = w.pack.create("archive/"+m.segment, zip.Store, st.Size()+st.Size()/1000+maxInfo); err != nil {
		return err
	}
	w.segment = m.segment
	_, err = w.entry.Write(m.from.info)
	return err
}

func (w *wacz) finish() error {
	if err := w.entry.close(); err != nil {
		return err
	}
	if err := w.writeIndex(); err != nil {
		return err
	}
	if err := w.pages.write(w.pack); err != nil {
		return err
	}
	if err := w.describe(); err != nil {
		return err
	}
	return w.pack.z.Close()
}

// perMember is the number of index lines per gzip member.
const perMember = 1024

// writeIndex writes the compressed CDXJ, whose gzip members can be read separately, and its
// secondary index (ZipNum).
func (w *wacz) writeIndex() error {
	e, err := w.pack.create("indexes/index.cdx.gz", zip.Store, w.lines+(1<<20))
	if err != nil {
		return err
	}
	idx := bytes.NewBufferString(`!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}` + "\n")
	b := &indexMember{e: e, idx: idx}
	for line, err := range w.cdx.Sorted() {
		if err != nil {
			return asDisk(err)
		}
		if err := b.add(line); err != nil {
			return err
		}
	}
	if err := b.flush(); err != nil {
		return err
	}
	if err := e.close(); err != nil {
		return err
	}
	return w.pack.add("indexes/index.idx", idx.Bytes())
}

// indexMember collects the lines of one gzip member.
type indexMember struct {
	e     *entry
	idx   *bytes.Buffer
	lines bytes.Buffer
	count int
	first string // key and timestamp of the first line
}

func (b *indexMember) add(line []byte) error {
	if b.count == 0 {
		key, rest, _ := bytes.Cut(line, []byte(" "))
		at, _, _ := bytes.Cut(rest, []byte(" "))
		b.first = string(key) + " " + string(at)
	}
	b.lines.Write(line)
	if b.count++; b.count < perMember {
		return nil
	}
	return b.flush()
}

func (b *indexMember) flush() error {
	if b.count == 0 {
		return nil
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(b.lines.Bytes()) // writing to a bytes.Buffer cannot fail
	_ = z.Close()
	fmt.Fprintf(b.idx, `%s {"offset": %d, "length": %d, "digest": "sha256:%x", "filename": "index.cdx.gz"}`+"\n",
		b.first, b.e.size, packed.Len(), sha256.Sum256(packed.Bytes()))
	b.lines.Reset()
	b.count = 0
	_, err := b.e.Write(packed.Bytes())
	return err
}

// datapackage is datapackage.json (§5.2.5).
type datapackage struct {
	Profile      string     `json:"profile"`
	WACZVersion  string     `json:"wacz_version"`
	Title        string     `json:"title"`
	Software     string     `json:"software"`
	Created      string     `json:"created"`
	Modified     string     `json:"modified"`
	MainPageURL  string     `json:"mainPageUrl,omitempty"`
	MainPageDate string     `json:"mainPageDate,omitempty"`
	Resources    []resource `json:"resources"`
}

// describe writes datapackage.json and its digest.
func (w *wacz) describe() error {
	now := w.o.Now.UTC().Format(time.RFC3339)
	d := datapackage{Profile: "data-package", WACZVersion: waczVersion, Software: w.o.Software,
		Created: now, Modified: now,
		Title: cmp.Or(w.pages.main.Title, w.o.Seed.Host(), "archive"), MainPageURL: w.pages.main.URL,
		MainPageDate: w.pages.main.TS, Resources: w.pack.files}
	b, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	if err := w.pack.add("datapackage.json", legible.JSON(b)); err != nil {
		return err
	}
	described := w.pack.files[len(w.pack.files)-1]
	digest := digestFile{Path: described.Path, Hash: described.Hash}
	if w.o.Sign != nil {
		signature, err := w.o.Sign.Sign(described.Hash)
		if err != nil {
			return err
		}
		digest.Signed = &signedData{Hash: described.Hash, Created: now, Software: w.o.Software, Version: authVersion,
			Signature: signature, PublicKey: w.o.Sign.PublicKey()}
	}
	if b, err = json.MarshalIndent(digest, "", "  "); err != nil {
		return err
	}
	return w.pack.add("datapackage-digest.json", b)
}

// page is a line of pages.jsonl.
type page struct {
	ID    string `json:"id"`
	URL   string `json:"url"`
	TS    string `json:"ts"`
	Title string `json:"title,omitempty"`
	Text  string `json:"text,omitempty"`
	// Usage holds the owner's usage preferences; other programs ignore unknown fields.
	Usage usage.Preferences `json:"usage,omitempty"`
}

// pages collects pages.jsonl in a spool, since a zip is written one entry at a time.
type pages struct {
	*job
	spool *spool
	main  page // the main page
	first time.Time
}

func newPages(j *job) (*pages, error) {
	s, err := newSpool(j.dir())
	if err != nil {
		return nil, err
	}
	head, err := jsonLine(map[string]any{"format": "json-pages-1.0", "id": "pages", "title": "All Pages",
		"hasText": true})
	if err == nil {
		_, err = s.Write(head)
	}
	return &pages{job: j, spool: s}, err
}

// add adds a page that may be listed, with its text if that may be exported.
func (p *pages) add(m *member) error {
	v := m.v
	line := page{ID: strings.ReplaceAll(strings.TrimPrefix(v.Record.ID, "urn:uuid:"), "-", ""),
		URL: v.URL, TS: m.head.Date.UTC().Format(time.RFC3339), Title: v.Title, Usage: m.use}
	if p.main.URL == "" || line.URL == p.o.Seed.String() || p.main.URL != p.o.Seed.String() && v.At.Before(p.first) {
		p.main, p.first = line, v.At
	}
	if m.flags&flagText != 0 {
		err := p.readPage(v, func(read htmlmeta.Page) { line.Text = joined(blocksOf(read, true)) })
		if err != nil {
			return err
		}
	}
	b, err := jsonLine(line)
	if err == nil {
		_, err = p.spool.Write(b)
	}
	return err
}

func (p *pages) write(pack *pack) error {
	size, err := p.spool.rewind()
	if err != nil {
		return err
	}
	e, err := pack.create("pages/pages.jsonl", zip.Deflate, size+size/1000)
	if err != nil {
		return err
	}
	if _, err := io.Copy(e, p.spool.f); err != nil {
		return err
	}
	return e.close()
}
