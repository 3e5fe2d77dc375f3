package audit

import (
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"

	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
)

// Page is what a check of a page looks at, as its author wrote it.
type Page struct {
	URL          weburl.URL
	Lang         string // of the html element
	Titles       []string
	Headings     []string // h1
	Descriptions []string
	Robots       []string // contents of meta robots
	Canonicals   []string // as written
	Alternates   []Alternate
	NoAlt        []string // sources of images without an alt attribute
	Refs         []Ref
	IDs          map[string]bool // what a fragment may name
	Text         string          // what a reader sees, blanks folded; only where it was asked for
}

// Alternate is a page in another language (link rel=alternate hreflang).
type Alternate struct{ Lang, Href string }

// Ref is a reference as it stands in a page.
type Ref struct {
	Tag, Text string
	URL       weburl.URL // without the fragment; zero where there is none
	Fragment  string     // without its '#'
	Odd       string     // why it is no URL that anybody can follow
	Loads     bool       // a browser loads it to show the page
}

// maxPage bounds what is read of a page, and maxText its text, in octets.
const (
	maxPage = 16 << 20
	maxText = 1 << 20
)

// maxRefs bounds the references of a page.
const maxRefs = 100_000

// Read reads a page. contentType is that of its header. It never fails: what cannot
// be read is not there.
func Read(at weburl.URL, contentType string, body io.Reader, text bool) *Page {
	p := &Page{URL: at, IDs: map[string]bool{}}
	r := &reader{p: p, base: at, text: text}
	if decoded, err := charset.NewReader(io.LimitReader(body, maxPage), contentType); err == nil {
		r.read(html.NewTokenizer(decoded))
	}
	return p
}

// reader is a page being read.
type reader struct {
	p     *Page
	base  weburl.URL
	based bool
	text  bool
	seen  strings.Builder
	in    atom.Atom // the element whose text is gathered: title, h1; or not read: script, style
	words strings.Builder
	svg   int
}

func (r *reader) read(z *html.Tokenizer) {
	z.SetMaxBuf(maxPage)
	for {
		switch z.Next() {
		case html.ErrorToken:
			r.p.Text = fold(r.seen.String())
			return
		case html.TextToken:
			r.gather(z.Text())
		case html.StartTagToken, html.SelfClosingTagToken:
			r.start(z.Token())
		case html.EndTagToken:
			name, _ := z.TagName()
			r.end(atom.Lookup(name))
		}
	}
}

func (r *reader) gather(raw []byte) {
	if r.in == atom.Title || r.in == atom.H1 {
		r.words.Write(raw)
	}
	if r.text && r.in != atom.Script && r.in != atom.Style && r.in != atom.Title && r.seen.Len() < maxText {
		r.seen.Write(raw)
	}
}

func (r *reader) end(a atom.Atom) {
	switch {
	case a == atom.Svg && r.svg > 0:
		r.svg--
	case a == r.in && a == atom.Title:
		r.p.Titles = append(r.p.Titles, fold(html.UnescapeString(r.words.String())))
		r.in = 0
	case a == r.in && a == atom.H1:
		r.p.Headings = append(r.p.Headings, fold(html.UnescapeString(r.words.String())))
		r.in = 0
	case a == r.in:
		r.in = 0
	}
	if r.text && a != atom.A && a != atom.B && a != atom.I && a != atom.Em && a != atom.Strong && a != atom.Span && a != atom.Code {
		r.seen.WriteByte(' ')
	}
}

func (r *reader) start(t html.Token) {
	attr := map[string]string{}
	for _, a := range slices.Backward(t.Attr) { // the first of duplicates counts
		attr[a.Key] = a.Val
	}
	if id := attr["id"]; id != "" {
		r.p.IDs[id] = true
	}
	switch t.DataAtom {
	case atom.Svg:
		if t.Type == html.StartTagToken {
			r.svg++
		}
	case atom.Title, atom.H1, atom.Script, atom.Style:
		if t.Type == html.StartTagToken && (t.DataAtom != atom.Title || r.svg == 0) && r.in == 0 {
			r.in = t.DataAtom
			r.words.Reset()
		}
	case atom.Html:
		r.p.Lang = strings.TrimSpace(attr["lang"])
	case atom.Base:
		if u, err := r.p.URL.Resolve(attr["href"]); err == nil && !r.based && attr["href"] != "" {
			r.base, r.based = u, true
		}
	case atom.Meta:
		r.meta(attr)
	}
	if alt, has := attr["alt"]; t.DataAtom == atom.Img && !has && alt == "" && attr["role"] != "presentation" && attr["aria-hidden"] != "true" {
		r.p.NoAlt = append(r.p.NoAlt, attr["src"])
	}
	r.refs(t.DataAtom, attr)
}

func (r *reader) meta(attr map[string]string) {
	switch strings.ToLower(strings.TrimSpace(attr["name"])) {
	case "description":
		r.p.Descriptions = append(r.p.Descriptions, fold(attr["content"]))
	case "robots":
		r.p.Robots = append(r.p.Robots, attr["content"])
	}
}

// refs takes in what an element refers to.
func (r *reader) refs(a atom.Atom, attr map[string]string) {
	href, hasHref := attr["href"]
	src, hasSrc := attr["src"]
	switch a {
	case atom.A, atom.Area:
		if name := attr["name"]; a == atom.A && name != "" {
			r.p.IDs[name] = true
		}
		if hasHref {
			r.add(a, href, false)
		}
	case atom.Link:
		rel := strings.Fields(strings.ToLower(attr["rel"]))
		switch {
		case slices.Contains(rel, "canonical"):
			r.p.Canonicals = append(r.p.Canonicals, strings.TrimSpace(href))
		case slices.Contains(rel, "alternate") && attr["hreflang"] != "":
			r.p.Alternates = append(r.p.Alternates, Alternate{strings.TrimSpace(attr["hreflang"]), strings.TrimSpace(href)})
		case slices.Contains(rel, "stylesheet"), slices.Contains(rel, "icon"):
			r.add(a, href, true)
		}
	case atom.Img, atom.Script, atom.Iframe, atom.Audio, atom.Video, atom.Source, atom.Embed:
		if hasSrc {
			r.add(a, src, true)
		}
	}
}

// add takes in one reference.
func (r *reader) add(a atom.Atom, text string, loads bool) {
	if len(r.p.Refs) >= maxRefs {
		return
	}
	text = strings.Trim(text, " \t\r\n\f")
	ref := Ref{Tag: a.String(), Text: text, Loads: loads}
	before, fragment, _ := strings.Cut(text, "#")
	ref.Fragment = fragment
	why, other := htmlmeta.OddScheme(text)
	if ref.Odd = why; !other {
		u, err := r.base.Resolve(before)
		if err != nil {
			ref.Odd = htmlmeta.OddURL(err)
		}
		ref.URL = u
	}
	r.p.Refs = append(r.p.Refs, ref)
}

// fold makes blanks one, and takes those round a text away.
func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// Holds says whether a fragment leads to a place in the page.
func (p *Page) Holds(fragment string) bool {
	return Leads(fragment, func(id string) bool { return p.IDs[id] }, p.Says)
}

// Leads says whether a fragment leads to a place in a page: an id or a name that it
// has, and texts that it says (text fragments). What scripts make of a fragment is not
// looked at: a route, a line of a source file.
func Leads(fragment string, has, says func(string) bool) bool {
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
	for part := range strings.SplitSeq(directive, "&") {
		if text, ok := strings.CutPrefix(part, "text="); ok && !says(text) {
			return false
		}
	}
	return true
}

var scripted = regexp.MustCompile(`^([/!]|L\d+(C\d+)?(-L?\d+(C\d+)?)?$)`)

// Says looks for [prefix-,]start[,end][,-suffix] in the text.
func (p *Page) Says(directive string) bool {
	at, text := 0, strings.ToLower(p.Text)
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
