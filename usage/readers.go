package usage

import (
	"net/http"
	"slices"
	"strings"

	"curtsy/internal/legible"
)

// Reader reads one syntax in which owners state usage preferences. Fields for what it does not
// read are zero.
type Reader struct {
	Name string

	// Field is the name of a robots.txt line, whose value Rule parses.
	Field string
	Rule  func(value string) Rule

	// Headers are the response headers that it reads, in canonical form. A 304 with one of them
	// supersedes the statements of the earlier response (RFC 9111 §3.2).
	Headers []string
	Header  func(h http.Header) []Statement

	// Meta reads the content of a meta element of the given name; nil: none.
	Meta func(name, content string) []Statement

	// Words are directives of meta robots, X-Robots-Tag and Robots-Tag.
	Words map[string]Statement

	// Link reports whether a link element or header leads to a license.
	Link func(rel, mediaType string) bool

	// File is the path of its own file on the site.
	File     string
	ReadFile func(body []byte) (File, error)

	// Nearest means that only the statement nearest to the resource counts: a header supersedes
	// a file of the site, and a meta element a header.
	Nearest bool
}

// readers is the table of all readers.
var readers = []*Reader{contentUsage, contentSignal, tdmRep, noAI, rsl}

// Rule is a line of robots.txt.
type Rule struct {
	Path  string // path pattern that the line applies to; "": every path
	Alone bool   // the line belongs to no group
	Says  []Statement
	Doubt string // what is wrong with it; "" if nothing is
}

// File is a file of the site with statements about many resources. It returns those for path and
// query of a URL; matches compares with patterns as in robots.txt.
type File func(target string, matches func(pattern, target string) bool) []Statement

// Limits on what is stored of a statement and of a resource.
const (
	maxText       = 300
	maxName       = 40 // of a meta element
	maxStatements = 64
)

// maxHeader is the most octets of a header that are read.
const maxHeader = 64 << 10

func named(name string) *Reader {
	i := slices.IndexFunc(readers, func(r *Reader) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	return readers[i]
}

// OfField returns the reader of a robots.txt field; nil if there is none.
func OfField(name string) *Reader {
	for _, r := range readers {
		if r.Field != "" && strings.EqualFold(r.Field, name) {
			return r
		}
	}
	return nil
}

// Line parses the value of a robots.txt line; text is the line verbatim.
func (r *Reader) Line(value, text string, line int) Rule {
	rule := r.Rule(value)
	for i := range rule.Says {
		s := &rule.Says[i]
		s.By, s.Source, s.Line, s.Text = r.Name, InRobots, line, bounded(text)
	}
	return rule
}

// OfHeaders returns the statements of response headers.
func OfHeaders(h http.Header) (list []Statement) {
	for _, r := range readers {
		if r.Header != nil && r.speaks(h) {
			list = appendSaid(list, r.Header(h), r.Name, InHeader)
		}
	}
	return list
}

// speaks reports whether any of the reader's headers is present.
func (r *Reader) speaks(h http.Header) bool {
	return slices.ContainsFunc(r.Headers, func(name string) bool { return len(h[name]) > 0 })
}

// OfMeta returns the statements of a meta element.
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

// OfWord returns the statement of a robots directive in a header or meta element; ok is false
// if the directive is not about usage.
func OfWord(word, source, text string) (s Statement, ok bool) {
	for _, r := range readers {
		if s, ok = r.Words[word]; ok {
			s.By, s.Source, s.Text = r.Name, source, bounded(text)
			return s, true
		}
	}
	return s, false
}

// OfLink returns the statement of a link to href, if it leads to a license.
func OfLink(rel, mediaType, href, source string) (s Statement, ok bool) {
	mediaType, _, _ = strings.Cut(strings.ToLower(mediaType), ";")
	for _, r := range readers {
		if r.Link != nil && href != "" && r.Link(rel, strings.TrimSpace(mediaType)) {
			return Statement{By: r.Name, Source: source, License: href, Text: bounded(href)}, true
		}
	}
	return s, false
}

// OfFile returns the statements of a file of the site about path and query of a URL.
func (r *Reader) OfFile(f File, target string, matches func(pattern, target string) bool) []Statement {
	return appendSaid(nil, f(target, matches), r.Name, r.File)
}

// Files returns the readers that have a file on the site.
func Files() (list []*Reader) {
	for _, r := range readers {
		if r.File != "" {
			list = append(list, r)
		}
	}
	return list
}

// IsFile returns the reader of the file at a path; nil if there is none.
func IsFile(path string) *Reader {
	for _, r := range Files() {
		if r.File == path {
			return r
		}
	}
	return nil
}

// Retained returns the statements of an earlier response that still apply after a 304 with
// headers h: those of its document, and of headers that the 304 does not have.
func Retained(list []Statement, h http.Header) (kept []Statement) {
	for _, s := range list {
		r := named(s.By)
		if s.Source == InMeta || s.Source == InLink || s.Source == InHeader && r != nil && !r.speaks(h) {
			kept = append(kept, s)
		}
	}
	return kept
}

// Bound limits the length of a list from a hostile site. Statements of n are kept first.
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

// bounded truncates text that is stored for display only.
func bounded(s string) string {
	return strings.Clone(strings.ToValidUTF8(legible.First(s, maxText), "?"))
}
