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

// Page is the input of the page checks, as its author wrote it.
type Page struct {
	URL    weburl.URL
	Notes  map[htmlmeta.NoteName][]string // texts by name, in document order
	Odd    []htmlmeta.Odd                 // references that cannot be followed
	ByHTTP []string                       // http URLs that an https page loads
	Forms  []string                       // http URLs that an https page's forms submit to
}

// alternate is a page in another language (link rel=alternate hreflang).
type alternate struct{ lang, url string }

// Read makes a Page of the facts of a page.
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

// first returns the text of the first note of a name; "" for none.
func (p *Page) first(n htmlmeta.NoteName) string {
	if len(p.Notes[n]) == 0 {
		return ""
	}
	return p.Notes[n][0]
}

// Leads reports whether a fragment leads to a place in a page: an id or a name in it, and the
// texts of a text fragment (":~:text="). Fragments that scripts interpret, such as routes and
// line numbers of source files, count as leading.
func Leads(fragment string, has func(id string) bool, text func() string) bool {
	name, directive, isText := strings.Cut(fragment, ":~:")
	if name != "" && !strings.EqualFold(name, "top") && !scripted.MatchString(name) {
		decoded, err := url.PathUnescape(name)
		if err != nil {
			decoded = name
		}
		if !has(name) && !has(decoded) && !has("user-content-"+decoded) { // GitHub's prefix for headings
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

// says reports whether text, in lower case, has what [prefix-,]start[,end][,-suffix] names.
func says(text, directive string) bool {
	at := 0
	for part := range strings.SplitSeq(directive, ",") {
		words, err := url.PathUnescape(strings.Trim(part, "-"))
		if err != nil {
			return false
		}
		words = strings.ToLower(strings.Join(strings.Fields(words), " "))
		i := strings.Index(text[at:], words)
		if i < 0 {
			return false
		}
		at += i + len(words)
	}
	return true
}
