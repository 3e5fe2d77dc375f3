package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Names of what happened to a URL that is no rule of the chain.
const (
	HTTP       = "http"     // the status is no success
	Fetch      = "fetch"    // no answer, or not all of it
	Location   = "location" // a redirect that leads nowhere
	Blocked    = "blocked"  // a challenge stands in the page's place
	Login      = "login"    // the page asks to log in, in a crawl that is logged in
	Probe      = "probe"    // a name made up
	BadSitemap = "sitemap"  // what is there is no sitemap, or there are too many
	// SitemapHosts is the bound on hosts, not of the site, that are asked for sitemaps.
	SitemapHosts = "sitemap-hosts"
	// NoSitemap is that there is none at the default location, which nothing had named.
	NoSitemap = "no-sitemap"
	// NoUsageFile is that the site has no such file about the use of its pages.
	NoUsageFile = "no-usage-file"
	NoRobots    = "no-robots"  // the host's robots.txt is unavailable
	Overruled   = "overruled"  // excluded until another link led there
	Unreadable  = "unreadable" // its state in crawl.db is none
	Internal    = "internal"   // a rule failed over it: a mistake of ours
)

// InVain are the rules of what was looked for where sites may have it, and is not
// there: it is no part of the crawl.
var InVain = []string{NoSitemap, NoUsageFile}

// Belongs says whether a URL with this reason is part of the crawl, and counted: not a
// URL of another site, nor what was looked for in vain. Both are known so that explain
// can say why.
func Belongs(rule string) bool { return rule != Host && !slices.Contains(InVain, rule) }

// RuleNames lists the rules of the chain, and what may happen to a URL besides.
func RuleNames() []string {
	names := []string{HTTP, Fetch, Location, Blocked, Login, Probe, BadSitemap, SitemapHosts, NoSitemap, NoUsageFile, NoRobots, Overruled, Unreadable, Internal}
	for i := range chain {
		names = append(names, chain[i].Name)
	}
	return names
}

// Words is a reason in words, for people: nothing reads them back.
func Words(r Reason) string {
	switch topic := topic(r); {
	case r.Rule == "":
		return ""
	case topic == "":
		return Detail(r)
	default:
		return topic + ": " + Detail(r)
	}
}

// topic is what a reason is about, which stands before its words.
func topic(r Reason) string {
	switch r.Rule {
	case NoRobots:
		return Robots
	case RelNoFollow:
		return NoFollow
	case SitemapHosts, NoSitemap:
		return BadSitemap
	case NoUsageFile:
		return "use"
	case Location:
		if r.Status == 0 {
			return "redirect"
		}
		return HTTP
	case Robots, NoFollow, Name, CleanParam, HTTP, Fetch, Blocked, Login, Probe, BadSitemap, Overruled:
		return r.Rule
	case Unreadable, Internal:
		return ""
	}
	if k := ruleOf(r.Rule); k != nil && k.Kind == OfTrap {
		return "trap: " + r.Rule
	}
	return "scope"
}

// Detail is a reason in words beside the name of its rule.
func Detail(r Reason) string {
	switch r.Rule {
	case Robots, CleanParam:
		return lineWords(r)
	case Name:
		return "another name of the site; asked for at " + r.Text
	case NoFollow:
		return "the page asks for it"
	case RelNoFollow:
		return "the link asks for it"
	case HTTP:
		return strings.TrimSuffix(strconv.Itoa(r.Status)+", "+r.Text, ", ")
	case Location:
		return locationWords(r)
	case SitemapHosts:
		return fmt.Sprintf("over %d hosts other than the site's", r.Limit)
	case NoSitemap:
		return "none at the default location"
	case NoUsageFile:
		return "the site has no such file"
	case NoRobots:
		return "unavailable: " + r.Text
	case Fetch, Blocked, Login, Probe, BadSitemap:
		return r.Text
	case Overruled:
		return "found again by a link that may be followed"
	case Unreadable:
		return "its state cannot be decoded"
	case Internal:
		return "internal error, please report it: rule " + r.Text
	}
	if k := ruleOf(r.Rule); k != nil && k.Kind == OfTrap {
		return trapWords(r)
	}
	return scopeWords(r)
}

func lineWords(r Reason) string {
	text := r.Text
	if r.Line > 0 {
		text = fmt.Sprintf("line %d: %s", r.Line, r.Text)
	}
	if r.Version != "" {
		text += " (version " + r.Version + ")"
	}
	return text
}

// WantsCookie is the text of the reason of a redirect to itself that sets a cookie.
const WantsCookie = "cookie"

func locationWords(r Reason) string {
	if r.Status > 0 {
		return fmt.Sprintf("%d without a usable Location", r.Status)
	}
	if r.Text == WantsCookie {
		return "to itself, expecting a cookie to be sent back: fetch.cookies: true in --config (or CURTSY_FETCH_COOKIES=true) keeps cookies"
	}
	return cmp.Or(r.Text, "to itself")
}

// InCircle is the text of a redirect that leads in a circle, or into one.
const InCircle = "in a circle"

func scopeWords(r Reason) string {
	switch r.Rule {
	case Host:
		return "another scheme, host or port"
	case Depth:
		return "deeper than max-depth"
	case Redirects:
		return fmt.Sprintf("more than %d redirects in a row", r.Limit)
	case Exclude:
		return fmt.Sprintf("exclude %q", r.Text)
	case Prefix:
		return "not below " + r.Text
	case SkipType:
		return "skip-type: " + r.Text
	case Alternate:
		return "alternate form of a page, or for programs"
	case Guess:
		return "guessed from a script; fewer than half of such guesses existed"
	case SkipLarger:
		return fmt.Sprintf("skip-larger: %d bytes", r.Limit)
	case Include:
		return "matches no include"
	}
	return r.Rule + " " + r.Text
}

func trapWords(r Reason) string {
	switch r.Rule {
	case Length:
		return fmt.Sprintf("over %d bytes", r.Limit)
	case PathDepth:
		return fmt.Sprintf("over %d segments", r.Limit)
	case RepeatedSegments:
		return fmt.Sprintf("%d times in a row", r.Limit)
	case FarDates:
		return fmt.Sprintf("over %d months ahead", r.Limit)
	case Archives:
		return fmt.Sprintf("over %d archives of the whole tree", r.Limit)
	case Products:
		return fmt.Sprintf("over %d additional views of versions", r.Limit)
	case Discovered:
		return fmt.Sprintf("over %d URLs in total; these are not recorded", r.Limit)
	case SessionID, QueryOrder:
		return "the same page under another name"
	case SameBody:
		return fmt.Sprintf("on a page like %d others", r.Limit)
	case SoftNotFound:
		return "on a page like the one for a name that does not exist"
	}
	return fmt.Sprintf("over %d similar URLs", r.Limit)
}
