package sitemap

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"curtsy/internal/weburl"
)

// Limits of a sitemap file (sitemaps.org protocol). Reading stops there; what was read counts.
const (
	MaxBytes    = 52_428_800 // decompressed
	maxURLs     = 50_000
	maxChildren = 50_000
	maxLoc      = 2048 // URLs must be shorter than this
	maxPacked   = 4    // nested gzip layers
)

// Kind is the kind of a file, detected from its content.
type Kind string

// The kinds of sitemaps.
const (
	URLSet Kind = "urlset"
	Index  Kind = "index"
	Text   Kind = "text"
	RSS    Kind = "rss"
	Atom   Kind = "atom"
	None   Kind = "none"
)

// Entry is a URL in a sitemap, or a sitemap in an index.
type Entry struct {
	Loc       string    // absolute and canonical, resolved against the base
	LastMod   time.Time // zero if there is none or it is invalid
	Priority  float64   // -1 if there is none
	Alternate bool      // a version in another language (xhtml:link hreflang)
}

// Summary describes what was read.
type Summary struct {
	Kind       Kind
	URLs       int      // pages, including alternates
	Children   int      // sitemaps of an index
	OutOfScope int      // of URLs and Children, those with another origin than the base
	Bad        int      // entries that are not http or https URLs, or too long
	BadEntries []string // the first ones, with the reason
	Truncated  string   // why reading stopped early; "" if the file is complete
}

// Read reads a sitemap of any kind, uncompressed or gzipped, possibly repeatedly, and calls
// visit with each entry; child means that the entry is a sitemap of an index. It needs constant
// memory. A file that is not a sitemap, such as an HTML page, has the kind "none". A relative loc
// is resolved against base, which may be zero. Entries of other origins are counted in
// OutOfScope and passed to visit, which decides what is in scope.
//
// Errors are those of visit or r. A truncated, malformed or oversized file is not an error:
// Truncated says so, and what was read counts.
func Read(r io.Reader, base weburl.URL, visit func(e Entry, child bool) error) (Summary, error) {
	s := &reader{base: base, visit: visit}
	s.sum.Kind = None
	src := s.read(r)
	if s.err == nil && src.err != io.EOF {
		s.err = src.err
	}
	return s.sum, s.err
}

// reader is the state of a reading.
type reader struct {
	base  weburl.URL
	visit func(Entry, bool) error
	sum   Summary
	err   error // of visit
}

// read reads all layers of gzip, and returns the outermost.
func (s *reader) read(src io.Reader) *counting {
	var layers []*counting // each is limited, since even input that decompresses to nothing takes time
	layer := func(r io.Reader) *bufio.Reader {
		c := &counting{r: r, left: MaxBytes}
		layers = append(layers, c)
		return bufio.NewReaderSize(c, 32<<10)
	}
	in := layer(src)
	for {
		if magic, _ := in.Peek(2); string(magic) != "\x1f\x8b" {
			break
		}
		z, err := gzip.NewReader(in)
		if err != nil {
			s.truncate("broken gzip")
			return layers[0]
		}
		if len(layers) > maxPacked {
			s.truncate("gzip within gzip, more than 4 times")
			return layers[0]
		}
		in = layer(z)
	}
	s.readText(bufio.NewReaderSize(toUTF8(in), 32<<10))
	for _, c := range layers {
		if s.sum.Truncated == "" {
			s.sum.Truncated = c.why()
		}
	}
	return layers[0]
}

// counting ends a stream after left bytes, and remembers why it ended.
type counting struct {
	r    io.Reader
	left int
	over bool
	err  error
}

func (c *counting) Read(p []byte) (int, error) {
	if c.over {
		return 0, io.EOF
	}
	n, err := c.r.Read(p)
	if n > c.left {
		n, c.over, err = c.left, true, io.EOF
	}
	c.left -= n
	if err != nil {
		c.err = err
	}
	return n, err
}

// why says why a stream ended early; "" if it did not.
func (c *counting) why() string {
	switch {
	case c.over:
		return "over 52,428,800 bytes unpacked"
	case errors.Is(c.err, io.ErrUnexpectedEOF):
		return "cut off"
	case errors.Is(c.err, gzip.ErrChecksum), errors.Is(c.err, gzip.ErrHeader):
		return "broken gzip"
	case c.err != nil && c.err != io.EOF:
		return "broken: " + c.err.Error()
	}
	return ""
}

// readText examines the first non-blank octet: '<' begins XML.
func (s *reader) readText(in *bufio.Reader) {
	for {
		r, _, err := in.ReadRune()
		if err != nil {
			return
		}
		if !isBlank(r) {
			break
		}
	}
	in.UnreadRune()
	if next, _ := in.Peek(1); string(next) == "<" {
		s.readXML(in)
		return
	}
	s.readLines(in)
}

// add passes an entry to visit; false stops reading.
func (s *reader) add(e Entry, child bool) bool {
	loc := trimLoc(e.Loc)
	u, err := s.base.Resolve(loc)
	if s.base.IsZero() {
		u, err = weburl.Parse(loc)
	}
	if loc == "" || len(loc) >= maxLoc || err != nil {
		s.bad(loc, err)
		return true
	}
	count, most := &s.sum.URLs, maxURLs
	if child {
		count, most = &s.sum.Children, maxChildren
	}
	if *count >= most {
		s.truncate("over 50,000 entries")
		return false
	}
	*count++
	if !s.base.IsZero() && u.Origin() != s.base.Origin() {
		s.sum.OutOfScope++
	}
	e.Loc = u.String()
	s.err = s.visit(e, child)
	return s.err == nil
}

// maxBad is the most bad entries listed.
const maxBad = 20

// bad records an entry without a valid URL.
func (s *reader) bad(loc string, err error) {
	s.sum.Bad++
	why := "entry " + strconv.Itoa(s.sum.URLs+s.sum.Children+s.sum.Bad)
	switch {
	case len(s.sum.BadEntries) >= maxBad:
		return
	case loc == "":
		why += ": no loc"
	case len(loc) >= maxLoc:
		why += ": over 2,047 bytes: " + strings.ToValidUTF8(loc[:60], "") + "…"
	default:
		why += ": " + loc + ": " + err.Error()
	}
	s.sum.BadEntries = append(s.sum.BadEntries, why)
}

func (s *reader) truncate(why string) {
	s.sum.Truncated = cmp.Or(s.sum.Truncated, why)
}

// trimLoc trims white space, including invisible characters: no-break spaces, zero-width
// characters and byte order marks.
func trimLoc(s string) string { return strings.TrimFunc(s, isBlank) }

func isBlank(r rune) bool {
	switch r {
	case '\u00a0', '\u200b', '\u200c', '\u200d', '\u2060', '\ufeff', '\u3000':
		return true
	}
	return r <= ' '
}
