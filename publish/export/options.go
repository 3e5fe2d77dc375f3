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

// Format of an export.
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
	JSONLZstd Format = "jsonl.zst" // the same as lines of JSON
)

// Unit is what an export counts.
type Unit string

// Units: copies of what was fetched, pages, rows of a table.
const (
	Captures Unit = "capture"
	Pages    Unit = "page"
	Rows     Unit = "URL"
	Records  Unit = "row" // of a table of Options.Data
)

// format is what there is to know of a format.
type format struct {
	name  Format
	end   string // of files; "" is the name
	about string // what it is, for help
	unit  Unit
	who   bool                                // it holds who crawled, and how
	write func(*job) error                    // nil: BagIt, a directory
	ours  func(path string, head []byte) bool // is this file, which begins so, an export?
}

// formats has a row for each format.
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

// row is what there is to know of a format.
func (f Format) row() *format {
	i := slices.IndexFunc(formats, func(r format) bool { return r.name == f })
	return &formats[i]
}

// Unit is what an export in the format counts.
func (f Format) Unit() Unit { return f.row().unit }

// NamesCrawler says whether the format holds who crawled, and how.
func (f Format) NamesCrawler() bool { return f.row().who }

// Formats are the names of all formats.
func Formats() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = string(f.name)
	}
	return names
}

// About says what each format is, a line each.
func About() string {
	var b strings.Builder
	for _, f := range formats {
		fmt.Fprintf(&b, "  %-9s %s\n", f.name, f.about)
	}
	return b.String()
}

// FormatOf is the format of that name or, if that is empty, the one that the
// file's ending says.
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
	// Sign signs a WACZ; nil leaves it unsigned.
	Sign *identity.Signer
	// Force replaces a file that no export has made.
	Force bool
	// Table writes the rows of CSV and JSONL, and says how many there are and how
	// many may not be listed.
	Table func(w io.Writer) (rows, unlisted int, err error)
	// Known gives all URLs that the crawl knows, for CrawlLog and BagIt.
	Known inventory.EachKnown
	// Single is the page that HTML holds.
	Single weburl.URL
	// Mirror makes the options of a mirror: ZIM and HTML hold what a mirror does.
	Mirror func() (mirror.Options, error)
	// Data is what Parquet and JSONLZstd hold.
	Data Dataset
	// Main leaves navigation, banners and forms out of the texts of pages.
	Main bool
	// Watch is told how many captures are done, now and then.
	Watch func(done, total int)

	is *format // that of Format
}

// Result is what an export did.
type Result struct {
	Format   Format `json:"format"`
	Captures int    `json:"captures"` // of responses and revisits
	Rows     int    `json:"rows"`     // of a table
	Table    string `json:"table,omitempty"`
	Pages    int    `json:"pages"`
	Withheld int    `json:"withheld"` // captures that may not be shown, rows that may not be listed
	Bytes    int64  `json:"bytes"`    // of the file
	// TooLarge are the parts of a page that were left out.
	TooLarge []string `json:"too_large,omitempty"`
	*Consent          // what was asked for, counted; nil where nothing was

	card *card // of a table
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

// asDisk is an error of writing as a DiskError; nil for none.
func asDisk(err error) error {
	if err == nil {
		return nil
	}
	return &DiskError{err}
}
