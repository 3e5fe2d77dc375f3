// Package facts encodes what a page contained when it was crawled: its links, ids and
// fragments. A crawl stores the facts of each capture in a sidecar file of the segment
// (storage.Archive.KeepFacts), so that later steps need not open and parse the body again.
// Facts are derived data: they are what htmlmeta reads in the archived body, and are extracted
// from it again if they are missing.
//
// Directives, title, language and charset are not among them. They are in crawl.db, since they
// decide what may be shown.
package facts

import (
	"encoding/binary"
	"errors"

	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
)

// MaxBody is the most octets of a decoded body that are read for facts.
const MaxBody = 16 << 20

// version is the first octet of facts. It is incremented when their encoding or what htmlmeta
// reads changes.
const version = 6

// Encoding of facts. Prefixes shared with the previous value are omitted:
//
//	octet     version
//	octet     kind of the document
//	uvarint   length of the decoded body
//	uvarint   number of tags that a rewriter needs; for each a uvarint: its offset in the decoded
//	          body, minus that of the previous tag
//	text      URL of the page: uvarint length and octets
//	uvarint   number of links; for each:
//	  octet     kind of the link, and the bits below
//	  uvarint   its place: the number of an earlier one, from 1; or 0, followed by the texts of
//	            tag, attribute and rel
//	  uvarint   octets that its URL shares with that of the previous link, or of the page
//	  text      the rest of the URL
//	uvarint   number of references that cannot be followed; for each two texts: verbatim, and why
//	uvarint   number of ids; for each a uvarint: octets shared with the previous one; and the
//	          rest, a text
//	uvarint   number of fragments of links; for each a uvarint: the number of the link, minus
//	          that of the previous one; then the fragment, encoded like an id
//	uvarint   number of notes; for each an octet, its name, and a text
const (
	kindBits = 0x0f
	isFeed   = 0x10
	isCapped = 0x80 // of the kind of the document: it was not read completely
)

// place is where a link is.
type place struct{ tag, attr, rel string }

// Of encodes the facts of a document at a URL. length is that of the decoded body.
func Of(url weburl.URL, doc *htmlmeta.Document, length int) []byte {
	b := make([]byte, 0, 64+24*len(doc.Links)+2*len(doc.Tags))
	kind := byte(doc.Kind)
	if doc.Capped {
		kind |= isCapped
	}
	b = append(b, version, kind)
	b = binary.AppendUvarint(b, uint64(length))
	b = binary.AppendUvarint(b, uint64(len(doc.Tags)))
	before := uint32(0)
	for _, at := range doc.Tags {
		b = binary.AppendUvarint(b, uint64(at-before))
		before = at
	}
	b = appendText(b, url.String())
	b = binary.AppendUvarint(b, uint64(len(doc.Links)))
	places, last := map[place]int{}, url.String()
	var at place
	n := 0
	for i := range doc.Links {
		l := &doc.Links[i]
		first := byte(l.Kind)
		if l.Feed {
			first |= isFeed
		}
		b = append(b, first)
		if p := (place{l.Tag, l.Attr, l.Rel}); p != at || n == 0 {
			at, n = p, places[p]
		}
		b = binary.AppendUvarint(b, uint64(n))
		if n == 0 {
			n = len(places) + 1
			places[at] = n
			b = appendText(appendText(appendText(b, l.Tag), l.Attr), l.Rel)
		}
		b, last = appendAfter(b, last, l.URL.String()), l.URL.String()
	}
	b = binary.AppendUvarint(b, uint64(len(doc.Odd)))
	for _, o := range doc.Odd {
		b = appendText(appendText(b, o.Text), o.Why)
	}
	return appendPlaces(b, doc)
}

// appendPlaces encodes ids, fragments and notes.
func appendPlaces(b []byte, doc *htmlmeta.Document) []byte {
	b, last := binary.AppendUvarint(b, uint64(len(doc.IDs))), ""
	for _, id := range doc.IDs {
		b, last = appendAfter(b, last, id), id
	}
	b, link := binary.AppendUvarint(b, uint64(len(doc.Fragments))), 0
	for _, f := range doc.Fragments {
		b = appendAfter(binary.AppendUvarint(b, uint64(f.Link-link)), last, f.Text)
		link, last = f.Link, f.Text
	}
	b = binary.AppendUvarint(b, uint64(len(doc.Notes)))
	for _, n := range doc.Notes {
		b = appendText(append(b, byte(n.Name)), n.Text)
	}
	return b
}

// appendAfter encodes a text without the prefix that it shares with before.
func appendAfter(b []byte, before, s string) []byte {
	same := 0
	for same < min(len(before), len(s)) && before[same] == s[same] {
		same++
	}
	return appendText(binary.AppendUvarint(b, uint64(same)), s[same:])
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// Facts are the facts of a capture.
type Facts struct {
	URL    weburl.URL
	Kind   htmlmeta.Kind
	Length int // octets of the decoded body
	// Links are in document order, after those of headers; each URL occurs once per kind.
	// NoFollow is not stored.
	Links []htmlmeta.Link
	Odd   []htmlmeta.Odd // references that cannot be followed, at most htmlmeta's limit
	// See htmlmeta.Document.
	Capped    bool
	Tags      []uint32
	IDs       []string
	Fragments []htmlmeta.Fragment
	Notes     []htmlmeta.Note

	places []place
	ends   []int // in urls: 0, the end of the page's URL, and the ends of the links' URLs
	urls   []byte
}

// ErrOther means that the octets are not facts of this version.
var ErrOther = errors.New("not facts of this version")

// Read decodes facts into f, and reuses its memory.
func (f *Facts) Read(b []byte) error {
	d, err := f.readTags(b)
	if err != nil {
		return err
	}
	f.Links, f.places = f.Links[:0], f.places[:0]
	f.urls = append(f.urls[:0], d.text()...)
	f.ends = append(f.ends[:0], 0, len(f.urls))
	for n := d.number(htmlmeta.MaxLinks); n > 0 && d.b != nil; n-- {
		f.readLink(&d)
	}
	f.Odd = f.Odd[:0]
	for n := d.number(uint64(len(d.b))); n > 0 && d.b != nil; n-- {
		f.Odd = append(f.Odd, htmlmeta.Odd{Text: string(d.text()), Why: string(d.text())})
	}
	f.readPlaces(&d)
	if d.b == nil || len(d.b) > 0 {
		return ErrOther
	}
	urls := string(f.urls) // one string shared by all URLs
	f.URL = weburl.FromCanonical(urls[:f.ends[1]])
	known := !f.URL.IsZero()
	for i := range f.Links {
		l := &f.Links[i]
		l.URL = weburl.FromCanonical(urls[f.ends[i+1]:f.ends[i+2]])
		known = known && !l.URL.IsZero()
	}
	if !known {
		return ErrOther
	}
	return nil
}

const maxLength = 1 << 40

// ReadTags decodes only kind, length and tags.
func (f *Facts) ReadTags(b []byte) error {
	_, err := f.readTags(b)
	return err
}

func (f *Facts) readTags(b []byte) (d decoder, err error) {
	if len(b) < 2 || b[0] != version {
		return d, ErrOther
	}
	d.b = b[2:]
	f.Kind, f.Capped = htmlmeta.Kind(b[1]&^isCapped), b[1]&isCapped != 0
	f.Length = d.number(maxLength)
	f.Tags = f.Tags[:0]
	at := uint64(0)
	for n := d.number(uint64(len(d.b))); n > 0 && d.b != nil; n-- {
		at += uint64(d.number(uint64(f.Length)))
		f.Tags = append(f.Tags, uint32(min(at, uint64(f.Length))))
	}
	if d.b == nil {
		return d, ErrOther
	}
	return d, nil
}

func (f *Facts) readLink(d *decoder) {
	first := d.octet()
	n := d.number(uint64(len(f.places)))
	if d.b != nil && n == 0 {
		f.places = append(f.places, place{name(d.text()), name(d.text()), name(d.text())})
		n = len(f.places)
	}
	start, end := f.ends[len(f.ends)-2], f.ends[len(f.ends)-1]
	same := d.number(uint64(end - start))
	rest := d.text()
	if d.b == nil || same+len(rest) > weburl.MaxLength || len(f.urls) > maxURLs {
		d.b = nil
		return
	}
	f.urls = append(append(f.urls, f.urls[start:start+same]...), rest...)
	f.ends = append(f.ends, len(f.urls))
	p := &f.places[n-1]
	f.Links = append(f.Links, htmlmeta.Link{Tag: p.tag, Attr: p.attr, Rel: p.rel,
		Kind: htmlmeta.LinkKind(first & kindBits), Feed: first&isFeed != 0})
}

// readPlaces decodes what appendPlaces encoded.
func (f *Facts) readPlaces(d *decoder) {
	f.IDs, f.Fragments = f.IDs[:0], f.Fragments[:0]
	last, room := "", maxURLs
	for n := d.number(uint64(len(d.b))); n > 0 && d.b != nil; n-- {
		last = d.after(last, &room)
		f.IDs = append(f.IDs, last)
	}
	link := 0
	for n := d.number(uint64(len(d.b))); n > 0 && d.b != nil; n-- {
		if link += d.number(uint64(len(f.Links))); link >= len(f.Links) {
			d.b = nil
		}
		last = d.after(last, &room)
		f.Fragments = append(f.Fragments, htmlmeta.Fragment{Link: link, Text: last})
	}
	f.Notes = f.Notes[:0]
	for n := d.number(uint64(len(d.b))); n > 0 && d.b != nil; n-- {
		f.Notes = append(f.Notes, htmlmeta.Note{Name: htmlmeta.NoteName(d.octet()), Text: string(d.text())})
	}
}

// maxURLs is the most octets of texts decoded of one document, more than any document has.
const maxURLs = 64 << 20

// decoder reads values from the front of b. After an invalid value b is nil: facts may come
// from an untrusted archive.
type decoder struct{ b []byte }

func (d *decoder) octet() (c byte) {
	if len(d.b) == 0 {
		d.b = nil
		return 0
	}
	c, d.b = d.b[0], d.b[1:]
	return c
}

func (d *decoder) number(most uint64) int {
	n, used := binary.Uvarint(d.b)
	if used <= 0 || n > most {
		d.b = nil
		return 0
	}
	d.b = d.b[used:]
	return int(n)
}

func (d *decoder) text() []byte {
	n := d.number(uint64(len(d.b)))
	if n > len(d.b) {
		d.b = nil
		return nil
	}
	text := d.b[:n]
	d.b = d.b[n:]
	return text
}

// after decodes a text encoded by appendAfter, within the limit of room.
func (d *decoder) after(before string, room *int) string {
	same := d.number(uint64(len(before)))
	s := before[:same] + string(d.text())
	if *room -= len(s); *room < 0 {
		d.b = nil
	}
	return s
}

// name converts a name to a string, without an allocation for common ones.
func name(b []byte) string {
	for _, s := range [...]string{"", "a", "href", "src", "link", "img", "script", "stylesheet"} {
		if string(b) == s {
			return s
		}
	}
	return string(b)
}
