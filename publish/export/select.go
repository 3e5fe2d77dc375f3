package export

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"slices"

	"curtsy/internal/extsort"
	"curtsy/internal/http1"
	"curtsy/publish"
	"curtsy/storage/crawllog"
	"curtsy/usage"
)

// Flags of a capture that may be shown.
const (
	flagPage = 1 << iota // it is a page, is current for its URL, and may be listed
	flagText             // and its text may be exported in full
)

// place is where a capture is, as sorted: by segment and offset.
type place struct {
	segment string
	offset  int64
	ref     crawllog.Ref
	flags   byte
	use     usage.Preferences // the owner's usage preferences
}

func (p place) line() []byte {
	b := append([]byte(p.segment), 0)
	b = binary.BigEndian.AppendUint64(b, uint64(p.offset))
	b = binary.BigEndian.AppendUint64(b, p.ref.URLID)
	b = binary.BigEndian.AppendUint32(b, uint32(p.ref.N))
	use, _ := json.Marshal(p.use) // cannot fail for strings
	return append(append(b, p.flags), use...)
}

func placeOf(line []byte) place {
	segment, rest, _ := bytes.Cut(line, []byte{0})
	p := place{
		segment: string(segment),
		offset:  int64(binary.BigEndian.Uint64(rest)),
		ref:     crawllog.Ref{URLID: binary.BigEndian.Uint64(rest[8:]), N: int(binary.BigEndian.Uint32(rest[16:]))},
		flags:   rest[20],
	}
	_ = json.Unmarshal(rest[21:], &p.use) // line wrote it
	return p
}

// choice is the sorted list of captures to export.
type choice struct {
	*job
	needed map[crawllog.Ref]bool // with Options.At: what the chosen captures refer to
	places *extsort.Sorter
	count  int
	pages  bool // only pages
}

// choose goes through all captures of the archive.
func (j *job) choose() (*choice, error) {
	c := &choice{job: j, needed: map[crawllog.Ref]bool{}, places: extsort.New(j.dir()),
		pages: j.o.is.unit == Pages || j.o.is.unit == Records && j.o.Data.Table != "captures"}
	steps := []func([]*crawllog.Visit) error{c.add}
	if !j.o.At.IsZero() {
		steps = []func([]*crawllog.Visit) error{c.need, c.add}
	}
	for _, step := range steps {
		for visits, err := range j.a.Histories() {
			if err = cmp.Or(err, j.ctx.Err()); err == nil {
				err = step(visits)
			}
			if err != nil {
				c.places.Close()
				return nil, err
			}
		}
	}
	return c, nil
}

// need notes the capture that the copy current at Options.At refers to: a revisit is useless
// without it, and it may be of another URL.
func (c *choice) need(visits []*crawllog.Visit) error {
	if v := publish.CurrentAt(visits, c.o.At, c.a.VisitsAt); v != nil && v.Refers != nil {
		c.needed[*v.Refers] = true
	}
	return nil
}

// add chooses captures of one URL.
func (c *choice) add(visits []*crawllog.Visit) error {
	permits := publish.Permits(visits, c.o.Now, c.a.VisitsAt)
	stands := crawllog.Current(visits, c.a.VisitsAt)
	if !c.o.At.IsZero() {
		stands = publish.CurrentAt(visits, c.o.At, c.a.VisitsAt)
	}
	for i, v := range visits {
		switch {
		case !c.o.At.IsZero() && v != stands && !c.needed[v.Ref()]:
			continue
		case v.Record == nil || v.Kept == "":
			continue
		case v.Kept == crawllog.KeptWithheld || !permits[i].Show:
			c.r.Withheld++
			continue
		}
		if ok, err := c.original(v, visits, permits); err != nil {
			return err
		} else if !ok {
			c.r.Withheld++
			continue
		}
		p := place{segment: v.Record.Segment, offset: v.Record.Offset, ref: v.Ref(), use: permits[i].Usage}
		if v == stands && isPage(v) && permits[i].List {
			p.flags |= flagPage
			if permits[i].Snippet == publish.NoLimit {
				p.flags |= flagText
			}
		}
		if c.pages && p.flags&flagPage == 0 || !c.o.Consent.Admits(p.use) {
			continue
		}
		if err := c.places.Add(p.line()); err != nil {
			return asDisk(err)
		}
		c.count++
	}
	return nil
}

// original reports whether the capture that a revisit refers to may be shown; without it the
// revisit is useless.
func (c *choice) original(v *crawllog.Visit, visits []*crawllog.Visit, permits []publish.Permit) (bool, error) {
	if v.Refers == nil {
		return true, nil
	}
	if v.Refers.URLID != v.URLID {
		var err error
		if visits, err = c.a.VisitsOf(v.Refers.URLID); err != nil {
			return false, err
		}
		permits = publish.Permits(visits, c.o.Now, c.a.VisitsAt)
	}
	i := slices.IndexFunc(visits, func(o *crawllog.Visit) bool { return o.Ref() == *v.Refers })
	return i >= 0 && permits[i].Show && c.o.Consent.permits(permits[i].Usage) &&
		visits[i].Kept == crawllog.KeptResponse, nil
}

// isPage reports whether a visit is an HTML page.
func isPage(v *crawllog.Visit) bool {
	t := http1.MediaType(v.ContentType)
	html := t == "text/html" || t == "application/xhtml+xml" || t == "" && v.Title != ""
	return html && v.IsCopy()
}
