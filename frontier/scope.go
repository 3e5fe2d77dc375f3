package frontier

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"curtsy/internal/weburl"
)

// Scope says which URLs belong to the crawl. It is a value: to widen it, make
// another. Its verdicts name the rule that decided.
type Scope struct {
	Origins       []string         // "scheme://host[:port]" of the seed and its aliases
	Include       []*regexp.Regexp // a page must match one, if there are any; requisites need not
	Exclude       []*regexp.Regexp // nothing that matches one is fetched
	MaxDepth      int              // links from the seed; 0 is no limit
	AnyRequisites bool             // requisites of kept pages may come from other hosts
}

// MaxRedirects is how many redirects are followed one after another.
const MaxRedirects = 20

// Reasons of a scope verdict, as status counts them.
const (
	ReasonOtherHost = "scope: another scheme, host or port"
	ReasonDepth     = "scope: deeper than max-depth"
	ReasonInclude   = "scope: matches no include"
	ReasonRedirects = "scope: more than 20 redirects in a row"
)

// Judge says whether a link is in scope; if not, why.
func (s *Scope) Judge(l *Link) (reason string, ok bool) {
	if !s.Holds(l.URL) && !(s.AnyRequisites && l.Class == Requisite && !isDocument(l.How)) {
		return ReasonOtherHost, false
	}
	if l.Redirects > MaxRedirects {
		return ReasonRedirects, false
	}
	if s.MaxDepth > 0 && l.Class == Page && l.Depth > s.MaxDepth {
		return ReasonDepth, false
	}
	href := l.URL.String()
	for _, re := range s.Exclude {
		if re.MatchString(href) {
			return fmt.Sprintf("scope: exclude %q", re), false
		}
	}
	if l.Class == Page && l.Depth > 0 && len(s.Include) > 0 && !slices.ContainsFunc(s.Include, func(re *regexp.Regexp) bool { return re.MatchString(href) }) {
		return ReasonInclude, false
	}
	return "", true
}

// isDocument says whether a requisite is, by the place it was found in, a
// document of its own. Those of other hosts are like links there: what a page
// is drawn with may come from elsewhere, other pages may not.
func isDocument(how string) bool {
	tag, _, _ := strings.Cut(how, " ")
	switch tag {
	case "iframe", "frame", "object", "embed", "applet", "param":
		return true
	}
	return false
}

// Holds says whether the URL is of one of the scope's origins.
func (s *Scope) Holds(u weburl.URL) bool {
	return slices.Contains(s.Origins, u.Origin())
}

// With is the scope widened by an origin.
func (s *Scope) With(origin string) *Scope {
	wider := *s
	if !slices.Contains(s.Origins, origin) {
		wider.Origins = append(slices.Clone(s.Origins), origin)
	}
	return &wider
}
