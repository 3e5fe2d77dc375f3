package export

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"curtsy/identity"
	"curtsy/internal/weburl"
	"curtsy/publish/inventory"
	"curtsy/publish/mirror"
	"curtsy/usage"
)

// Format is the format of an export.
type Format string

// Formats.
const (
	WACZ  Format = "wacz"
	CDXJ  Format = "cdxj"
	WARC  Format = "warc"
	CSV   Format = "csv"
	JSONL Format = "jsonl"
	Text  Format = "txt"
	MD    Format = "md"
	ZIM   Format = "zim"
	HTML  Format = "html"

	CrawlLog Format = "crawl.log"
	BagIt    Format = "bagit"

	Parquet   Format = "parquet"   // a table of Options.Data
	JSONLZstd Format = "jsonl.zst" // the same as JSON Lines
)

// Unit is what the count of an export refers to.
type Unit string

// Units: archived responses, pages, rows of a table.
const (
	Captures Unit = "capture"
	Pages    Unit = "page"
	Rows     Unit = "URL"
	Records  Unit = "row" // of a table of Options.Data
)

// format describes a format.
type format struct {
	name  Format
	end   string // file name extension; "": name
	about string // for the help text
	unit  Unit
	who   bool                                // it names the crawler's operator and settings
	write func(*job) error                    // nil: BagIt, which is a directory
	ours  func(path string, head []byte) bool // whether an existing file, by its beginning, is such an export
}

// formats lists all formats.
var formats = []format{
	{WACZ, "", "records, index and pages in one zip (WACZ 1.1.1), for replayweb.page", Captures, true,
		writeWACZ, oursWACZ},
	{WARC, "", "the records alone, as one .warc.gz", Captures, true, writeWARC, oursWARC},
	{CDXJ, "", "an index of the archive's own segments, for pywb and other tools", Captures, false,
		writeCDXJ, oursCDXJ},
	{CSV, "", "a row for every URL that may be listed, as curtsy list gives it", Rows, false, writeTable, oursCSV},
	{JSONL, "", "the same as JSON, an object a line", Rows, false, writeTable, oursJSONL},
	{ZIM, "", "the site to be read offline, in one file for Kiwix (openZIM 6.1)", Captures, false, writeZIM, oursZIM},
	{HTML, "", "one page with its styles, scripts, pictures and fonts in it: --single URL", Pages, false,
		writeHTML, oursHTML},
	{CrawlLog, "log", "a line for every visit, as Heritrix's crawl.log has it", Rows, false, writeLog, oursLog},
	{BagIt, "", "a directory for deposit (BagIt 1.0, RFC 8493): WACZ, crawl.log and checksums", Captures,
		true, nil, nil},
	{Text, "", "the text of pages, each after its URL, title and date", Pages, false, writeText, oursText},
	{MD, "", "the same as Markdown", Pages, false, writeText, oursText},
	{Parquet, "", "one table (--table) of pages, captures, links or changes as Apache Parquet", Records, false,
		writeDataset, oursParquet},
	{JSONLZstd, "", "the same as JSON, a row a line, compressed with zstd", Records, false, writeDataset, oursDataset},
}

// row returns the description of a format.
func (f Format) row() *format {
	i := slices.IndexFunc(formats, func(r format) bool { return r.name == f })
	return &formats[i]
}

// Unit returns what an export in the format counts.
func (f Format) Unit() Unit { return f.row().unit }

// NamesCrawler reports whether the format names the crawler's operator and settings.
func (f Format) NamesCrawler() bool { return f.row().who }

// Formats returns the names of all formats.
func Formats() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = string(f.name)
	}
	return names
}

// About describes each format on a line.
func About() string {
	var b strings.Builder
	for _, f := range formats {
		fmt.Fprintf(&b, "  %-9s %s\n", f.name, f.about)
	}
	return b.String()
}

// FormatOf returns the format of a name or, if name is empty, that of the extension of out.
func FormatOf(name, out string) (Format, bool) {
	base := "." + strings.TrimSuffix(strings.ToLower(filepath.Base(out)), ".gz")
	for _, f := range formats {
		if string(f.name) == name || name == "" && strings.HasSuffix(base, "."+cmp.Or(f.end, string(f.name))) {
			return f.name, true
		}
	}
	return "", false
}

// Options of an export.
type Options struct {
	Format Format
	// Seed is the main page.
	Seed weburl.URL
	Now  time.Time // for permits; also written as the time of the export
	// At, if not zero, limits the export to the copy of each URL that was current then, and the
	// records that these copies refer to.
	At time.Time
	// Consent leaves out what may not be used for a purpose; nil filters nothing.
	Consent *Consent
	// Software is the name and version of this program.
	Software string
	// Anonymous leaves out who crawled and how: seed, settings, operator and User-Agent of the
	// warcinfo records, and all request and metadata records.
	Anonymous bool
	// Sign signs a WACZ; nil leaves it unsigned.
	Sign *identity.Signer
	// Force allows to replace a file that is not an export.
	Force bool
	// Table writes the rows of CSV and JSONL, and returns their number and the number of URLs
	// that may not be listed.
	Table func(w io.Writer) (rows, unlisted int, err error)
	// Known yields all URLs of the frontier, for CrawlLog and BagIt.
	Known inventory.EachKnown
	// Single is the page to export as HTML.
	Single weburl.URL
	// Mirror makes the options of the mirror that ZIM and HTML are made of.
	Mirror func() (mirror.Options, error)
	// Data selects the table for Parquet and JSONLZstd.
	Data Dataset
	// Main leaves navigation, banners and forms out of the text of pages.
	Main bool
	// Watch, if not nil, is called now and then with the progress in captures.
	Watch func(done, total int)

	is *format // the description of Format
}

// Result is the summary of an export.
type Result struct {
	Format   Format `json:"format"`
	Captures int    `json:"captures"` // responses and revisits
	Rows     int    `json:"rows"`     // of a table
	Table    string `json:"table,omitempty"`
	Pages    int    `json:"pages"`
	Withheld int    `json:"withheld"` // captures that may not be shown, or rows that may not be listed
	Bytes    int64  `json:"bytes"`    // of the file
	// TooLarge lists the parts of a page that were left out.
	TooLarge []string `json:"too_large,omitempty"`
	*Consent          // the counts of Options.Consent; nil without it

	card *card // of a table
}

// Consent is the purpose of an export, with counts of what it affects.
type Consent struct {
	Purpose  usage.Category `json:"purpose"`
	Required bool           `json:"-"`        // also leave out what states nothing
	Refused  int            `json:"refused"`  // captures that state n
	Unstated int            `json:"unstated"` // captures that state nothing
}

// Admits reports whether a capture with these preferences may be exported for the purpose, and
// counts it. A nil Consent admits everything.
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

// ErrNotOurs means that the output file exists and is not an export.
var ErrNotOurs = errors.New("not an export of curtsy")

// DiskError means that the output could not be written.
type DiskError struct{ Err error }

func (e *DiskError) Error() string { return "write the export: " + e.Err.Error() }
func (e *DiskError) Unwrap() error { return e.Err }

// asDisk wraps err in a DiskError; nil stays nil.
func asDisk(err error) error {
	if err == nil {
		return nil
	}
	return &DiskError{err}
}
