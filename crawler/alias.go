package crawler

import (
	"fmt"
	"strings"

	"golang.org/x/net/publicsuffix"

	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
)

// A site may have several names: http and https, with www. and without, and
// the one that its robots.txt calls its Host. They become part of the scope,
// and whoever watches is told.

// alias takes in where the seed redirects to, if that is the same site.
func (o *Outcome) alias(c *Crawl, seed, target weburl.URL) {
	switch {
	case c.scope.Load().Holds(target):
	case sameSite(seed, target):
		o.Alias = target.Origin()
		c.opts.Tell(fmt.Sprintf("%s redirects to %s: both are the site now", seed, target))
	default:
		c.opts.Tell(fmt.Sprintf("%s redirects to %s, which is another site; try: curtsy crawl %s", seed, target, word(target)))
	}
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

// hostAlias takes in the main mirror that a robots.txt names (Yandex: Host), if it is of the same registered domain: a robots.txt cannot send
// us to somebody else's site.
func (o *Outcome) hostAlias(c *Crawl, from weburl.URL, r *rules.Robots) {
	name, line, ok := r.Host()
	if !ok {
		return
	}
	scheme, _, _ := strings.Cut(from.Origin(), "://")
	mirror, err := weburl.Parse(scheme + "://" + name + "/")
	switch {
	case err != nil || c.scope.Load().Holds(mirror):
	case domain(mirror) == domain(from):
		o.Alias = mirror.Origin()
		c.opts.Tell(fmt.Sprintf("%s line %d: Host: %s: that is the site too", from, line, name))
	default:
		c.opts.Tell(fmt.Sprintf("%s line %d: Host: %s is of another domain; try: curtsy crawl %s", from, line, name, mirror))
	}
}

// domain is the registered domain of a host, or the host where it has none.
func domain(u weburl.URL) string {
	if d, err := publicsuffix.EffectiveTLDPlusOne(u.Hostname()); err == nil {
		return d
	}
	return u.Hostname()
}
