package htmlmeta

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"curtsy/internal/robotsmeta"
	"curtsy/internal/weburl"
	"curtsy/usage"
)

// Values of Source.From: where a directive was found.
const (
	FromHeader = "X-Robots-Tag"
	FromTag    = "Robots-Tag"
	FromMeta   = "meta"
)

// maxSources is the most sources recorded for a document. Directives beyond it still apply.
const maxSources = 64

// maxSourceText is the most bytes of a line or tag that are recorded.
const maxSourceText = 1024

// Options says for whom a document is read. With the zero value, only directives addressed to
// everybody apply.
type Options struct {
	// Agents are the crawler's product tokens, such as "curtsy". A directive addressed to one
	// of them applies like one addressed to everybody.
	Agents []string
	// IgnoreRelNofollow ignores nofollow, ugc and sponsored on links.
	IgnoreRelNofollow bool
	// LoadedBy is the page that loaded a script; names in the script may be relative to it.
	// Zero if unknown.
	LoadedBy weburl.URL
}

// Directives combines all directives of headers and meta tags. The stricter one applies: a
// later "index" does not cancel "noindex".
type Directives struct {
	robotsmeta.Directives
	// Usage holds the usage statements of the document.
	Usage []usage.Statement
}

// Source is a directive as found; From is FromHeader, FromTag or FromMeta.
type Source = robotsmeta.Source

// Join adds the directives of another reading of the document; the stricter ones apply.
func (d *Directives) Join(o *Directives) {
	d.Directives.Join(&o.Directives)
	for _, s := range o.Sources {
		if !slices.Contains(d.Sources, s) {
			d.note(s)
		}
	}
	for _, s := range o.Usage {
		d.say(s)
	}
}

// say adds a usage statement, unless it is there already.
func (d *Directives) say(s usage.Statement) {
	if !slices.Contains(d.Usage, s) {
		d.Usage = usage.Bound(append(d.Usage, s))
	}
}

// ReadDirectives reads the directives of a response header, which is all there is for PDF
// documents, images and redirects.
func ReadDirectives(h http.Header, o Options) Directives {
	var d Directives
	for _, line := range h[http.CanonicalHeaderKey(FromHeader)] {
		d.readHeader(line, o)
	}
	d.readTag(h[FromTag], o)
	for _, s := range usage.OfHeaders(h) {
		d.say(s)
	}
	return d
}

// readHeader reads an X-Robots-Tag line. Lines are read separately: an agent name applies to
// the rest of its own line.
func (d *Directives) readHeader(line string, o Options) {
	l := list{to: d, opts: o, from: FromHeader, text: line, agents: true, listener: listener{ours: true}}
	l.read(line)
}

// readMeta reads a meta tag, if its name is robots or an agent.
func (d *Directives) readMeta(name, content string, o Options) {
	name = strings.Trim(name, asciiBlank)
	for _, s := range usage.OfMeta(name, content) {
		d.say(s)
	}
	if !strings.EqualFold(name, "robots") && !o.names(name) {
		return
	}
	l := list{to: d, opts: o, from: FromMeta, text: content, listener: listener{ours: true}}
	if !strings.EqualFold(name, "robots") {
		l.agent = name
	}
	l.read(content)
}

// names reports whether token is one of the agents.
func (o Options) names(token string) bool {
	if token == "" || token == "*" {
		return false
	}
	return slices.ContainsFunc(o.Agents, func(a string) bool { return strings.EqualFold(a, token) })
}

// everybody reports whether a header token addresses all robots.
func everybody(token string) bool {
	return token == "" || token == "*" || strings.EqualFold(token, "robots")
}

// apply applies a directive without value, and reports whether it is known.
func (d *Directives) apply(word string) bool {
	if word == "nosnippet" {
		d.LimitSnippet(0)
		return true
	}
	_, known := usage.OfWord(word, "", "")
	return d.Forbid(word) || known
}

// limitSnippet applies a max-snippet value; the smallest one counts.
func (d *Directives) limitSnippet(value string) bool {
	if value == "" || strings.Trim(value, "0123456789") != "" {
		return false // -1 means no limit; anything else is invalid
	}
	n, err := strconv.Atoi(value)
	if err == nil { // a value over the range of int is no limit
		d.LimitSnippet(n)
	}
	return err == nil
}

// note records where a directive was found.
func (d *Directives) note(s Source) {
	if said, ok := usage.OfWord(s.Directive, usageSource(s.From), s.Text); ok {
		d.say(said)
	}
	if len(d.Sources) >= maxSources {
		return
	}
	if len(s.Text) > maxSourceText {
		s.Text = strings.ToValidUTF8(s.Text[:maxSourceText], "")
	}
	s.Text = strings.Clone(s.Text)
	d.Sources = append(d.Sources, s)
}

// usageSource is the source of a usage statement found among directives.
func usageSource(from string) string {
	if from == FromMeta {
		return usage.InMeta
	}
	return usage.InHeader
}
