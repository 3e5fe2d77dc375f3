// Package importer answers: what do the archives of other programs hold? It reads their
// WARC, WACZ and HAR files and makes captures of what is in them, which crawler/rebuild
// adds to an archive as if the segments had held them.
//
//	source.go    which files there are, and where their records begin
//	wacz.go      those within a WACZ
//	har.go       the entries of a HAR file as records
//	block.go     a record's block, in memory or spilled, and its digests
//	assemble.go  which records are one capture
//	capture.go   what becomes of it
//	mend.go      heads that say of a body what it is not
//	records.go   its records as they are written
//
// Nothing that is read is trusted: lengths, digests, dates, names and URLs are checked,
// and what does not hold is listed and passed over.
package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/rebuild"
	"curtsy/storage"
	"curtsy/storage/warc"
)

// Options of an import.
type Options struct {
	Crawl   crawler.Options // its Seed is the archive's
	Refused func(Refusal)   // told of all that is not taken because something is wrong with it
	Watch   func(Progress)  // told what goes on
	Link    bool            // records are referred to where they lie, where that can be
}

// Refusal is a part of a file that was not taken, and why. For a remark it was.
type Refusal struct {
	File   string `json:"file"`
	At     string `json:"offset"` // octets; "A+B": B, decompressed, behind A
	URL    string `json:"url,omitempty"`
	What   string `json:"what"`
	Remark bool   `json:"remark,omitempty"` // it was taken all the same
}

// ErrParts says that a file was read in part, or not at all.
var ErrParts = errors.New("could not be read, or not to the end")

// Counts are what became of the records of one file, or of all.
type Counts struct {
	Records  int            `json:"records"`
	Kept     int            `json:"kept"`     // captures added: responses and what is made one
	Linked   int            `json:"linked"`   // of these, those whose records were not copied
	Revisits int            `json:"revisits"` // captures added whose payload is an earlier one's
	Withheld int            `json:"withheld"` // captures added without what came: noarchive
	Beside   int            `json:"beside"`   // records kept with a capture: requests, metadata
	Known    int            `json:"known"`    // captures that are in the archive already
	Later    int            `json:"later"`    // revisits whose original may come in another file
	Refused  int            `json:"refused"`  // something is wrong with them
	Passed   map[string]int `json:"passed"`   // of no use to a web archive, by kind
}

func (c *Counts) pass(kind string, n int) {
	if c.Passed == nil {
		c.Passed = map[string]int{}
	}
	c.Passed[kind] += n
}

func (c *Counts) clone() Counts {
	d := *c
	d.Passed = maps.Clone(c.Passed)
	return d
}

// Add adds the counts of another file.
func (c *Counts) Add(o *Counts) {
	c.Records += o.Records
	c.Kept += o.Kept
	c.Linked += o.Linked
	c.Revisits += o.Revisits
	c.Withheld += o.Withheld
	c.Beside += o.Beside
	c.Known += o.Known
	c.Later += o.Later
	c.Refused += o.Refused
	for kind, n := range o.Passed {
		c.pass(kind, n)
	}
}

// Progress of an import.
type Progress struct {
	File       string
	Read, Size int64 // octets of the file; Size is 0 where it is not known
	URLs       int   // whose captures were read, at the end
}

// Result of an import.
type Result struct {
	Counts
	Files []FileResult
	Seed  string
}

// FileResult is what came of one file.
type FileResult struct {
	File string `json:"file"`
	Counts
	Before bool   `json:"before,omitempty"` // it was imported before, whole
	Error  string `json:"error,omitempty"`  // why it, or the rest of it, cannot be read
}

// importer is one import.
type importer struct {
	opts   Options
	in     *rebuild.Intake
	result Result
}

// Import adds what the sources hold to the archive in dir, and begins it where there is
// none. Where ctx ends, what was committed stays, and the same call goes on with the rest.
func Import(ctx context.Context, dir string, sources []*Source, o Options) (r *Result, err error) {
	in, err := rebuild.OpenIntake(dir, o.Crawl)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	defer storage.Guard(&err)()
	o.Crawl = o.Crawl.WithDefaults()
	i := &importer{opts: o, in: in, result: Result{Seed: o.Crawl.Seed.String()}}
	for _, s := range sources {
		if err := i.file(ctx, s); err != nil {
			return &i.result, err
		}
	}
	if err := i.later(); err != nil {
		return &i.result, err
	}
	if err := in.Commit(); err != nil {
		return &i.result, err
	}
	return &i.result, in.Replay(ctx, func(n int) { i.opts.Watch(Progress{URLs: n}) })
}

// checkpoint is what is noted of a file that is being imported: up to where all records
// are committed, and what became of them.
type checkpoint struct {
	Offset int64  `json:"offset"` // of the record that comes next, if reading can begin there
	Number int    `json:"number"` // of that record
	Whole  bool   `json:"whole"`  // nothing comes next
	Counts Counts `json:"counts"`
	Held   []held `json:"held,omitempty"` // of the records before: those whose response may come
}

// held is a record that waits for its response, as it is noted.
type held struct {
	Number int        `json:"number"`
	At     warc.Place `json:"at"`
	End    int64      `json:"end"`
	Member bool       `json:"member,omitempty"`
	Apart  bool       `json:"apart,omitempty"`
	Near   bool       `json:"near,omitempty"`
	Record []byte     `json:"record"` // header and block
}

// Names of notes.
const (
	noteFile  = "file/"
	noteLater = "later/"
)

// file imports one file. What is wrong with it alone is no error.
func (i *importer) file(ctx context.Context, s *Source) (err error) {
	var from checkpoint
	link := ""
	if i.opts.Link && s.path != "" {
		if link, err = i.in.Archive().Link(s.path); err == nil {
			err = i.in.Commit()
		}
		if err != nil {
			return err
		}
		s.key = fmt.Sprintf("%s %d", link, s.base)
	}
	if s.key != "" {
		if _, err := i.in.Archive().Noted(noteFile+s.key, &from); err != nil {
			return err
		}
	}
	res := FileResult{File: s.Name, Counts: from.Counts, Before: from.Whole}
	if !from.Whole {
		a := &assembler{importer: i, source: s, seen: from.Counts, link: link}
		err = a.run(ctx, &from)
		res.Counts = a.counts(&a.seen)
		var bad *sourceError
		if errors.As(err, &bad) {
			res.Error, err = bad.Error(), nil
			i.opts.Refused(Refusal{File: s.Name, At: bad.at, What: res.Error})
		}
	}
	i.result.Files = append(i.result.Files, res)
	i.result.Counts.Add(&res.Counts)
	return err
}

// sourceError is one of a file, after which the next file comes.
type sourceError struct {
	at  string
	err error
}

func (e *sourceError) Error() string { return e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }

// records gives one record after another, as warc.Foreign does.
type records interface {
	Next() (*warc.ForeignRecord, error)
	io.Reader
	Finish() error
	Close()
}

// earliest and latest are the dates that a record may have: before the first there
// was no web, and of the future nothing is known.
var earliest = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)

func (i *importer) checkDate(at time.Time) error {
	switch {
	case at.IsZero():
		return errors.New("no WARC-Date that can be read")
	case at.Before(earliest), at.After(i.opts.Crawl.Now().Add(24 * time.Hour)):
		return fmt.Errorf("WARC-Date %s cannot be right", at.UTC().Format(time.RFC3339))
	}
	return nil
}
