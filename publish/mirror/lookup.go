package mirror

import (
	"slices"

	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
)

// maxHops is the most redirects followed in a row.
const maxHops = 21

// trail is the end of a chain of redirects.
type trail struct {
	final int32      // the kept entry at its end, or -1
	why   string     // why the chain leads nowhere; "" if it leads out of the mirror
	end   weburl.URL // its target, if neither kept nor failed
	hops  int
}

func (s *site) follow(i int) trail {
	e := &s.list[i]
	part := e.part()
	for hop := range maxHops {
		if part == "" {
			part = e.part()
		}
		j := s.lookUp(e.to(), func(e *entry) bool { return e.state >= moved })
		if j < 0 {
			return trail{final: -1, end: e.to(), hops: hop + 1}
		}
		e = &s.list[j]
		switch e.state {
		case kept:
			s.list[i].fate.part = part
			return trail{final: int32(j)}
		case moved:
		case gone, failed:
			return trail{final: -1, why: "redirect to what is " + e.why()}
		default:
			return trail{final: -1}
		}
	}
	return trail{final: -1, why: "redirect: in a circle"}
}

// followAll follows all redirects. The target of a chain that is as long as the longest was not
// fetched because of its length, so such a chain does not lead out of the mirror.
func (s *site) followAll() {
	longest := map[weburl.URL]int{}
	for i := range s.list {
		if s.list[i].state != moved {
			continue
		}
		t := s.follow(i)
		s.list[i].final = t.final
		s.list[i].because(t.why)
		if !t.end.IsZero() {
			longest[t.end] = max(longest[t.end], t.hops)
		}
	}
	for i := range s.list {
		if e := &s.list[i]; e.state == moved && e.final < 0 && e.why() == "" &&
			longest[s.follow(i).end] >= judge.MaxRedirects {
			e.because("redirect: more than 20 in a row")
		}
	}
}

// index finds a URL exactly as given; -1 if there is no entry.
func (s *site) index(u weburl.URL) int {
	if i, known := s.at[u.String()]; known {
		return int(i)
	}
	return -1
}

// find returns the entry for a URL: its own or, if that has no file, one of the same page under
// another URL (see names). If none has a file, it returns the first that exists, or -1.
func (s *site) find(u weburl.URL) int {
	if !s.origins[u.Origin()] && judge.SiteKey(u) != judge.SiteKey(s.o.Seed) {
		return -1 // pages of other origins have no other names here
	}
	return s.lookUp(u, func(e *entry) bool { return e.state == kept || e.state == moved && e.final >= 0 })
}

func (s *site) lookUp(u weburl.URL, good func(*entry) bool) int {
	first := -1
	s.names(u, func(name weburl.URL) bool {
		i := s.index(name)
		if j, ok := s.twins[name.String()]; ok && (i < 0 || !good(&s.list[i])) {
			i = int(j)
		}
		if i >= 0 && (first < 0 || good(&s.list[i])) {
			first = i
		}
		return first < 0 || !good(&s.list[first])
	})
	return first
}

// names calls f with the URLs of a page until f returns false: the URL, its form after
// Clean-param, its form without session id and with sorted parameters, and all of these with
// the site's other schemes and with and without www.
func (s *site) names(u weburl.URL, f func(weburl.URL) bool) {
	if !f(u) {
		return
	}
	forms := []weburl.URL{u}
	if folded, ok := s.o.Fold(u); ok {
		forms = append(forms, folded)
	}
	if form, ok := s.o.Twin(forms[len(forms)-1]); ok {
		forms = append(forms, form)
	}
	for _, form := range forms[1:] {
		if !f(form) {
			return
		}
	}
	if judge.SiteKey(u) != judge.SiteKey(s.o.Seed) {
		return
	}
	for _, origin := range s.o.Origins {
		for _, form := range forms {
			if origin != form.Origin() && !f(weburl.FromCanonical(origin+form.Target())) {
				return
			}
		}
	}
}

// pair records the entries of pages that were fetched only with a session id or with unsorted
// parameters.
func (s *site) pair() {
	s.twins = map[string]int32{}
	for i := range s.list {
		e := &s.list[i]
		if e.state < moved {
			continue
		}
		form, ok := s.o.Twin(e.url)
		if !ok {
			continue
		}
		if j, taken := s.twins[form.String()]; !taken || s.list[j].state < e.state {
			s.twins[form.String()] = int32(i)
		}
	}
}

// unlisted reports whether an entry's URL must not be published.
func (s *site) unlisted(i int) bool { return i >= 0 && !s.list[i].list }

// key maps all URLs of a page to one string.
func (o *Options) key(u weburl.URL) string {
	if folded, ok := o.Fold(u); ok {
		u = folded
	}
	if form, ok := o.Twin(u); ok {
		u = form
	}
	return judge.SiteKey(u) + u.Target()
}

// isOwn reports whether a URL belongs to the site.
func (s *site) isOwn(u weburl.URL) bool { return slices.Contains(s.o.Origins, u.Origin()) }
