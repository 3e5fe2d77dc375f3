package mirror

import (
	"slices"
	"strings"

	"curtsy/internal/weburl"
)

// maxHops is how many redirects are followed one after another.
const maxHops = 21

// follow gives the kept entry at the end of a chain of redirects, or -1.
func (s *site) follow(i int) int32 {
	e := &s.list[i]
	part := e.part
	for range maxHops {
		if part == "" {
			part = e.part
		}
		j := s.find(e.to)
		if j < 0 {
			return -1
		}
		e = &s.list[j]
		switch e.state {
		case kept:
			s.list[i].part = part
			return int32(j)
		case moved:
		default:
			return -1
		}
	}
	return -1
}

// index finds an URL as it is.
func (s *site) index(u weburl.URL) int {
	href := u.String()
	i, ok := slices.BinarySearchFunc(s.list, href, func(e entry, h string) int { return strings.Compare(e.url.String(), h) })
	if !ok {
		return -1
	}
	return i
}

// indexOf finds an URL given as text.
func (s *site) indexOf(href string) int { return s.index(weburl.Canonical(href)) }

// find finds the entry that stands for an URL: its own, that of the URL which
// Clean-param makes of it, or that of the same page under the site's other
// scheme or with and without www.
func (s *site) find(u weburl.URL) int {
	i := s.index(u)
	if i >= 0 {
		return i
	}
	if folded, ok := s.o.Fold(u); ok {
		if i = s.index(folded); i >= 0 {
			return i
		}
	}
	return s.alias(u)
}

// unlisted says whether an entry's URL must stay out of published lists.
func (s *site) unlisted(i int) bool { return i >= 0 && !s.list[i].list }

// alias looks for a page of the site under the origins that are the site too.
func (s *site) alias(u weburl.URL) int {
	if bare(u) != bare(s.o.Seed) {
		return -1
	}
	for _, origin := range s.o.Origins {
		if origin == u.Origin() {
			continue
		}
		if i := s.index(weburl.Canonical(origin + u.Target())); i >= 0 && s.list[i].state >= moved {
			return i
		}
	}
	return -1
}

// bare is the host without www. and without a default port; hosts on other
// ports are other sites.
func bare(u weburl.URL) string {
	host := strings.TrimPrefix(u.Hostname(), "www.")
	if len(u.Host()) > len(u.Hostname()) {
		host += ":" + u.Port()
	}
	return host
}

// isOwn says whether an URL belongs to the site itself.
func (s *site) isOwn(u weburl.URL) bool { return s.own[u.Origin()] }
