package export

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"time"

	"curtsy/internal/weburl"
	"curtsy/usage"
)

// Format of an export.
type Format string

// Formats, and the endings of files by which they are known.
const (
	WACZ  Format = "wacz"
	CDXJ  Format = "cdxj"
	WARC  Format = "warc"
	CSV   Format = "csv"
	JSONL Format = "jsonl"
	Text  Format = "txt"
	MD    Format = "md"
)

// Formats lists all of them.
var formats = []Format{WACZ, CDXJ, WARC, CSV, JSONL, Text, MD}

// Formats are the names of all formats.
func Formats() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = string(f)
	}
	return names
}

// FormatOf is the format of that name or, if that is empty, the one that the
// file's ending says.
func FormatOf(name, out string) (Format, bool) {
	if name == "" {
		name = strings.TrimSuffix(strings.ToLower(filepath.Base(out)), ".gz")
		name = strings.TrimPrefix(filepath.Ext(name), ".")
	}
	for _, f := range formats {
		if string(f) == name {
			return f, true
		}
	}
	return "", false
}

// Options of an export.
type Options struct {
	Format Format
	// Seed is the page to begin with.
	Seed weburl.URL
	Now  time.Time // when permits are asked; it is written as the time of the export
	// At keeps, of each URL, the copy that stood for it then, and the record that
	// it refers to; zero keeps all captures.
	At time.Time
	// Consent leaves out what does not permit a purpose; nil is any purpose.
	Consent *Consent
	// Software is the name and version of this program.
	Software string
	// Anonymous leaves out who crawled and how: seed, settings, operator and
	// User-Agent of the warcinfo records, and all request and metadata records.
	Anonymous bool
	// Force replaces a file that no export has made.
	Force bool
	// Table writes the rows of CSV and JSONL, and says how many there are and how
	// many may not be listed.
	Table func(w io.Writer) (rows, unlisted int, err error)
	// Watch is told how many captures are done, now and then.
	Watch func(done, total int)
}

// Result is what an export did.
type Result struct {
	Format   Format `json:"format"`
	Captures int    `json:"captures"` // of responses and revisits
	Rows     int    `json:"rows"`     // of a table
	Pages    int    `json:"pages"`
	Withheld int    `json:"withheld"` // captures that may not be shown, rows that may not be listed
	Bytes    int64  `json:"bytes"`    // of the file
	*Consent        // what was asked for, counted; nil where nothing was
}

// Consent is what an export is for, and what becomes of it.
type Consent struct {
	Purpose  usage.Category `json:"purpose"`
	Required bool           `json:"-"`        // leave out what says nothing, too
	Refused  int            `json:"refused"`  // they say n
	Unstated int            `json:"unstated"` // they say nothing
}

// Admits says whether what has these preferences may be given away for the purpose,
// and counts it.
func (c *Consent) Admits(p usage.Preferences) bool {
	if c == nil {
		return true
	}
	switch p[c.Purpose] {
	case usage.No:
		c.Refused++
	case usage.Unknown:
		c.Unstated++
	}
	return c.permits(p)
}

func (c *Consent) permits(p usage.Preferences) bool {
	return c == nil || p[c.Purpose] == usage.Yes || p[c.Purpose] == usage.Unknown && !c.Required
}

// ErrNotOurs says that OUT is a file that no export has made.
var ErrNotOurs = errors.New("not an export of curtsy")

// DiskError says that OUT could not be written.
type DiskError struct{ Err error }

func (e *DiskError) Error() string { return "write the export: " + e.Err.Error() }
func (e *DiskError) Unwrap() error { return e.Err }
