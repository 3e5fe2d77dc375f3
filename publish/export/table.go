package export

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"curtsy/publish"
	"curtsy/publish/changes"
	"curtsy/publish/inventory"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// Dataset is what a file of rows (Parquet, JSONLZstd) holds.
type Dataset struct {
	Table   string // one of Tables; "" is the first
	Links   inventory.Options
	Changes changes.Options
}

// Tables are the tables of a Dataset:
//
//	pages     the pages that may be listed, as they stand now, with their text
//	captures  the captures that may be shown, as in a CDXJ
//	links     each page's links, each target once, and what they lead to
//	changes   the URLs that changed since a time
var Tables = []string{"pages", "captures", "links", "changes"}

// tables write them.
var tables = map[string]func(context.Context, *storage.Archive, *outFile, *Options, *Result) error{
	"pages": writePages, "captures": writeCaptures, "links": writeLinks, "changes": writeChanges,
}

func writeDataset(ctx context.Context, a *storage.Archive, out *outFile, o *Options, r *Result) error {
	r.Table = cmp.Or(o.Data.Table, Tables[0])
	write := tables[r.Table]
	if write == nil {
		return fmt.Errorf("no table %q", r.Table)
	}
	r.card = newCard(o)
	if err := r.card.replaceable(out.name); err != nil {
		return err
	}
	return write(ctx, a, out, o, r)
}

// rows writes the rows of a table as they come.
type rows[T any] interface {
	// write takes a row of about so many octets.
	write(row *T, size int) error
	close() error
}

func newRows[T any](out *outFile, o *Options, r *Result) (rows[T], error) {
	if o.Format == Parquet {
		return newParquet[T](out, o, r.Table), nil
	}
	z, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1))
	return &jsonRows[T]{z: z, w: bufio.NewWriterSize(z, 64<<10)}, err
}

// jsonRows are lines of JSON in one frame of zstd (RFC 8878).
type jsonRows[T any] struct {
	z *zstd.Encoder
	w *bufio.Writer
}

func (w *jsonRows[T]) write(row *T, _ int) error {
	line, err := jsonLine(row)
	if err == nil {
		_, err = w.w.Write(line)
	}
	return err
}

func (w *jsonRows[T]) close() error { return cmp.Or(w.w.Flush(), w.z.Close()) }

// writeCaptures writes a row for each capture that may be shown.
func writeCaptures(ctx context.Context, a *storage.Archive, out *outFile, o *Options, r *Result) error {
	chosen, err := choose(ctx, a, o, filepath.Dir(out.name))
	if err != nil {
		return err
	}
	defer chosen.places.Close()
	r.Captures, r.Withheld = chosen.count, chosen.withheld
	w, err := newRows[captureRow](out, o, r)
	if err != nil {
		return err
	}
	err = (&copier{a: a, o: o}).each(ctx, chosen, func(m *member) error {
		if m.flags&flagPage != 0 {
			r.Pages++
		}
		row, err := captureOf(a, m)
		if err != nil {
			return err
		}
		r.Rows++
		return w.write(&row, rowOctets+2*len(row.URL))
	})
	return cmp.Or(err, w.close())
}

// rowOctets is about what a row takes beside its texts.
const rowOctets = 300

// writePages writes a row for each page that may be listed.
func writePages(ctx context.Context, a *storage.Archive, out *outFile, o *Options, r *Result) error {
	chosen, err := choose(ctx, a, o, filepath.Dir(out.name))
	if err != nil {
		return err
	}
	defer chosen.places.Close()
	r.Withheld = chosen.withheld
	s, err := newSurvey(a, filepath.Dir(out.name), o.Main)
	if err != nil {
		return err
	}
	defer s.close()
	if err := (&copier{a: a, o: o}).each(ctx, chosen, s.learn); err != nil {
		return err
	}
	if err := s.find(); err != nil {
		return err
	}
	w, err := newRows[pageRow](out, o, r)
	if err != nil {
		return err
	}
	err = (&copier{a: a, o: o}).each(ctx, chosen, func(m *member) error {
		row, err := pageOf(a, m, o.Now)
		if err == nil {
			err = s.tell(row)
		}
		if err != nil {
			return err
		}
		r.Rows++
		r.Pages++
		r.card.page(row)
		return w.write(row, rowOctets+2*len(row.URL)+len(row.Text))
	})
	return cmp.Or(err, w.close())
}

// writeLinks writes the links of the pages that may be listed.
func writeLinks(ctx context.Context, a *storage.Archive, out *outFile, o *Options, r *Result) error {
	w, err := newRows[linkRow](out, o, r)
	if err != nil {
		return err
	}
	left := newLeftOut(a, o)
	links := o.Data.Links
	links.Visits = left.visited
	err = inventory.Links(ctx, a, links, func(from string, list []inventory.Link) error {
		if from == "" || left.has(from) {
			return nil
		}
		r.Pages++
		for i := range list {
			r.Rows++
			row := linkRow{from, list[i].To, list[i].Status, list[i].Broken, string(list[i].Verdict), list[i].Reason}
			if err := w.write(&row, rowOctets+len(row.To)); err != nil {
				return err
			}
		}
		return nil
	})
	r.Withheld = left.withheld
	return cmp.Or(err, w.close())
}

// leftOut are the URLs that an export of links must not name as a place where they
// stand, by a hash with a key of its own.
type leftOut struct {
	a        *storage.Archive
	o        *Options
	seed     maphash.Seed
	urls     map[uint64]struct{}
	withheld int // those that may not be listed
}

func newLeftOut(a *storage.Archive, o *Options) *leftOut {
	return &leftOut{a: a, o: o, seed: maphash.MakeSeed(), urls: map[uint64]struct{}{}}
}

func (l *leftOut) has(url string) bool {
	_, ok := l.urls[maphash.String(l.seed, url)]
	return ok
}

func (l *leftOut) visited(visits []*crawllog.Visit) {
	v := publish.Current(visits, l.a.VisitsAt)
	if v == nil {
		return
	}
	p := publish.Permits(visits, l.o.Now, l.a.VisitsAt)[slices.Index(visits, v)]
	if !p.List {
		l.withheld++
	} else if l.o.Consent.Admits(p.Usage) {
		return
	}
	l.urls[maphash.String(l.seed, v.URL)] = struct{}{}
}

// writeChanges writes what changed, as far as it may be listed.
func writeChanges(ctx context.Context, a *storage.Archive, out *outFile, o *Options, r *Result) error {
	w, err := newRows[changeRow](out, o, r)
	if err != nil {
		return err
	}
	for c, err := range changes.Of(ctx, a, o.Data.Changes) {
		if err != nil {
			return err
		}
		if !c.Listed {
			r.Withheld++
			continue
		}
		if !o.Consent.Admits(c.Usage) {
			continue
		}
		r.Rows++
		row := changeRow{URL: c.URL, Change: string(c.Kind), Title: c.Title, Now: c.Now.At.UTC(), Reason: c.Reason,
			Passages: []passage{}}
		if c.Was != nil {
			was := c.Was.At.UTC()
			row.Was = &was
		}
		size := rowOctets
		for _, p := range c.Passages {
			row.Passages = append(row.Passages, passage{p.Was, p.Now})
			size += len(p.Was) + len(p.Now)
		}
		if err := w.write(&row, size); err != nil {
			return err
		}
	}
	return w.close()
}

type linkRow struct {
	From    string `parquet:"from" json:"from"`
	To      string `parquet:"to" json:"to"`
	Status  int    `parquet:"status" json:"status"` // of the target itself; 0: it was not asked for
	Broken  bool   `parquet:"broken" json:"broken"`
	Verdict string `parquet:"verdict,dict" json:"verdict"`
	Reason  string `parquet:"reason,dict" json:"reason"`
}

type changeRow struct {
	URL      string     `parquet:"url" json:"url"`
	Change   string     `parquet:"change,dict" json:"change"`
	Title    string     `parquet:"title,optional" json:"title"`
	Was      *time.Time `parquet:"was,optional,timestamp(microsecond)" json:"was"`
	Now      time.Time  `parquet:"now,timestamp(microsecond)" json:"now"`
	Reason   string     `parquet:"reason,optional,dict" json:"reason"`
	Passages []passage  `parquet:"passages,list" json:"passages"`
}

type passage struct {
	Was string `parquet:"was" json:"was"`
	Now string `parquet:"now" json:"now"`
}

// oursDataset says whether a file begins as a table of JSON does.
func oursDataset(_ string, head []byte) bool {
	z, err := zstd.NewReader(bytes.NewReader(head))
	if err != nil {
		return false
	}
	defer z.Close()
	var row [64]byte
	n, _ := io.ReadFull(z, row[:])
	return slices.ContainsFunc([]string{`{"url_surtkey":"`, `{"from":"`, `{"url":"`}, func(begin string) bool {
		return bytes.HasPrefix(row[:n], []byte(begin))
	})
}
