package judge

import (
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"curtsy/internal/weburl"
)

// Name folds a URL under one of the site's other names into the same one under
// its primary name, which is asked instead: each page is fetched once.
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

// AtPrimary is the URL under the site's primary name.
func (s *Scope) AtPrimary(u weburl.URL) weburl.URL {
	return weburl.FromCanonical(s.Primary + u.Target())
}

// Sibling says whether a URL that is not of the site may prove to be: its origin
// would be another name of it, if one is seen to redirect to the other.
func (s *Scope) Sibling(u weburl.URL) bool {
	return !s.Main(u) && slices.ContainsFunc(s.Origins, func(origin string) bool {
		return SameSite(weburl.FromCanonical(origin+"/"), u)
	})
}

// SameSite says whether two URLs may be of one site by their origins: http or
// https, both at their usual ports or at one port, with or without "www.". That
// they are takes a redirect from one to the other. Another port or another
// subdomain is another site, for all that is known.
func SameSite(a, b weburl.URL) bool {
	if SiteHost(a.Hostname()) != SiteHost(b.Hostname()) {
		return false
	}
	if a.Scheme() == b.Scheme() {
		return a.Port() == b.Port()
	}
	return a.Host() == a.Hostname() && b.Host() == b.Hostname()
}

// SiteKey is what the names of one site have in common: the host without "www.", and
// its port where that is not the usual one.
func SiteKey(u weburl.URL) string {
	return SiteHost(u.Hostname()) + strings.TrimPrefix(u.Host(), u.Hostname())
}

// SiteHost is a host without "www.", which stays before a public suffix, as in
// www.co.uk: what is left there is no site.
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
