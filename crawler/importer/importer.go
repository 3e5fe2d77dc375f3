// Package importer reads WARC, WACZ and HAR files of other programs and makes captures of their
// records, which crawler/rebuild adds to an archive like records of its own segments.
//
//	source.go    finds the files, and where their records begin
//	wacz.go      the WARC files within a WACZ
//	har.go       the entries of a HAR file as records
//	block.go     a record's block, in memory or in a file, and its digest
//	assemble.go  which records make up one capture
//	capture.go   turns them into a capture
//	mend.go      corrects heads that do not describe the body
//	records.go   writes the records of a capture
//
// The input is not trusted: lengths, digests, dates, names and URLs are checked; records that fail
// are reported and skipped.
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
	Refused func(Refusal)   // called for all that is refused, and for remarks
	Watch   func(Progress)  // called as the import proceeds
	Link    bool            // refer to records in the source files where possible, instead of copying them
}

// Refusal is a part of a file that was not imported, and why; if Remark is set, it was imported.
type Refusal struct {
	File   string `json:"file"`
	At     string `json:"offset"` // in octets; "A+B" is offset B in the decompressed data that begins at A
	URL    string `json:"url,omitempty"`
	What   string `json:"what"`
	Remark bool   `json:"remark,omitempty"` // it was imported nevertheless
}

// ErrParts reports that a file was read in part or not at all.
var ErrParts = errors.New("could not be read, or not to the end")

// Counts are the outcomes for the records of one file, or of all files.
type Counts struct {
	Records  int            `json:"records"`
	Kept     int            `json:"kept"`     // captures added: responses and records made into one
	Linked   int            `json:"linked"`   // of these, those referred to instead of copied
	Revisits int            `json:"revisits"` // captures added whose payload is that of an earlier capture
	Withheld int            `json:"withheld"` // captures added without content, because of noarchive
	Beside   int            `json:"beside"`   // requests and metadata kept with a capture
	Known    int            `json:"known"`    // captures already in the archive
	Later    int            `json:"later"`    // revisits whose original may be in another file
	Refused  int            `json:"refused"`  // not imported because something is wrong with them
	Passed   map[string]int `json:"passed"`   // unusable for a web archive, by kind
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
	Read, Size int64 // in octets of the file; Size is 0 if unknown
	URLs       int   // URLs whose captures have been replayed, after all files
}

// Result of an import.
type Result struct {
	Counts
	Files []FileResult
	Seed  string
}

// FileResult is the result for one file.
type FileResult struct {
	File string `json:"file"`
	Counts
	Before bool   `json:"before,omitempty"` // it had been imported completely before
	Error  string `json:"error,omitempty"`  // why it, or the rest of it, could not be read
}

// importer is the state of one import.
type importer struct {
	opts   Options
	in     *rebuild.Intake
	result Result
}

// Import adds the contents of the sources to the archive in dir, which it creates if needed. If ctx
// ends, committed captures stay, and the same call continues with the rest.
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

// checkpoint is the saved progress of a file: up to where all records are committed, and their
// counts.
type checkpoint struct {
	Offset int64  `json:"offset"` // offset of the next record, if reading can begin there
	Number int    `json:"number"` // number of the next record
	Whole  bool   `json:"whole"`  // the file is done
	Counts Counts `json:"counts"`
	Held   []held `json:"held,omitempty"` // earlier records whose response may still come
}

// held is a saved record that waits for its response.
type held struct {
	Number int        `json:"number"`
	At     warc.Place `json:"at"`
	End    int64      `json:"end"`
	Member bool       `json:"member,omitempty"`
	Apart  bool       `json:"apart,omitempty"`
	Near   bool       `json:"near,omitempty"`
	Record []byte     `json:"record"` // header and block
}

// Prefixes of the names of notes.
const (
	noteFile  = "file/"
	noteLater = "later/"
)

// file imports one file. An error that concerns only the file is reported, not returned.
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
		if bad, ok := errors.AsType[*sourceError](err); ok {
			res.Error, err = bad.Error(), nil
			i.opts.Refused(Refusal{File: s.Name, At: bad.at, What: res.Error})
		}
	}
	i.result.Files = append(i.result.Files, res)
	i.result.Counts.Add(&res.Counts)
	return err
}

// sourceError concerns one file; the import continues with the next.
type sourceError struct {
	at string
	error
}

// records is a source of records, like warc.Foreign.
type records interface {
	Next() (*warc.ForeignRecord, error)
	io.Reader
	Finish() error
	Close()
}

// earliest is the first plausible WARC-Date: there was no web before.
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
