package judge

import (
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"curtsy/internal/weburl"
)

// Name replaces a URL under another name of the site by the one under its primary name, so that each
// page is fetched once.
const Name = "name"

func name(l *Link, f *Facts) Verdict {
	if f.Primary == "" || l.Class <= Sitemap || l.IsSeed() || l.How == HowOwnName || l.URL.Origin() == f.Primary ||
		!f.Main(l.URL) {
		return Verdict{}
	}
	v := excludes(Name, Params{Text: f.Primary})
	v.Instead = f.AtPrimary(l.URL)
	return v
}

// AtPrimary returns the URL under the site's primary name.
func (s *Scope) AtPrimary(u weburl.URL) weburl.URL {
	return weburl.FromCanonical(s.Primary + u.Target())
}

// Sibling reports whether a URL outside the site may prove to be part of it: its origin would be another
// name of the site if one redirects to the other.
func (s *Scope) Sibling(u weburl.URL) bool {
	return !s.Main(u) && slices.ContainsFunc(s.Origins, func(origin string) bool {
		return SameSite(weburl.FromCanonical(origin+"/"), u)
	})
}

// SameSite reports whether two URLs may be of one site, judged by their origins: http or https, both at
// their default ports or at the same port, with or without "www.". A redirect between them must confirm
// it. Another port or subdomain is considered another site.
func SameSite(a, b weburl.URL) bool {
	if SiteHost(a.Hostname()) != SiteHost(b.Hostname()) {
		return false
	}
	if a.Scheme() == b.Scheme() {
		return a.Port() == b.Port()
	}
	return a.Host() == a.Hostname() && b.Host() == b.Hostname()
}

// SiteKey returns what the names of one site have in common: the host without "www.", and the port if it
// is not the default.
func SiteKey(u weburl.URL) string {
	return SiteHost(u.Hostname()) + strings.TrimPrefix(u.Host(), u.Hostname())
}

// SiteHost returns a host without "www.", which is kept before a public suffix, as in www.co.uk, since
// no site would be left.
func SiteHost(host string) string {
	rest, ok := strings.CutPrefix(host, "www.")
	if !ok {
		return host
	}
	if _, err := publicsuffix.EffectiveTLDPlusOne(rest); err != nil {
		return host
	}
	return rest
}
