package htmlmeta

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"curtsy/internal/weburl"
)

// Change says how a reference is changed.
type Change uint8

const (
	Leave  Change = iota // keep it
	Local                // replace it by a reference to a local file
	Live                 // replace it by an absolute reference
	Silent               // disable it: the attribute is renamed, so that no browser loads the URL, which stays readable
)

// Reference is a reference of a document being rewritten.
type Reference struct {
	Link
	Text     string // as written, with entities and escapes decoded
	Fragment string // with its '#', or ""
}

// Rewriting are the options of Rewrite.
type Rewriting struct {
	// Ref decides about a reference. The new text must be ASCII without blanks, quotes,
	// parentheses and commas.
	Ref func(Reference) (Change, string)
	// Head is inserted at the beginning of the head, also of srcdoc documents.
	Head string
	// NoTranslate puts translate="no" on the html element.
	NoTranslate bool
	// Policy is a Content-Security-Policy to insert into pages; "": none.
	Policy string
	// Script is the URL of a script to insert before those of a page; pages without scripts do
	// not get it.
	Script string
	// Inline returns the markup of an SVG sprite of which a page uses parts, with prefix added
	// to all its ids, and the base URL of its references; "" if there is none. If Inline is
	// nil, nothing is inlined.
	Inline func(u weburl.URL, prefix string) (markup string, base weburl.URL)
	// Room, if not nil, is a buffer that Body may use. Rewrite overwrites it and stores the
	// grown buffer there for the next page.
	Room *[]byte
	// Stop, if not nil, is called at each tag and reference. Once it returns true, rewriting
	// stops, and the result is Partial.
	Stop func() bool
}

// Rewritten is the result of Rewrite.
type Rewritten struct {
	Body    []byte
	Changed bool // if false, Body is the page's own
	Kind    Kind
	Partial bool // stopped by Rewriting.Stop; Body is invalid
	// NeedsHTTP lists features of the page that browsers refuse for file: URLs: "module",
	// "fetch", "worker", "use".
	NeedsHTTP []string
	// Scripted means that Rewriting.Script was inserted.
	Scripted bool
}

// Rewrite replaces the references of a page and leaves all other octets unchanged. It rewrites
// the references that Read reads, by the same table. They are resolved against the base
// element, which is then removed, as are CSP in metas, and integrity and crossorigin of
// references that became local.
func Rewrite(p Page, o Rewriting) Rewritten {
	r := readers.Get().(*reader)
	defer r.free()
	r.links.base = p.URL
	code, body, kind, asXML := textAndKind(p)
	w := &rewriter{r: r, o: o, byHeader: code, header: p.Header}
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
	case kind == XML:
		w.src, w.code, w.xml = body, code, true
		w.styleInstructions()
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

// isSVG reports whether an XML document is an SVG image. In other XML, such as feeds and
// sitemaps, references are data and are not changed, except those to style sheets in the prolog.
func isSVG(body []byte) bool { return XMLRoot(body) == "svg" }

// XMLRoot returns the local name of an XML document's root element, after comments, processing
// instructions and doctype; "" if there is none in body.
func XMLRoot(body []byte) string {
	s := scanner{src: body, xml: true, every: true}
	if !s.next() || s.tag.end {
		return ""
	}
	name := string(s.tag.name.of(body))
	return name[strings.IndexByte(name, ':')+1:]
}

// rewriter copies src to out and applies edits.
type rewriter struct {
	r        *reader
	o        Rewriting
	src, out []byte
	last     int // offset up to which src is copied
	changed  bool
	edits    []edit // of the current tag, unsorted
	code     textCode
	byHeader textCode
	header   map[string][]string
	xml      bool
	numeric  bool // write non-ASCII letters in local references as character references
	hasBase  bool
	front    string // to be inserted at the beginning of the head
	looked   int    // offset up to which no text was found before it
	html     bool   // the html element was seen
	scripted bool   // front includes Rewriting.Script
	needs    []string
	sprites  []sprite
	partial  bool
}

// stopped reports whether Rewriting.Stop asked to stop.
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

// apply applies the pending edits. It drops edits before what is copied, and overlapping ones,
// which occur in broken markup only.
func (w *rewriter) apply() {
	if len(w.edits) > 1 {
		slices.SortStableFunc(w.edits, func(a, b edit) int { return a.at.from - b.at.from })
	}
	for _, e := range w.edits {
		if e.at.from < w.last || e.at.to < e.at.from {
			continue
		}
		if !w.changed {
			w.out = slices.Grow(w.out, len(w.src)+len(w.src)/8+256) // growing by append would need twice the memory
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

// ref decides about a reference. It leaves references to other schemes and to places in the
// same document.
func (w *rewriter) ref(text string, l Link) (Change, string) {
	if w.stopped() {
		return Leave, ""
	}
	ref := trimRef(text)
	bare, fragment := cutFragment(ref)
	if bare == "" && !w.hasBase && !(l.Kind == Navigation && weburl.IsRoute(fragment)) || foreignScheme(bare) {
		return Leave, ""
	}
	if bare == "" && l.Kind != Navigation && l.Kind != Form {
		return Leave, "" // a part of this document, or empty
	}
	u, err := w.r.links.resolve(bare)
	if err != nil {
		return Leave, ""
	}
	l.URL = u
	return w.o.Ref(Reference{Link: l, Text: text, Fragment: fragment})
}

// cutFragment splits off the fragment, which keeps its '#'.
func cutFragment(ref string) (bare, fragment string) {
	bare, _, _ = strings.Cut(ref, "#")
	return bare, ref[len(bare):]
}

// KindOf says how Read and Rewrite treat a response: by its Content-Type or, if that says
// nothing, by the beginning of its body.
func KindOf(h http.Header, body []byte) Kind {
	kind, _ := kindOf(h, body)
	return kind
}

func trimRef(s string) string { return strings.TrimFunc(s, func(r rune) bool { return r <= ' ' }) }

// encodeAll encodes text that was decoded as a whole into its charset again, with the byte
// order mark of the original.
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
