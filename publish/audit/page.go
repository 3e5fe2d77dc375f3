package audit

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"curtsy/facts"
	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
)

// Page is what a check of a page looks at, as its author wrote it.
type Page struct {
	URL    weburl.URL
	Notes  map[htmlmeta.NoteName][]string // their texts, in order
	Odd    []htmlmeta.Odd                 // references that nobody can follow
	ByHTTP []string                       // what a page that came by https loads by http
	Forms  []string                       // where it sends forms by http
}

// alternate is a page in another language (link rel=alternate hreflang).
type alternate struct{ lang, url string }

// Read makes a page of what was read of it.
func Read(said *facts.Facts) *Page {
	p := &Page{URL: said.URL, Notes: map[htmlmeta.NoteName][]string{}, Odd: slices.Clone(said.Odd)}
	for _, n := range said.Notes {
		p.Notes[n.Name] = append(p.Notes[n.Name], n.Text)
	}
	if p.URL.Scheme() != "https" {
		return p
	}
	for i := range said.Links {
		switch l := &said.Links[i]; {
		case l.URL.Scheme() != "http":
		case l.Kind == htmlmeta.Requisite:
			p.ByHTTP = append(p.ByHTTP, l.URL.String())
		case l.Kind == htmlmeta.Form:
			p.Forms = append(p.Forms, l.URL.String())
		}
	}
	return p
}

// first is the text of the first note of a name; "" for none.
func (p *Page) first(n htmlmeta.NoteName) string {
	if len(p.Notes[n]) == 0 {
		return ""
	}
	return p.Notes[n][0]
}

// fold makes blanks one, and takes those round a text away.
func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// Leads says whether a fragment leads to a place in a page: an id or a name that it
// has, and texts that it says (text fragments). What scripts make of a fragment is not
// looked at: a route, a line of a source file.
func Leads(fragment string, has func(id string) bool, text func() string) bool {
	name, directive, isText := strings.Cut(fragment, ":~:")
	if name != "" && !strings.EqualFold(name, "top") && !scripted.MatchString(name) {
		decoded, err := url.PathUnescape(name)
		if err != nil {
			decoded = name
		}
		if !has(name) && !has(decoded) && !has("user-content-"+decoded) { // as GitHub names headings
			return false
		}
	}
	if !isText {
		return true
	}
	all := strings.ToLower(text())
	for part := range strings.SplitSeq(directive, "&") {
		if words, ok := strings.CutPrefix(part, "text="); ok && !says(all, words) {
			return false
		}
	}
	return true
}

var scripted = regexp.MustCompile(`^([/!]|L\d+(C\d+)?(-L?\d+(C\d+)?)?$)`)

// says looks for [prefix-,]start[,end][,-suffix] in a text in lower case.
func says(text, directive string) bool {
	at := 0
	for part := range strings.SplitSeq(directive, ",") {
		words, err := url.PathUnescape(strings.Trim(part, "-"))
		if err != nil {
			return false
		}
		words = strings.ToLower(fold(words))
		i := strings.Index(text[at:], words)
		if i < 0 {
			return false
		}
		at += i + len(words)
	}
	return true
}
