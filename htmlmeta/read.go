package htmlmeta

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"net/http"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/encoding"

	"curtsy/internal/weburl"
	"curtsy/usage"
)

// Page is a response to be read.
type Page struct {
	URL    weburl.URL  // its URL, to which references are relative
	Header http.Header // the response header; may be nil
	// Body is the decoded body, possibly truncated. It is not modified, and the Document does
	// not refer to it.
	Body []byte
	// Tags are Document.Tags of the same body, for Rewrite; nil if unknown.
	Tags []uint32
}

// Document is the result of reading a page.
type Document struct {
	Kind       Kind
	Directives Directives
	// Links are in document order, after those of headers; each URL occurs once per LinkKind.
	Links   []Link
	Capped  bool // there were more than MaxLinks
	Skipped Skipped
	Odd     []Odd // references that are mistakes, at most maxOdd

	Base      weburl.URL // of the base element; zero if there is none
	Canonical weburl.URL // zero if there is none

	Title, Lang, Charset string
	Notes                []Note

	// IDs are the ids and names that a fragment of the page's URL may refer to, in order,
	// possibly with duplicates. Fragments are those that its links name, each once, by link and
	// text. Both are incomplete if the document is Capped.
	IDs       []string
	Fragments []Fragment

	// Tags are the offsets in the body of the tags that Rewrite needs, in order; nil for XML,
	// for charsets that must be decoded first, and for other documents.
	Tags []uint32
}

// maxInner is the deepest nesting of srcdoc documents that is read.
const maxInner = 3

// Read reads a page. It never fails: what cannot be read is ignored. It is safe for concurrent
// use.
func Read(p Page, o Options) Document {
	r := readers.Get().(*reader)
	defer r.free()
	r.doc.Directives = ReadDirectives(p.Header, o)
	r.links.opts, r.links.base = o, p.URL
	r.read(p)
	r.doc.Links, r.doc.Capped, r.doc.Skipped = r.links.list, r.links.capped || r.found.cut, r.links.skip
	r.doc.Odd = r.links.odd
	return r.doc
}

// reader holds buffers that are reused for further pages.
type reader struct {
	doc   Document
	links linkSet
	scan  scanner
	found elements
	tree  tree
	inner int // nesting depth of srcdoc
	dec   *encoding.Decoder

	places tagPlaces
	known  []uint32 // Page.Tags
}

var readers = sync.Pool{New: func() any {
	r := new(reader)
	r.links.seed, r.found.seed = maphash.MakeSeed(), maphash.MakeSeed()
	return r
}}

func (r *reader) free() {
	r.doc, r.dec, r.inner, r.known = Document{}, nil, 0, nil
	r.places.reset()
	r.links.known.clear()
	r.links = linkSet{known: r.links.known, seed: r.links.seed, plain: trimmed(r.links.plain)}
	r.scan = scanner{tag: tag{attrs: trimmed(r.scan.tag.attrs)}}
	r.found.reset()
	readers.Put(r)
}

func (r *reader) read(p Page) {
	code, body, kind, asXML := textAndKind(p)
	if kind == Other && strings.HasSuffix(p.URL.Path(), ".webmanifest") {
		kind = Manifest // some servers send it as text/plain
	}
	r.doc.Kind = kind
	r.readHeader(p.Header)
	switch kind {
	case HTML, XML:
		if asXML || kind == XML {
			r.addStyleInstructions(body)
		}
		if kind == XML && isFeed(body) {
			r.readFeed(body)
			break
		}
		r.readMarkup(body, code, asXML || kind == XML)
	case CSS:
		r.readCSS(body, code)
	case Manifest:
		r.readManifest(body)
	case Script:
		r.doc.Charset = code.name
		r.links.addScript(body, "script", false)
	default:
		r.doc.Charset = code.name
	}
	if r.doc.Lang == "" {
		r.doc.Lang = firstLang(p.Header.Get("Content-Language"))
	}
}

// textAndKind determines charset and kind of a page from its header and first octets, and
// returns its body, decoded if the charset is wide.
func textAndKind(p Page) (code textCode, body []byte, kind Kind, asXML bool) {
	code, body = codeByHeader(p.Header, p.Body), p.Body
	if code.wide() {
		body = decodeAll(code, body)
	}
	kind, asXML = kindOf(p.Header, body)
	return code, body, kind, asXML
}

// readHeader reads the Link and Refresh headers. Their URLs are relative to the page's URL,
// whatever its base (RFC 8288 §3.2).
func (r *reader) readHeader(h http.Header) {
	for _, line := range h["Link"] {
		eachHeaderLink(line, func(l headerLink) {
			if l.anchored {
				return
			}
			rel := relWords(l.rel)
			r.links.add(l.target, Link{Tag: "header", Attr: "Link", Rel: rel, Kind: linkKind(rel, l.as),
				NoFollow: r.links.nofollow(rel)})
			r.canonical(rel, l.target)
			r.license(rel, l.mediaType, l.target, usage.InHeader)
		})
	}
	for _, line := range h["Refresh"] {
		if url, ok := parseRefresh(line); ok {
			r.links.add(line[url.from:url.to], Link{Tag: "header", Attr: "Refresh", Kind: Navigation})
		}
	}
}

func (r *reader) readCSS(body []byte, code textCode) {
	if !code.known() {
		code = codeByMeta(cssCharset(body))
	}
	if !code.known() {
		code = utf8Code
	}
	r.doc.Charset = code.name
	if code.enc != nil && !code.wide() {
		body = decodeAll(code, body)
	}
	r.links.addCSS(bytes.TrimPrefix(body, []byte(bomUTF8)), Link{Tag: "css", Kind: Requisite})
}

// cssCharset reads @charset "x"; at the beginning (CSS Syntax §3.2).
func cssCharset(body []byte) string {
	rest, ok := bytes.CutPrefix(body, []byte(`@charset "`))
	if !ok {
		return ""
	}
	label, _, ok := bytes.Cut(rest[:min(len(rest), 100)], []byte(`";`))
	if !ok {
		return ""
	}
	return string(label)
}

// readMarkup scans the page, builds the small tree, and selects in it.
func (r *reader) readMarkup(body []byte, code textCode, xml bool) {
	wide := code.wide()
	body = r.scanAll(body, &code, xml)
	if !xml && !wide && !code.wide() && !r.found.cut && r.inner == 0 {
		r.doc.Tags = slices.Clone(r.places.list)
	}
	r.doc.Charset = code.name
	r.setCode(code)
	all := r.tree.build(&r.found, body, r.decode)
	r.selectHead(all)
	if r.inner == 0 {
		r.addNotes(body, all.Nodes)
	}
	holders := all.FilterMatcher(selPlaces).Nodes
	r.links.list = slices.Grow(r.links.list, min(len(holders), MaxLinks))
	for _, n := range holders {
		if n.Data == "style" && n.FirstChild != nil {
			r.links.addCSS([]byte(n.FirstChild.Data), Link{Tag: "style", Kind: Requisite})
		}
		if n.Data == "script" && n.FirstChild != nil {
			r.links.addScriptText([]byte(n.FirstChild.Data), attrOf(n, "type"))
		}
		r.links.addNode(n, r)
	}
	r.links.addRustdoc(body)
	r.links.addNextData(body)
	r.links.addRouterData(body)
	if r.inner == 0 {
		r.addFragments(body)
	}
	if bytes.Contains(body, []byte("noframes")) || bytes.Contains(body, []byte("NOFRAMES")) {
		for _, m := range noframes.FindAllSubmatch(body, 4) {
			r.readInner(string(m[1]))
		}
	}
	r.tree.release()
}

// scanAll finds the elements and the charset. It returns the body to which the offsets of the
// elements refer.
func (r *reader) scanAll(body []byte, code *textCode, xml bool) []byte {
	r.collect(body, xml)
	if !code.known() {
		*code = r.declared(body, xml)
		if code.wide() {
			r.known = nil
			body = decodeAll(*code, body)
			r.collect(body, xml)
		}
	}
	if !code.known() {
		*code = detect(body)
	}
	return body
}

func (r *reader) collect(body []byte, xml bool) {
	attrs := r.scan.tag.attrs
	r.scan = scanner{src: body, xml: xml, tag: tag{attrs: attrs}, known: r.known}
	if !xml && r.known == nil {
		r.places.reset()
		r.scan.places = &r.places
	}
	r.found.reset()
	if r.inner == 0 && r.known == nil {
		r.scan.ids = &r.found.fragments.ids
	}
	r.found.collect(&r.scan)
}

// declared returns the charset that the document itself declares.
func (r *reader) declared(body []byte, xml bool) textCode {
	if bytes.HasPrefix(body, []byte("<?xml")) {
		if c := codeByMeta(xmlCharset(body)); c.known() {
			return c
		}
		if xml {
			return utf8Code
		}
	}
	for i := range r.found.list {
		if el := &r.found.list[i]; el.tag == tagMeta {
			if c := codeByMeta(r.metaCharset(el, body)); c.known() {
				return c
			}
		}
	}
	return textCode{}
}

// metaCharset returns the label of a meta element (HTML §13.2.3.2).
func (r *reader) metaCharset(el *element, src []byte) string {
	var label, content, pragma string
	for _, a := range r.found.attrs[el.attrs.from:el.attrs.to] {
		switch attrNames.list[a.id] {
		case "charset":
			label = string(a.value.of(src))
		case "http-equiv":
			pragma = string(a.value.of(src))
		case "content":
			content = string(a.value.of(src))
		}
	}
	if label == "" && strings.EqualFold(strings.Trim(pragma, asciiBlank), "content-type") {
		return charsetIn(content)
	}
	return label
}

// xmlCharset reads the encoding of an XML declaration.
func xmlCharset(body []byte) string {
	decl, _, ok := bytes.Cut(body[:min(len(body), 1024)], []byte("?>"))
	if !ok {
		return ""
	}
	_, rest, _ := bytes.Cut(decl, []byte("encoding"))
	rest = bytes.TrimLeft(rest, asciiBlank+"=")
	if len(rest) == 0 || rest[0] != '"' && rest[0] != '\'' {
		return ""
	}
	label, _, _ := bytes.Cut(rest[1:], rest[:1])
	return string(label)
}

// readInner reads a srcdoc document. Its links are added to the page's, its metas are not.
func (r *reader) readInner(text string) {
	if r.inner >= maxInner || text == "" {
		return
	}
	in := readers.Get().(*reader)
	defer in.free()
	in.inner = r.inner + 1
	in.links.opts, in.links.base = r.links.opts, r.links.base // HTML §4.2.3: srcdoc inherits the base
	in.readMarkup([]byte(text), utf8Code, false)
	for _, l := range in.links.list {
		r.links.addURL(l.URL, l)
	}
	r.links.capped = r.links.capped || in.links.capped
}

// setCode sets the charset for decode.
func (r *reader) setCode(code textCode) {
	r.links.code, r.dec = code, nil
	if code.enc != nil && !code.wide() {
		r.dec = code.enc.NewDecoder()
	}
}

// decode appends the decoded text of a raw value.
func (r *reader) decode(dst, raw []byte, entities bool) []byte {
	text := raw
	if !isASCIIBytes(raw) {
		text = r.toUTF8(raw)
	}
	if bytes.IndexByte(text, 0) >= 0 {
		text = bytes.ReplaceAll(text, []byte{0}, []byte("\uFFFD")) // HTML §13.2.5: in values and in RCDATA
	}
	if entities && bytes.IndexByte(text, '&') >= 0 {
		return appendUnescaped(dst, string(text))
	}
	return append(dst, text...)
}

func (r *reader) toUTF8(raw []byte) []byte {
	if r.dec != nil {
		if text, err := r.dec.Bytes(raw); err == nil {
			return text
		}
	}
	return bytes.ToValidUTF8(raw, []byte("\uFFFD"))
}

func isASCIIBytes(b []byte) bool {
	for len(b) >= 8 && binary.LittleEndian.Uint64(b)&0x8080808080808080 == 0 {
		b = b[8:]
	}
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// decodeAll decodes a complete body.
func decodeAll(code textCode, body []byte) []byte {
	text, err := code.enc.NewDecoder().Bytes(body)
	if err != nil {
		return bytes.ToValidUTF8(body, []byte("\uFFFD"))
	}
	return bytes.TrimPrefix(text, []byte(bomUTF8))
}
