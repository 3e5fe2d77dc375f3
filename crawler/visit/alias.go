package visit

import (
	"fmt"
	"strings"

	"golang.org/x/net/publicsuffix"

	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
)

// A site may have several names: http and https, with www. and without, and
// the one that its robots.txt calls its Host. They become part of the scope,
// and the outcome notes it for people.

// alias takes in where the seed redirects to, if that is the same site.
func (o *Outcome) alias(r *Reader, seed, target weburl.URL) {
	switch {
	case r.Scope().Holds(target):
	case sameSite(seed, target):
		o.Alias = target.Origin()
		o.tell("%s redirects to %s: both now count as the site", seed, target)
	default:
		o.tell("%s redirects to %s, which is another site; try: curtsy crawl %s", seed, target, word(target))
	}
}

func (o *Outcome) tell(format string, args ...any) {
	o.Notes = append(o.Notes, fmt.Sprintf(format, args...))
}

// word is a URL as one word for a shell.
func word(u weburl.URL) string {
	if !strings.ContainsAny(u.String(), "?*&;'()$!~#<>|[]{}") {
		return u.String()
	}
	return "'" + strings.ReplaceAll(u.String(), "'", `'\''`) + "'"
}

// sameSite says whether a seed at one URL and its redirect's target are one
// site: with www. or without, and https in place of http where both are at
// their usual ports. Another port is somebody else's server, for all that is known.
func sameSite(seed, target weburl.URL) bool {
	if bare(seed) != bare(target) {
		return false
	}
	if seed.Scheme() == target.Scheme() {
		return seed.Port() == target.Port()
	}
	return seed.Scheme() == "http" && seed.Port() == "80" && target.Port() == "443"
}

// bare is a host without "www.".
func bare(u weburl.URL) string { return strings.TrimPrefix(u.Hostname(), "www.") }

// hostAlias takes in the main mirror that a robots.txt names (Yandex: Host), if
// it is of the same registered domain: a robots.txt cannot send a crawl to
// somebody else's site.
func (o *Outcome) hostAlias(r *Reader, from weburl.URL, robots *rules.Robots) {
	name, line, ok := robots.Host()
	if !ok {
		return
	}
	scheme, _, _ := strings.Cut(from.Origin(), "://")
	mirror, err := weburl.Parse(scheme + "://" + name + "/")
	switch {
	case err != nil || r.Scope().Holds(mirror):
	case domain(mirror) == domain(from):
		o.Alias = mirror.Origin()
		o.tell("%s line %d: Host: %s: it also counts as the site", from, line, name)
	default:
		o.tell("%s line %d: Host: %s is in another domain; try: curtsy crawl %s", from, line, name, mirror)
	}
}

// domain is the registered domain of a host, or the host where it has none.
func domain(u weburl.URL) string {
	if d, err := publicsuffix.EffectiveTLDPlusOne(u.Hostname()); err == nil {
		return d
	}
	return u.Hostname()
}
