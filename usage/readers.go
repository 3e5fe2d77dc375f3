package usage

import (
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// Reader is one way in which owners say something about use. What it does not read
// is left zero.
type Reader struct {
	Name string

	// Field is that of a line in robots.txt, and Rule reads its value.
	Field string
	Rule  func(value string) Rule

	// Headers are the response headers it reads, in canonical form. A 304 that has one
	// of them supersedes what the response before it said (RFC 9111 §3.2).
	Headers []string
	Header  func(h http.Header) []Statement

	// Meta reads the content of a meta element of that name; nil is none.
	Meta func(name, content string) []Statement

	// Words are directives that stand among those of meta robots, X-Robots-Tag and
	// Robots-Tag.
	Words map[string]Statement

	// Link says whether a link element or header leads to a license.
	Link func(rel, mediaType string) bool

	// File is the path of a file of its own on the site.
	File     string
	ReadFile func(body []byte) (File, error)

	// Nearest lets only the statement nearest to the resource count: a file of the site
	// is superseded by a header, and that by a meta element.
	Nearest bool
}

// readers is the table of all of them.
var readers = []*Reader{contentUsage, contentSignal, tdmRep, noAI, rsl}

// Rule is a line of robots.txt.
type Rule struct {
	Path  string // the line holds for this pattern; "" is every path
	Alone bool   // it belongs to no group
	Says  []Statement
	Doubt string // what is wrong with it; "" where nothing is
}

// File is a file on the site that speaks of many of its resources.
type File interface {
	// Says is what it says of path and query of a URL. matches compares a pattern as
	// those of robots.txt.
	Says(target string, matches func(pattern, target string) bool) []Statement
}

// Bounds of what is kept of one statement, and of one resource.
const (
	maxText       = 300
	maxName       = 40 // of a meta element
	maxStatements = 64
)

// maxHeader is how many octets of a header are read.
const maxHeader = 64 << 10

func named(name string) *Reader {
	i := slices.IndexFunc(readers, func(r *Reader) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	return readers[i]
}

// OfField is the reader of a field of robots.txt, nil if there is none.
func OfField(name string) *Reader {
	for _, r := range readers {
		if r.Field != "" && strings.EqualFold(r.Field, name) {
			return r
		}
	}
	return nil
}

// Line reads a line of robots.txt, whose text is given as it is written.
func (r *Reader) Line(value, text string, line int) Rule {
	rule := r.Rule(value)
	for i := range rule.Says {
		s := &rule.Says[i]
		s.By, s.Source, s.Line, s.Text = r.Name, InRobots, line, bounded(text)
	}
	return rule
}

// OfHeaders is what response headers say.
func OfHeaders(h http.Header) (list []Statement) {
	for _, r := range readers {
		if r.Header != nil && r.speaks(h) {
			list = appendSaid(list, r.Header(h), r.Name, InHeader)
		}
	}
	return list
}

// speaks says whether any of the reader's headers is there.
func (r *Reader) speaks(h http.Header) bool {
	return slices.ContainsFunc(r.Headers, func(name string) bool { return len(h[name]) > 0 })
}

// OfMeta is what a meta element says.
func OfMeta(name, content string) (list []Statement) {
	if len(name) > maxName {
		return nil
	}
	name, content = strings.ToLower(name), content[:min(len(content), maxHeader)]
	for _, r := range readers {
		if r.Meta != nil {
			list = appendSaid(list, r.Meta(name, content), r.Name, InMeta)
		}
	}
	return list
}

// OfWord is what a directive for robots says, which stands in a header or a meta
// element; !ok if it is none that is about use.
func OfWord(word, source, text string) (s Statement, ok bool) {
	for _, r := range readers {
		if s, ok = r.Words[word]; ok {
			s.By, s.Source, s.Text = r.Name, source, bounded(text)
			return s, true
		}
	}
	return s, false
}

// OfLink is what a link to href says, if it leads to a license.
func OfLink(rel, mediaType, href, source string) (s Statement, ok bool) {
	mediaType, _, _ = strings.Cut(strings.ToLower(mediaType), ";")
	for _, r := range readers {
		if r.Link != nil && href != "" && r.Link(rel, strings.TrimSpace(mediaType)) {
			return Statement{By: r.Name, Source: source, License: href, Text: bounded(href)}, true
		}
	}
	return s, false
}

// OfFile is what a file on the site says of path and query of a URL.
func (r *Reader) OfFile(f File, target string, matches func(pattern, target string) bool) []Statement {
	return appendSaid(nil, f.Says(target, matches), r.Name, r.File)
}

// Files are the readers that have a file on the site.
func Files() (list []*Reader) {
	for _, r := range readers {
		if r.File != "" {
			list = append(list, r)
		}
	}
	return list
}

// IsFile says whether there is a reader of the file at a path.
func IsFile(path string) *Reader {
	for _, r := range Files() {
		if r.File == path {
			return r
		}
	}
	return nil
}

// Retained is what of an earlier response's statements holds for a 304 with the
// headers h: what its document said, and headers that the 304 does not have.
func Retained(list []Statement, h http.Header) (kept []Statement) {
	for _, s := range list {
		r := named(s.By)
		if s.Source == InMeta || s.Source == InLink || s.Source == InHeader && r != nil && !r.speaks(h) {
			kept = append(kept, s)
		}
	}
	return kept
}

// Bound cuts a list that a hostile site made too long. What says n is kept first.
func Bound(list []Statement) []Statement {
	if len(list) <= maxStatements {
		return list
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Statement) int { return refuses(b) - refuses(a) })
	return list[:maxStatements]
}

func refuses(s Statement) int {
	if s.Value == No {
		return 1
	}
	return 0
}

func appendSaid(list, said []Statement, by, source string) []Statement {
	for _, s := range said {
		s.By, s.Source, s.Text = by, source, bounded(s.Text)
		list = append(list, s)
	}
	return list
}

// bounded cuts text that is kept for people alone.
func bounded(s string) string {
	if n := maxText; len(s) > n {
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n]
	}
	return strings.Clone(strings.ToValidUTF8(s, "?"))
}
