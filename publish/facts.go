package publish

import (
	"errors"
	"fmt"

	"curtsy/facts"
	"curtsy/htmlmeta"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// HasPage reports whether a visit has a body that can be read from its records.
func HasPage(v *crawllog.Visit) bool { return v.Record != nil && v.HasBody() }

// Facts overwrites f with the facts of a visit that has a page and may be shown: those stored
// when it was crawled, otherwise those extracted from the archived body again. A body that the
// site sent damaged yields what can be read of it; damage of the archive is an error.
func Facts(a *storage.Archive, v *crawllog.Visit, f *facts.Facts) error {
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

// VisitOf reads a visit that was seen in the archive.
func VisitOf(a *storage.Archive, ref crawllog.Ref) (*crawllog.Visit, error) {
	v, err := a.Visit(ref)
	if err == nil && v == nil {
		err = &storage.DamageError{File: "crawl.db", What: "a visit has disappeared"}
	}
	return v, err
}

// Links returns the links of the page of a visit that may be shown.
func Links(a *storage.Archive, v *crawllog.Visit) ([]htmlmeta.Link, error) {
	if !HasPage(v) {
		return nil, nil
	}
	var said facts.Facts
	err := Facts(a, v, &said)
	return said.Links, err
}

// Tags returns the offsets of the tags that a rewriter needs, if they are stored for a body of
// this length; otherwise nil, and the rewriter scans the page itself.
func Tags(a *storage.Archive, v *crawllog.Visit, length int) []uint32 {
	var f facts.Facts
	if f.ReadTags(a.Facts(v)) != nil || f.Length != length {
		return nil
	}
	return f.Tags
}

// readFacts extracts the facts from the archived body.
func readFacts(a *storage.Archive, v *crawllog.Visit) (b []byte, err error) {
	err = lend(a, v, facts.MaxBody, func(p htmlmeta.Page) {
		doc := htmlmeta.Read(p, htmlmeta.Options{})
		b = facts.Of(p.URL, &doc, len(p.Body))
	})
	return b, OfArchive(err)
}

// OfArchive returns err if it is an error of the archive or the disk, and nil if it comes from
// what the site sent.
func OfArchive(err error) error {
	if IsOfArchive(err) {
		return err
	}
	return nil
}

// IsOfArchive reports whether an error of reading a page comes from the archive or the disk
// rather than from what the site sent.
func IsOfArchive(err error) bool {
	var damage *storage.DamageError
	var link *storage.LinkError
	return errors.As(err, &damage) || errors.As(err, &link) || storage.IsDisk(err)
}
