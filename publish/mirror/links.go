package mirror

import (
	"strings"

	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
)

// linker rewrites the references of one file.
type linker struct {
	s     *site
	from  *entry
	notes *notes
	noted map[noted]bool // what was already noted for this page
}

// noted is a row in a section of the report.
type noted struct {
	in  section
	url string
}

// ref decides how a reference is rewritten: relative to a file of the mirror, absolute to the
// live site, or disabled so that browsers do not load it.
func (l *linker) ref(r htmlmeta.Reference) (htmlmeta.Change, string) {
	if r.Kind == htmlmeta.Alternate && !hasAny(r.Rel, "shortlink") {
		return live(r) // canonical, feeds, other languages: statements about the live site
	}
	i := l.s.find(r.URL)
	if weburl.IsRoute(r.Fragment) {
		route, part := weburl.CutRoute(r.Fragment)
		j := l.s.index(r.URL.InPage(route))
		switch {
		case l.s.routes && j >= 0 && l.s.list[j].state == kept: // "#/" is the page that holds the routes
			i, r.Text, r.Fragment = j, part, part
		case strings.HasPrefix(r.Text, "#"):
			return htmlmeta.Leave, ""
		}
	}
	to, part := l.s.target(i, r.Fragment)
	if to == nil {
		l.note(r, i)
		if l.s.isOwn(r.URL) && l.s.pages.has(l.s.o.key(r.URL)) {
			l.notes.live.Add(1)
		}
		if loads(r) && !l.s.o.Online {
			return htmlmeta.Silent, r.URL.String() + r.Fragment
		}
		return live(r)
	}
	part = encodeFragment(part)
	if to == l.from && part != "" && r.Kind == htmlmeta.Navigation && r.Tag != "meta" {
		return htmlmeta.Local, samePage(r, part)
	}
	return htmlmeta.Local, relative(l.from.file, to.file) + part
}

// samePage keeps a reference within the same file in its short form.
func samePage(r htmlmeta.Reference, part string) string {
	if strings.HasPrefix(strings.TrimSpace(r.Text), "#") {
		return r.Text
	}
	return part
}

// target returns the file for entry i and the fragment; nil if there is none.
func (s *site) target(i int, part string) (*entry, string) {
	if i < 0 {
		return nil, part
	}
	e := &s.list[i]
	switch {
	case e.state == kept:
		return e, part
	case e.state == moved && e.final >= 0:
		if part == "" {
			part = e.part()
		}
		return &s.list[e.final], part
	}
	return nil, part
}

// loads reports whether a browser fetches the reference without a click.
func loads(r htmlmeta.Reference) bool {
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

// live makes a reference absolute, unless it is already.
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

// inList reports whether commas, quotes and parentheses are syntax where the reference stands.
func inList(r htmlmeta.Reference) bool {
	return r.Tag == "css" || r.Tag == "style" || strings.HasSuffix(r.Attr, "style") ||
		strings.HasSuffix(r.Attr, "srcset")
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// note records a reference to outside of the mirror for the report.
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

// add records a URL once per page, with the page if that may be published.
func (l *linker) add(in section, url, why string) {
	key := noted{in, url}
	if l.noted[key] {
		return // rows count pages
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
