package htmlmeta

import "strings"

// isFeed reports whether an XML document is a feed: RSS 2.0, RSS 1.0 or Atom.
func isFeed(body []byte) bool {
	s := scanner{src: body[:min(len(body), sniffLength)], xml: true, every: true}
	if !s.next() {
		return false
	}
	switch strings.ToLower(string(s.tag.name.of(s.src))) {
	case "rss", "rdf:rdf", "feed":
		return true
	}
	return false
}

// readFeed reads the pages that a feed lists: the link of each RSS item, and the alternate link
// of each Atom entry (RFC 4287 §4.2.7.2).
func (r *reader) readFeed(body []byte) {
	s := scanner{src: body, xml: true, every: true}
	in := false
	for s.next() && !r.links.capped {
		t := &s.tag
		switch name := strings.ToLower(string(t.name.of(body))); {
		case name == "item" || name == "entry":
			in = !t.end && !t.selfEnd
		case !in || t.end || name != "link":
		case t.selfEnd || len(t.attrs) > 0:
			r.addEntry(t, body)
		default:
			end := rawEnd(body, t.all.to, "link")
			text := string(r.toUTF8(body[t.all.to:end]))
			if cdata, ok := strings.CutPrefix(strings.TrimSpace(text), "<![CDATA["); ok {
				text = strings.TrimSuffix(cdata, "]]>")
			} else {
				text = string(appendUnescaped(nil, text))
			}
			if text = strings.TrimSpace(text); text != "" {
				r.links.add(text, Link{Tag: "item", Attr: "link", Kind: Navigation})
			}
		}
	}
}

// addEntry adds the link element of an Atom entry, if it is the alternate link.
func (r *reader) addEntry(t *tag, body []byte) {
	var href, rel string
	for i := range t.attrs {
		a := &t.attrs[i]
		switch value := string(r.decode(nil, a.value.of(body), true)); {
		case isName(body, a, "href"):
			href = value
		case isName(body, a, "rel"):
			rel = strings.TrimSpace(value)
		}
	}
	if href != "" && (rel == "" || rel == "alternate") {
		r.links.add(href, Link{Tag: "entry", Attr: "link", Kind: Navigation})
	}
}
