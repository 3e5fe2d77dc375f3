package htmlmeta

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"curtsy/internal/weburl"
)

// Change is what is to become of a reference.
type Change uint8

const (
	Leave  Change = iota // as it stands
	Local                // another reference, to a file of the same tree
	Live                 // another reference, absolute
	Silent               // nothing a browser would load: the attribute is renamed, the URL stays legible in it
)

// Reference is one reference of a document, while it is rewritten.
type Reference struct {
	Link
	Text     string // as written, without entities and escapes
	Fragment string // with its '#', or ""
	Plain    bool   // it is relative to the page's own URL: see Rewriting.Known
}

// Rewriting says what Rewrite is to change.
type Rewriting struct {
	// Ref decides about one reference. The new text is ASCII and holds no
	// blanks, quotes, parentheses and commas.
	Ref func(Reference) (Change, string)
	// Known is asked before Ref about an attribute that is one reference: octets of ASCII
	// that mean what they are, relative to the page's own URL. Where it knows that Ref would
	// make it a Local one, it gives that, "" for one that is so already. nil knows nothing.
	Known func(ref []byte, kind LinkKind) (to string, ok bool)
	// Head is put in at the beginning of the head, before all that the page has
	// there itself; in documents of srcdoc too.
	Head string
	// NoTranslate puts translate="no" on the html element.
	NoTranslate bool
	// Policy is a Content-Security-Policy to be put into pages; "" puts in none.
	Policy string
	// Script is the reference of a script that comes before those of a page; a
	// page without any gets none.
	Script string
	// Inline gives the markup of an SVG sprite whose parts a page uses, with
	// prefix in front of all its ids, and the URL that its references are
	// resolved against; "" if there is none. nil inlines nothing.
	Inline func(u weburl.URL, prefix string) (markup string, base weburl.URL)
	// Room, where it is not nil, is memory that the Body may be put in: what it held is
	// overwritten, and it becomes what the next page may have.
	Room *[]byte
	// Stop, where it is not nil, is asked at each tag and reference: once it is
	// true, the rest is not read, and the page is Partial.
	Stop func() bool
}

// Rewritten is a page after rewriting.
type Rewritten struct {
	Body    []byte
	Changed bool // if not, Body is the page's own
	Kind    Kind
	Partial bool // it was stopped, and its Body means nothing
	// NeedsHTTP are the things in the page that browsers refuse on a file:
	// URL: "module", "fetch", "worker", "use".
	NeedsHTTP []string
	// Scripted says that the page got the script of Rewriting.
	Scripted bool
}

// Rewrite replaces the references of a page and leaves every other octet as
// it is. References are those that Read reads, by the same table; they are
// resolved against the base, which is then removed, as are CSP in metas, and
// integrity and crossorigin where what they guard is now a local file.
func Rewrite(p Page, o Rewriting) Rewritten {
	r := readers.Get().(*reader)
	defer r.free()
	r.links.base = p.URL
	code := codeByHeader(p.Header, p.Body)
	body := p.Body
	if code.wide() {
		body = decodeAll(code, body)
	}
	kind, asXML := kindOf(p.Header, body)
	w := &rewriter{r: r, o: o, byHeader: code, header: p.Header, home: p.URL}
	if o.Room != nil {
		w.out = (*o.Room)[:0]
	}
	switch {
	case kind == CSS:
		w.sheet(body, code)
	case kind == Script:
		w.scriptFile(body, code)
	case kind == HTML, kind == XML && isSVG(body):
		if !code.wide() && !asXML && kind == HTML && arePlaces(p.Tags, body) {
			r.known = p.Tags
		}
		w.page(body, code, asXML || kind == XML)
	}
	out := Rewritten{Body: p.Body, Kind: kind, NeedsHTTP: w.needs, Scripted: w.scripted, Partial: w.partial}
	if w.changed && !w.partial {
		out.Changed = true
		out.Body = encodeAll(w.code, w.finish(), p.Body)
	}
	if o.Room != nil {
		*o.Room = w.out
	}
	return out
}

// isSVG says whether an XML document is a picture: of other XML, such as
// feeds and sitemaps, references are data and stay as they are.
func isSVG(body []byte) bool { return XMLRoot(body) == "svg" }

// XMLRoot is the local name of an XML document's root element, behind comments,
// instructions and a doctype; "" if body does not reach so far.
func XMLRoot(body []byte) string {
	s := scanner{src: body, xml: true, every: true}
	if !s.next() || s.tag.end {
		return ""
	}
	name := string(s.tag.name.of(body))
	return name[strings.IndexByte(name, ':')+1:]
}

// rewriter copies src to out, piece by piece, with edits in between.
type rewriter struct {
	r        *reader
	o        Rewriting
	home     weburl.URL // what references are relative to, where Known may be asked
	src, out []byte
	last     int // what lies before is copied
	changed  bool
	edits    []edit // of the current tag, in any order
	code     textCode
	byHeader textCode
	header   map[string][]string
	xml      bool
	numeric  bool // letters of other scripts in local references are character references
	hasBase  bool
	front    string // to be put in at the beginning of the head
	html     bool   // the html element has been seen
	scripted bool   // front has the script of Rewriting
	needs    []string
	sprites  []sprite
	partial  bool
}

// stopped says whether nobody wants the page any more.
func (w *rewriter) stopped() bool {
	w.partial = w.partial || w.o.Stop != nil && w.o.Stop()
	return w.partial
}

// edit replaces src[at] by text.
type edit struct {
	at   span
	text string
}

func (w *rewriter) edit(at span, text string) {
	w.edits = append(w.edits, edit{at, text})
}

// apply does the edits noted so far. Those that lie before what is copied, or
// within another one, are dropped: only broken markup has such.
func (w *rewriter) apply() {
	if len(w.edits) > 1 {
		slices.SortStableFunc(w.edits, func(a, b edit) int { return a.at.from - b.at.from })
	}
	for _, e := range w.edits {
		if e.at.from < w.last || e.at.to < e.at.from {
			continue
		}
		if !w.changed {
			w.out = slices.Grow(w.out, len(w.src)+len(w.src)/8+256) // growing by itself, it would be there twice
		}
		w.out = append(append(w.out, w.src[w.last:e.at.from]...), e.text...)
		w.last, w.changed = e.at.to, true
	}
	w.edits = w.edits[:0]
}

func (w *rewriter) finish() []byte {
	w.out = append(w.out, w.src[w.last:]...)
	w.last = len(w.src)
	return w.out
}

func (w *rewriter) need(what string) {
	if !slices.Contains(w.needs, what) {
		w.needs = append(w.needs, what)
	}
}

// ref asks what is to become of a reference; ok false leaves it alone: it is
// no URL of ours, or a place in this very document.
func (w *rewriter) ref(text string, l Link) (Change, string) {
	if w.stopped() {
		return Leave, ""
	}
	ref := trimRef(text)
	i := indexByteOrLen(ref, '#')
	bare, fragment := ref[:i], ref[i:]
	if bare == "" && !w.hasBase && !(l.Kind == Navigation && weburl.IsRoute(fragment)) || foreignScheme(bare) {
		return Leave, ""
	}
	if bare == "" && l.Kind != Navigation && l.Kind != Form {
		return Leave, "" // a part of this document, or nothing at all
	}
	u, err := w.r.links.resolve(bare)
	if err != nil {
		return Leave, ""
	}
	l.URL = u
	plain := w.o.Known != nil && ref == text && bare != "" && bare[0] != '?' && isASCII(bare) &&
		w.r.links.base == w.home
	return w.o.Ref(Reference{Link: l, Text: text, Fragment: fragment, Plain: plain})
}

// KindOf says how Read and Rewrite read a response: by its Content-Type, and
// where that says nothing, by the beginning of its body.
func KindOf(h http.Header, body []byte) Kind {
	kind, _ := kindOf(h, body)
	return kind
}

func trimRef(s string) string {
	for s != "" && s[0] <= ' ' {
		s = s[1:]
	}
	for s != "" && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	return s
}

func indexByteOrLen(s string, c byte) int {
	for i := 0; i < len(s); i++ {
		if s[i] == c {
			return i
		}
	}
	return len(s)
}

// encodeAll brings text that was decoded as a whole back into its charset,
// with the byte order mark that the original had.
func encodeAll(code textCode, text, original []byte) []byte {
	if !code.wide() {
		return text
	}
	out, err := encoderOf(code).Bytes(text)
	if err != nil {
		return original
	}
	for _, bom := range []string{bomUTF16LE, bomUTF16BE} {
		if bytes.HasPrefix(original, []byte(bom)) {
			return append([]byte(bom), bytes.TrimPrefix(out, []byte(bom))...)
		}
	}
	return out
}
