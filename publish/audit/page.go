package audit

import (
	"fmt"
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
	Canonicals   []string // as written, in the head
	Misplaced    []string // canonicals in the body
	Alternates   []Alternate
	NoAlt        []string // sources of images, and links of areas, without an alt attribute
	Faults       []Fault  // what a check of the elements alone finds
	Refs         []Ref
	IDs          map[string]bool
}

// Fault is one of an element: the name of its check, and what is to be said of it.
type Fault struct{ Check, Detail string }

// Alternate is a page in another language (link rel=alternate hreflang).
type Alternate struct{ Lang, Href string }

// Ref is a reference as it stands in a page.
type Ref struct {
	Tag, Text string
	URL       weburl.URL // without the fragment; zero where there is none
	Odd       string     // why it is no URL that anybody can follow
	Loads     bool       // a browser loads it to show the page
}

// maxPage bounds what is read of a page, in octets.
const maxPage = 16 << 20

// maxRefs bounds the references of a page.
const maxRefs = 100_000

// Read reads a page. contentType is that of its header. It never fails: what cannot
// be read is not there.
func Read(at weburl.URL, contentType string, body io.Reader) *Page {
	p := &Page{URL: at, IDs: map[string]bool{}}
	r := &reader{p: p, base: at}
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
	in    atom.Atom // the element whose text is gathered: title, h1; or not read: script, style
	words strings.Builder
	svg   int
	body  bool // the body has begun
	level int  // of the last heading
	view  bool // there is a viewport
}

func (r *reader) read(z *html.Tokenizer) {
	z.SetMaxBuf(maxPage)
	for {
		switch z.Next() {
		case html.ErrorToken:
			if !r.view {
				r.fault("viewport-missing", "")
			}
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
}

func (r *reader) end(a atom.Atom) {
	if a == atom.Svg && r.svg > 0 {
		r.svg--
	}
	if a == r.in {
		text := fold(html.UnescapeString(r.words.String()))
		switch a {
		case atom.Title:
			r.p.Titles = append(r.p.Titles, text)
		case atom.H1:
			r.p.Headings = append(r.p.Headings, text)
		}
		r.in = 0
	}
}

func (r *reader) start(t html.Token) {
	attr := map[string]string{}
	for _, a := range slices.Backward(t.Attr) { // the first of duplicates counts
		attr[a.Key] = a.Val
	}
	if id := attr["id"]; id != "" {
		if r.p.IDs[id] {
			r.fault("id-twice", id)
		}
		r.p.IDs[id] = true
	}
	r.body = r.body || !slices.Contains(ofHead, t.DataAtom)
	r.accessible(t.DataAtom, attr)
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
	r.refs(t.DataAtom, attr)
}

// ofHead are the elements that leave the head open (HTML §13.2.6.4.4), without which it is the body.
var ofHead = []atom.Atom{atom.Html, atom.Head, atom.Base, atom.Link, atom.Meta, atom.Title, atom.Script, atom.Style,
	atom.Noscript, atom.Template}

func (r *reader) fault(check, detail string) { r.p.Faults = append(r.p.Faults, Fault{check, detail}) }

// accessible looks at an element as who cannot see it, or not well, meets it (WCAG 1.1.1, 1.3.1, 4.1.2).
func (r *reader) accessible(a atom.Atom, attr map[string]string) {
	hidden := attr["role"] == "presentation" || attr["aria-hidden"] == "true"
	named := attr["aria-label"]+attr["aria-labelledby"] != ""
	_, hasAlt := attr["alt"]
	_, links := attr["href"]
	switch a {
	case atom.Img:
		if !hasAlt && !hidden {
			r.p.NoAlt = append(r.p.NoAlt, attr["src"])
		}
	case atom.Area:
		if links && !hasAlt && !named {
			r.p.NoAlt = append(r.p.NoAlt, attr["href"])
		}
	case atom.Input:
		if strings.EqualFold(attr["type"], "image") && !hasAlt && !named && attr["title"] == "" {
			r.p.NoAlt = append(r.p.NoAlt, attr["src"])
		}
	case atom.Iframe, atom.Frame:
		if attr["title"] == "" && !named && !hidden {
			r.fault("frame-untitled", attr["src"])
		}
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		level := int(a.String()[1] - '0')
		if r.level > 0 && level > r.level+1 {
			r.fault("heading-skips", fmt.Sprintf("h%d after h%d", level, r.level))
		}
		r.level = level
	case atom.Form:
		if u, err := r.base.Resolve(attr["action"]); err == nil && r.p.URL.Scheme() == "https" && u.Scheme() == "http" {
			r.fault("form-insecure", u.String())
		}
	}
}

func (r *reader) meta(attr map[string]string) {
	switch strings.ToLower(strings.TrimSpace(attr["name"])) {
	case "description":
		r.p.Descriptions = append(r.p.Descriptions, fold(attr["content"]))
	case "robots":
		r.p.Robots = append(r.p.Robots, attr["content"])
	case "viewport":
		r.view = true
		if content := strings.ReplaceAll(strings.ToLower(attr["content"]), " ", ""); noZoom.MatchString(content) {
			r.fault("zoom-forbidden", content)
		}
	}
	if strings.EqualFold(attr["http-equiv"], "refresh") && attr["content"] != "" {
		r.fault("meta-refresh", attr["content"])
	}
}

var noZoom = regexp.MustCompile(`(^|[,;])(user-scalable=(no|0)|maximum-scale=(0|1)(\.\d*)?)([,;]|$)`)

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
		case slices.Contains(rel, "canonical") && r.body:
			r.p.Misplaced = append(r.p.Misplaced, strings.TrimSpace(href))
		case slices.Contains(rel, "canonical"):
			r.p.Canonicals = append(r.p.Canonicals, strings.TrimSpace(href))
		case slices.Contains(rel, "alternate") && attr["hreflang"] != "":
			r.p.Alternates = append(r.p.Alternates, Alternate{strings.TrimSpace(attr["hreflang"]),
				strings.TrimSpace(href)})
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
	before, _, _ := strings.Cut(text, "#")
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
