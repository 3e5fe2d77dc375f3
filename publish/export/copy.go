package export

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"curtsy/storage"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// member is a capture whose records are being copied.
type member struct {
	place
	v     *crawllog.Visit
	head  *warc.Header // of the first record
	first int64        // length of the first record's gzip member, updated by writeTo to the length written
	from  *copier
}

// copier reads captures in the order of segment and offset.
type copier struct {
	*job
	name string // of the open segment
	file *os.File
	info []byte // the segment's warcinfo record as it is exported
	w    *warc.Reader
}

// captures calls do with each capture that may be shown, and counts them.
func (j *job) captures(do func(*member) error) error {
	chosen, err := j.choose()
	if err != nil {
		return err
	}
	defer chosen.places.Close()
	j.r.Captures = chosen.count
	return chosen.each(func(m *member) error {
		if m.flags&flagPage != 0 {
			j.r.Pages++
		}
		return do(m)
	})
}

// each calls do with each capture of a choice.
func (chosen *choice) each(do func(*member) error) error {
	c := &copier{job: chosen.job}
	defer c.close()
	done := 0
	for line, err := range chosen.places.Sorted() {
		if err != nil {
			return asDisk(err)
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
		m, err := c.member(placeOf(line))
		if err != nil {
			return err
		}
		if err := do(m); err != nil {
			return err
		}
		if done++; c.o.Watch != nil && (done%64 == 0 || done == chosen.count) {
			c.o.Watch(done, chosen.count)
		}
	}
	return nil
}

// member finds the records of a capture, and reads the header of the first.
func (c *copier) member(p place) (*member, error) {
	v, err := c.a.Visit(p.ref)
	if err == nil && (v == nil || v.Record == nil) {
		err = &storage.DamageError{File: "crawl.db", What: "a visit has disappeared"}
	}
	if err != nil {
		return nil, err
	}
	if err := c.open(p.segment); err != nil {
		return nil, err
	}
	m := &member{place: p, v: v, from: c}
	c.w.Reset(io.NewSectionReader(c.file, p.offset, v.Record.Length), p.offset)
	if m.head, err = c.w.Next(); err == nil {
		err = c.w.Finish()
	}
	if err == nil && !storage.IsRecordOf(m.head, v) {
		err = fmt.Errorf("found %s instead", m.head.TargetURI)
	}
	if err != nil {
		return nil, c.damage(v.URL, err)
	}
	if m.head.PayloadDigest == "" { // the record is in a linked WARC file
		m.head.PayloadDigest = v.Labelled()
	}
	m.first = c.w.End() - p.offset
	return m, nil
}

// fileName returns the base name of the WARC file, for an index used beside the files.
func (m *member) fileName() string { return filepath.Base(m.from.file.Name()) }

// writeTo writes the records of the capture, each as a gzip member; an anonymous export has
// only the first.
func (m *member) writeTo(w io.Writer) error {
	list := m.v.Record.Extents()
	rest := list[0]
	rest.Offset, rest.Length = rest.Offset+m.first, rest.Length-m.first
	n, err := warc.CopyMembers(w, m.from.file, m.offset, m.first)
	if m.first = n; err != nil || m.from.o.Anonymous {
		return err
	}
	for list[0] = rest; err == nil && len(list) > 0; list = list[1:] {
		_, err = warc.CopyMembers(w, m.from.file, list[0].Offset, list[0].Length)
	}
	return err
}

func (c *copier) damage(what string, err error) error {
	if storage.IsDisk(err) {
		return err
	}
	return &storage.DamageError{File: c.name, What: fmt.Sprintf("%s cannot be decoded: %v", what, err)}
}

// open opens a segment and reads its warcinfo record, unless it is open already.
func (c *copier) open(name string) error {
	if c.name == name && c.file != nil {
		return nil
	}
	c.close()
	f, err := c.a.OpenSegment(name)
	if err != nil {
		return err
	}
	c.file, c.name = f, name
	if c.w == nil {
		c.w = warc.NewReader(f, 0)
	}
	c.w.Reset(f, 0)
	c.w.Any = storage.IsLink(name)
	if c.info, err = c.readInfo(); err != nil {
		return c.damage("its warcinfo record", err)
	}
	return nil
}

func (c *copier) close() {
	if c.file != nil {
		c.file.Close()
	}
	c.file = nil
}

// maxInfo is the maximum length of a warcinfo record, in octets.
const maxInfo = 1 << 20

// readInfo reads the warcinfo record at the beginning of the open segment.
func (c *copier) readInfo() ([]byte, error) {
	h, err := c.w.Next()
	if c.w.Any && !storage.IsDisk(err) && (err != nil || h.Type != warc.TypeInfo) {
		return nil, nil // a linked file need not begin with a warcinfo record
	}
	if err != nil {
		return nil, err
	}
	if h.Type != warc.TypeInfo {
		return nil, fmt.Errorf("it starts with a %s record", h.Type)
	}
	block, err := io.ReadAll(io.LimitReader(c.w, maxInfo))
	if err == nil {
		err = c.w.Finish()
	}
	if err != nil {
		return nil, err
	}
	if c.o.Anonymous {
		block = anonymous(block)
		h.BlockDigest = warc.Sum(h.BlockDigest, block)
		return warc.NewEncoder().Append(nil, h, warc.Small, block), nil
	}
	var octets bytes.Buffer
	_, err = warc.CopyMembers(&octets, c.file, 0, c.w.End())
	return octets.Bytes(), err
}

// anonymous keeps the warcinfo fields that describe the file and drops those about the crawler.
func anonymous(block []byte) []byte {
	var kept strings.Builder
	for line := range strings.SplitAfterSeq(string(block), "\r\n") {
		switch name, _, _ := strings.Cut(line, ":"); name {
		case "software", "format", "conformsTo", "robots":
			kept.WriteString(line)
		}
	}
	return []byte(kept.String())
}
