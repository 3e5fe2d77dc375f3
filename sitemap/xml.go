package sitemap

import (
	"bufio"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"curtsy/internal/dates"
)

// maxDepth is the most open elements tracked; deeper ones are only counted.
const maxDepth = 16

// xmlReader reads the XML kinds. It matches elements by local name in any namespace, and
// ignores the content of elements of other vocabularies (images, videos, news).
type xmlReader struct {
	s     *reader
	in    tokens
	stack []token // open elements, at most maxDepth
	deep  int     // number of further open elements
	item  string  // name of an entry's element: url, sitemap, item or entry
	child bool    // entries are sitemaps

	open      bool // within an entry
	complete  bool // the entry has a complete loc
	entry     Entry
	guid      string
	permalink bool
	text      strings.Builder // of the current element
	entity    bool            // the text refers to an entity of the DTD
}

func (s *reader) readXML(in *bufio.Reader) {
	x := &xmlReader{s: s, in: tokens{in: in}}
	root, ok := x.root()
	if !ok || !x.begin(root) || root.empty {
		return
	}
	for {
		t := x.in.next()
		more := true
		switch t.kind {
		case tokenEnd:
			s.truncate("cut off")
			x.finish()
			return
		case tokenOpen:
			more = x.start(t)
		case tokenClose:
			more = x.end(t)
		case tokenText:
			x.chars(t)
		}
		if !more || len(x.stack) == 0 {
			return
		}
	}
}

// root returns the first element; false for an HTML document.
func (x *xmlReader) root() (token, bool) {
	for {
		t := x.in.next()
		switch {
		case t.kind == tokenEnd || t.html:
			return t, false
		case t.kind == tokenOpen:
			return t, true
		}
	}
}

// begin determines the kind of file by its root element.
func (x *xmlReader) begin(root token) bool {
	kinds := map[string]struct {
		kind Kind
		item string
	}{
		"urlset":       {URLSet, "url"},
		"sitemapindex": {Index, "sitemap"},
		"rss":          {RSS, "item"},
		"rdf":          {RSS, "item"},
		"feed":         {Atom, "entry"},
	}
	k, ok := kinds[strings.ToLower(root.name)]
	if !ok {
		return false
	}
	x.s.sum.Kind, x.item, x.child = k.kind, k.item, k.kind == Index
	x.push(root)
	return true
}

func (x *xmlReader) push(t token) {
	if len(x.stack) < maxDepth {
		x.stack = append(x.stack, t)
		return
	}
	x.deep++
}

// start opens an element. The start of an entry ends an open one.
func (x *xmlReader) start(t token) bool {
	more := true
	x.text.Reset()
	x.entity = false
	switch {
	case t.name == x.item:
		more = x.finish()
		x.open, x.entry, x.permalink = true, Entry{Priority: -1}, true
	case x.open:
		more = x.startInEntry(t)
	}
	if !t.empty {
		x.push(t)
	} else if t.name == x.item {
		more = more && x.finish()
	}
	return more
}

// startInEntry handles attributes: links of Atom, alternates.
func (x *xmlReader) startInEntry(t token) bool {
	switch {
	case t.name == "guid":
		x.permalink = !strings.EqualFold(x.in.attr(t, "isPermaLink"), "false")
	case t.name != "link" || x.in.attr(t, "href") == "" || !x.direct():
	case x.s.sum.Kind == Atom:
		if rel := x.in.attr(t, "rel"); !x.complete && (rel == "" || rel == "alternate") {
			x.entry.Loc, x.complete = x.based(t, x.in.attr(t, "href")), true
		}
	case x.s.sum.Kind == URLSet && strings.EqualFold(x.in.attr(t, "rel"), "alternate"):
		e := Entry{Loc: x.in.attr(t, "href"), Priority: -1, Alternate: true}
		return x.s.add(e, false)
	}
	return true
}

// based resolves a reference against the xml:base of its element and of those around it (RFC 4287 §2).
func (x *xmlReader) based(t token, ref string) string {
	at, err := url.Parse(x.s.base.String())
	given := false
	for _, el := range append(slices.Clip(x.stack), t) {
		base, bad := url.Parse(strings.TrimSpace(x.in.attr(el, "xml:base")))
		if err == nil && bad == nil && *base != (url.URL{}) {
			at, given = at.ResolveReference(base), true
		}
	}
	to, bad := url.Parse(strings.TrimSpace(ref))
	if !given || bad != nil {
		return ref
	}
	return at.ResolveReference(to).String()
}

// direct reports whether the innermost open element is the entry itself.
func (x *xmlReader) direct() bool {
	return x.deep == 0 && len(x.stack) > 0 && x.stack[len(x.stack)-1].name == x.item
}

// end closes an element. It ignores an unmatched close tag.
func (x *xmlReader) end(t token) bool {
	if x.deep > 0 {
		x.deep--
		return true
	}
	at := len(x.stack) - 1
	for at >= 0 && x.stack[at].name != t.name {
		at--
	}
	if at < 0 {
		return true
	}
	closed := x.stack[at]
	x.stack = x.stack[:at]
	if closed.name == x.item {
		return x.finish()
	}
	if x.open && x.direct() && !x.entity {
		x.field(closed, x.text.String())
	}
	return true
}

// field handles the text of a child element of the entry.
func (x *xmlReader) field(t token, text string) {
	switch t.prefix {
	case "image", "video", "news", "mobile", "media", "atom", "atom10", "geo":
		return
	}
	switch t.name {
	case "loc", "link":
		if !x.complete && trimLoc(text) != "" && (t.name == "loc") == (x.item == "url" || x.child) {
			x.entry.Loc, x.complete = text, true
		}
	case "guid":
		x.guid = text
	case "lastmod", "pubDate", "date", "updated", "modified":
		if d, ok := dates.ParseW3C(trimLoc(text)); ok {
			x.entry.LastMod = d
		}
	case "priority":
		if p, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil && p >= 0 && p <= 1 {
			x.entry.Priority = p
		}
	}
}

// chars appends text of the innermost element.
func (x *xmlReader) chars(t token) {
	x.entity = x.entity || t.entity
	if x.open && x.text.Len() < maxToken {
		x.text.Write(t.text)
	}
}

// finish passes on the open entry, if its loc is complete.
func (x *xmlReader) finish() bool {
	if !x.open {
		return true
	}
	e, complete := x.entry, x.complete
	if !complete && x.guid != "" && x.permalink {
		e.Loc, complete = x.guid, true
	}
	x.open, x.complete, x.guid = false, false, ""
	if !complete {
		x.s.bad("", nil)
		return true
	}
	return x.s.add(e, x.child)
}
