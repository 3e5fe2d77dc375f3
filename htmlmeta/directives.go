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

// Where a directive was found: Source.From.
const (
	FromHeader = "X-Robots-Tag"
	FromTag    = "Robots-Tag"
	FromMeta   = "meta"
)

// maxSources bounds what is remembered of a page that repeats itself; the
// directives themselves are read to the end.
const maxSources = 64

// maxSourceText bounds the verbatim text kept of one line or tag, in bytes.
const maxSourceText = 1024

// Options says for whom a document is read. The zero value is nobody in
// particular: only what is said to everybody counts.
type Options struct {
	// Agents are the product tokens read for, such as "curtsy". A directive addressed
	// to one of them counts like one addressed to everybody.
	Agents []string
	// IgnoreRelNofollow lets links marked nofollow, ugc or sponsored be
	// followed.
	IgnoreRelNofollow bool
	// LoadedBy is the page that led to a script, to whose address names in it may be
	// relative; zero if it is not known.
	LoadedBy weburl.URL
}

// Directives is what the owner asks: the sum of all headers and metas, the
// stricter winning (a later "index" undoes no "noindex").
type Directives struct {
	robotsmeta.Directives
	// Usage is what is said about the use of the document.
	Usage []usage.Statement
}

// Source is one directive as it was found; From is FromHeader, FromTag or FromMeta.
type Source = robotsmeta.Source

// Join adds what another reading of the document asks: the stricter of each.
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

// say adds a statement about use, once.
func (d *Directives) say(s usage.Statement) {
	if !slices.Contains(d.Usage, s) {
		d.Usage = usage.Bound(append(d.Usage, s))
	}
}

// ReadDirectives reads what a response header alone says: all there is for a
// PDF, an image or a redirect.
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

// readHeader reads one X-Robots-Tag line. Lines are never joined: an agent
// holds to the end of its own line.
func (d *Directives) readHeader(line string, o Options) {
	l := list{to: d, opts: o, from: FromHeader, text: line, agents: true, listener: listener{ours: true}}
	l.read(line)
}

// readMeta reads one meta tag, if it names robots or one of the agents.
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

// names says whether token is one of the agents.
func (o Options) names(token string) bool {
	if token == "" || token == "*" {
		return false
	}
	return slices.ContainsFunc(o.Agents, func(a string) bool { return strings.EqualFold(a, token) })
}

// everybody says whether a header names all robots.
func everybody(token string) bool {
	return token == "" || token == "*" || strings.EqualFold(token, "robots")
}

// apply takes in one directive without a value and says whether it is known.
func (d *Directives) apply(word string) bool {
	if word == "nosnippet" {
		d.LimitSnippet(0)
		return true
	}
	_, known := usage.OfWord(word, "", "")
	return d.Forbid(word) || known
}

// limitSnippet takes in a max-snippet value; the least counts.
func (d *Directives) limitSnippet(value string) bool {
	if value == "" || strings.Trim(value, "0123456789") != "" {
		return false // -1 is no limit; anything else is no number
	}
	n, err := strconv.Atoi(value)
	if err == nil { // more than an int holds is no limit either
		d.LimitSnippet(n)
	}
	return err == nil
}

// note remembers where a directive came from.
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

// usageSource is where a statement about use stands that is among directives.
func usageSource(from string) string {
	if from == FromMeta {
		return usage.InMeta
	}
	return usage.InHeader
}
