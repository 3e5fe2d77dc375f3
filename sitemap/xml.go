package sitemap

import (
	"bufio"
	"strconv"
	"strings"

	"curtsy/internal/dates"
)

// maxDepth bounds how deep elements are followed; deeper ones are counted.
const maxDepth = 16

// xmlReader reads the XML kinds. The elements are known by their local names,
// in whatever namespace; what stands in elements of other vocabularies (images,
// videos, news) is not looked at.
type xmlReader struct {
	s     *reader
	in    tokens
	stack []token // open elements, at most maxDepth
	deep  int     // open elements beyond these
	item  string  // the element that is an entry: url, sitemap, item or entry
	child bool    // entries are sitemaps

	open      bool // in an entry
	complete  bool // the entry has a whole loc
	entry     Entry
	guid      string
	permalink bool
	text      strings.Builder // of the element that is read now
	entity    bool            // that refers to an entity of the DTD
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

// root is the first element; an HTML document has none here.
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

// begin tells the kind of file by its root.
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

// start opens an element. An entry that begins before the last one has ended
// ends that one.
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

// startInEntry takes what stands in attributes: links of Atom, alternates.
func (x *xmlReader) startInEntry(t token) bool {
	switch {
	case t.name == "guid":
		x.permalink = !strings.EqualFold(t.attr("isPermaLink"), "false")
	case t.name != "link" || t.attr("href") == "" || !x.direct():
	case x.s.sum.Kind == Atom:
		if rel := t.attr("rel"); !x.complete && (rel == "" || rel == "alternate") {
			x.entry.Loc, x.complete = t.attr("href"), true
		}
	case x.s.sum.Kind == URLSet && strings.EqualFold(t.attr("rel"), "alternate"):
		e := Entry{Loc: t.attr("href"), Priority: -1, Alternate: true}
		return x.s.add(e, false)
	}
	return true
}

// direct says whether the innermost open element is the entry itself.
func (x *xmlReader) direct() bool {
	return x.deep == 0 && len(x.stack) > 0 && x.stack[len(x.stack)-1].name == x.item
}

// end closes an element. A close tag that fits none is overlooked.
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

// field takes the text of an element that stands directly in the entry.
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

// chars gathers the text of the innermost element.
func (x *xmlReader) chars(t token) {
	x.entity = x.entity || t.entity
	if x.open && x.text.Len() < maxToken {
		x.text.Write(t.text)
	}
}

// finish shows the entry that is open, if its loc was read whole.
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
