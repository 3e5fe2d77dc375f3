package mirror

import (
	"strings"

	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
)

// linker decides about the references of one file.
type linker struct {
	s     *site
	from  *entry
	notes *notes
	near  *nearby        // nil: nothing is remembered
	noted map[noted]bool // what is noted already of this page
}

// noted is a URL in a section of the report.
type noted struct {
	in  section
	url string
}

// ref says what is to become of a reference: one to a file of the tree, an
// absolute one to the live site, or one that nothing follows by itself.
func (l *linker) ref(r htmlmeta.Reference) (htmlmeta.Change, string) {
	if r.Kind == htmlmeta.Alternate && !hasAny(r.Rel, "shortlink") {
		return live(r) // canonical, feeds, other languages: said of the live site
	}
	i := l.s.find(r.URL)
	if weburl.IsRoute(r.Fragment) {
		route, part := weburl.CutRoute(r.Fragment)
		j := l.s.index(r.URL.InPage(route))
		switch {
		case l.s.routes && j >= 0 && l.s.list[j].state == kept: // "#/" is the page that the routes are in
			i, r.Text, r.Fragment, r.Plain = j, part, part, false
		case strings.HasPrefix(r.Text, "#"):
			return htmlmeta.Leave, ""
		}
	}
	to, part := l.target(i, r.Fragment)
	if to == nil {
		l.note(r, i)
		if l.s.isOwn(r.URL) && l.s.pages.has(l.s.o.key(r.URL)) {
			l.notes.live.Add(1)
		}
		if l.loads(r) && !l.s.o.Online {
			return htmlmeta.Silent, r.URL.String() + r.Fragment
		}
		return live(r)
	}
	if r.Plain && l.near != nil {
		l.near.keep(r, to, relative(l.from.file, to.file), l.s.list[i].part())
	}
	part = encodeFragment(part)
	if to == l.from && part != "" && r.Kind == htmlmeta.Navigation && r.Tag != "meta" {
		return htmlmeta.Local, samePage(r, part)
	}
	return htmlmeta.Local, relative(l.from.file, to.file) + part
}

// samePage leaves a reference to a place in the same file as short as it was.
func samePage(r htmlmeta.Reference, part string) string {
	if strings.HasPrefix(strings.TrimSpace(r.Text), "#") {
		return r.Text
	}
	return part
}

// target is the file that the entry i stands for, and the fragment.
func (l *linker) target(i int, part string) (*entry, string) {
	if i < 0 {
		return nil, part
	}
	e := &l.s.list[i]
	switch {
	case e.state == kept:
		return e, part
	case e.state == moved && e.final >= 0:
		if part == "" {
			part = e.part()
		}
		return &l.s.list[e.final], part
	}
	return nil, part
}

// loads says whether a browser would fetch the reference by itself, without
// anybody asking.
func (l *linker) loads(r htmlmeta.Reference) bool {
	switch r.Kind {
	case htmlmeta.Requisite:
		return true
	case htmlmeta.Hint:
		return hasAny(r.Rel, "preconnect", "dns-prefetch")
	case htmlmeta.Navigation:
		return r.Tag == "meta" || r.Tag == "link" && hasAny(r.Rel, "prefetch", "prerender", "subresource")
	}
	return false
}

func hasAny(rel string, words ...string) bool {
	for w := range strings.FieldsSeq(rel) {
		for _, x := range words {
			if w == x {
				return true
			}
		}
	}
	return false
}

// live makes a reference absolute; one that is so already stays as it is.
func live(r htmlmeta.Reference) (htmlmeta.Change, string) {
	text := strings.TrimSpace(r.Text)
	if hasPrefixFold(text, "http://") || hasPrefixFold(text, "https://") {
		return htmlmeta.Leave, ""
	}
	to := r.URL.String()
	if inList(r) {
		to = encodeLive(to)
	}
	return htmlmeta.Live, to + encodeFragment(r.Fragment)
}

// inList says whether commas, quotes and parentheses mean something where the
// reference stands.
func inList(r htmlmeta.Reference) bool {
	return r.Tag == "css" || r.Tag == "style" || strings.HasSuffix(r.Attr, "style") ||
		strings.HasSuffix(r.Attr, "srcset")
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// note remembers for the report where a reference out of the tree stands.
func (l *linker) note(r htmlmeta.Reference, i int) {
	switch {
	case r.Kind == htmlmeta.Form || r.Kind == htmlmeta.Hint || r.Kind == htmlmeta.Speculative:
	case i >= 0 && l.s.list[i].state == moved && l.s.list[i].why() == "":
		why := "redirect"
		if to := l.s.list[i].to(); !l.s.unlisted(l.s.find(to)) {
			why += " to " + to.String()
		}
		l.add(external, r.URL.String(), why)
	case i < 0 && !l.s.isOwn(r.URL):
		l.add(external, r.URL.String(), "")
	}
}

// add notes a URL once, and the page if that may be named.
func (l *linker) add(in section, url, why string) {
	key := noted{in, url}
	if l.noted[key] {
		return // a row counts pages
	}
	if l.noted == nil {
		l.noted = map[noted]bool{}
	}
	l.noted[key] = true
	if l.from.list {
		l.notes.add(in, url, why, l.from.url.String())
		return
	}
	l.notes.addUnlisted(in, url, why)
}
