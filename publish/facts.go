package publish

import (
	"errors"
	"fmt"

	"curtsy/facts"
	"curtsy/htmlmeta"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// Page is a capture whose facts may be asked for: its permit is given.
type Page struct {
	ref crawllog.Ref
}

// PageOf is the page of a visit that may be shown; false where there is no body to
// ask about.
func PageOf(v *crawllog.Visit) (Page, bool) {
	return Page{v.Ref()}, v.Record != nil && v.HasBody()
}

// Facts are what a page says, put in the place of what f held: as they were kept
// when it was read, else read from the body, and kept. What the site sent damaged
// says what can be read of it; damage of the archive is an error.
func Facts(a *storage.Archive, p Page, f *facts.Facts) error {
	v, err := p.visit(a)
	if err != nil {
		return err
	}
	if b := a.Facts(v); b != nil && f.Read(b) == nil {
		return nil
	}
	b, err := readFacts(a, v)
	if err != nil {
		return fmt.Errorf("read %s: %w", v.URL, err)
	}
	a.KeepFacts(v, b)
	return f.Read(b)
}

func (p Page) visit(a *storage.Archive) (*crawllog.Visit, error) {
	v, err := a.Visit(p.ref)
	if err == nil && v == nil {
		err = &storage.DamageError{File: "crawl.db", What: "a visit has disappeared"}
	}
	return v, err
}

// Links are the links of the page of a visit that may be shown.
func Links(a *storage.Archive, v *crawllog.Visit) ([]htmlmeta.Link, error) {
	var said facts.Facts
	p, ok := PageOf(v)
	if !ok {
		return nil, nil
	}
	err := Facts(a, p, &said)
	return said.Links, err
}

// Tags are the places of the tags in the page of a visit which a rewriter has to see,
// where they were kept of a body of this length; else nil, and it looks for them.
func Tags(a *storage.Archive, v *crawllog.Visit, length int) []uint32 {
	var f facts.Facts
	if f.ReadTags(a.Facts(v)) != nil || f.Length != length {
		return nil
	}
	return f.Tags
}

// readFacts reads a kept page again.
func readFacts(a *storage.Archive, v *crawllog.Visit) (b []byte, err error) {
	err = lend(a, v, facts.MaxBody, func(p htmlmeta.Page) {
		doc := htmlmeta.Read(p, htmlmeta.Options{})
		b = facts.Of(p.URL, &doc, len(p.Body))
	})
	return b, OfArchive(err)
}

// OfArchive is an error of the archive or the disk; nil for one of what the site sent.
func OfArchive(err error) error {
	if IsOfArchive(err) {
		return err
	}
	return nil
}

// IsOfArchive says whether an error of reading a page is one of the archive or the
// disk, and not of what the site sent.
func IsOfArchive(err error) bool {
	var damage *storage.DamageError
	var link *storage.LinkError
	return errors.As(err, &damage) || errors.As(err, &link) || storage.IsDisk(err)
}
