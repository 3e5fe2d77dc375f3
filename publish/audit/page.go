package audit

import (
	"net/url"
	"regexp"
	"strings"

	"curtsy/facts"
	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
)

// Page is what a check of a page looks at, as its author wrote it.
type Page struct {
	URL          weburl.URL
	Lang         string // of the html element
	Titles       []string
	Headings     []string // of each h1 whether it has a text: "", or "text"
	Descriptions []string
	Robots       []string // contents of meta robots
	Canonicals   []string // as written, in the head
	Misplaced    []string // canonicals in the body
	Alternates   []Alternate
	NoAlt        []string            // sources of images, and links of areas, without an alt attribute
	Faults       map[string][]string // what the elements alone tell: by the name of the check, what is to be said
	Odd          []htmlmeta.Odd      // references that nobody can follow
	ByHTTP       []string            // what a page that came by https loads by http
}

// Alternate is a page in another language (link rel=alternate hreflang).
type Alternate struct{ Lang, Href string }

// faultOf is the check that a note alone is a fault for.
var faultOf = map[htmlmeta.NoteName]string{htmlmeta.NoteZoom: "zoom-forbidden", htmlmeta.NoteRefresh: "meta-refresh",
	htmlmeta.NoteFrame: "frame-untitled", htmlmeta.NoteSkips: "heading-skips", htmlmeta.NoteIDTwice: "id-twice"}

// Read makes a page of what was read of it.
func Read(said *facts.Facts) *Page {
	p := &Page{URL: said.URL, Faults: map[string][]string{}, Odd: append([]htmlmeta.Odd(nil), said.Odd...)}
	view := false
	for _, n := range said.Notes {
		view = view || n.Name == htmlmeta.NoteViewport
		p.take(n)
	}
	if !view {
		p.Faults["viewport-missing"] = []string{""}
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
			p.Faults["form-insecure"] = append(p.Faults["form-insecure"], l.URL.String())
		}
	}
	return p
}

// take takes in a note.
func (p *Page) take(n htmlmeta.Note) {
	switch n.Name {
	case htmlmeta.NoteTitle:
		p.Titles = append(p.Titles, n.Text)
	case htmlmeta.NoteHeading:
		p.Headings = append(p.Headings, n.Text)
	case htmlmeta.NoteDescription:
		p.Descriptions = append(p.Descriptions, n.Text)
	case htmlmeta.NoteRobots:
		p.Robots = append(p.Robots, n.Text)
	case htmlmeta.NoteCanonical:
		p.Canonicals = append(p.Canonicals, n.Text)
	case htmlmeta.NoteMisplaced:
		p.Misplaced = append(p.Misplaced, n.Text)
	case htmlmeta.NoteAlternate:
		lang, href, _ := strings.Cut(n.Text, " ")
		p.Alternates = append(p.Alternates, Alternate{lang, href})
	case htmlmeta.NoteLang:
		p.Lang = n.Text
	case htmlmeta.NoteNoAlt:
		p.NoAlt = append(p.NoAlt, n.Text)
	default:
		if check := faultOf[n.Name]; check != "" {
			p.Faults[check] = append(p.Faults[check], n.Text)
		}
	}
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
