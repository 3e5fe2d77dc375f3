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
// there, and of names made up: they are no part of the crawl.
var InVain = []string{NoSitemap, NoUsageFile, Probe}

// Belongs says whether a URL with this reason is part of the crawl, and counted: not a
// URL of another site, nor what was looked for in vain. Both are known so that explain
// can say why.
func Belongs(rule string) bool { return rule != Host && !slices.Contains(InVain, rule) }

// wordings say what came of a URL, for people: what it is about, and the detail. What is in
// braces is a parameter of the reason. A rule of the chain without a topic is about the
// scope, or a trap.
var wordings = []struct{ rule, topic, detail string }{
	{HTTP, HTTP, "{status}, {text}"},
	{Fetch, Fetch, "{text}"},
	{Location, "redirect", "{location}"},
	{Blocked, Blocked, "{text}"},
	{Login, Login, "{text}"},
	{Probe, Probe, "{text}"},
	{BadSitemap, BadSitemap, "{text}"},
	{SitemapHosts, BadSitemap, "over {limit} hosts other than the site's"},
	{NoSitemap, BadSitemap, "none at the default location"},
	{NoUsageFile, "use", "the site has no such file"},
	{NoRobots, Robots, "unavailable: {text}"},
	{Overruled, Overruled, "to be taken off the others: a link that may be followed led there, too"},
	{Unreadable, "", "its state cannot be decoded"},
	{Internal, "", "internal error, please report it: rule {text}"},
	{Robots, Robots, "{line}"},
	{CleanParam, CleanParam, "{line}"},
	{Name, Name, "another name of the site; asked for at {text}"},
	{NoFollow, NoFollow, "the page asks for it"},
	{RelNoFollow, NoFollow, "the link asks for it"},
	{Host, "", "another scheme, host or port"},
	{Depth, "", "deeper than max-depth"},
	{Redirects, "", "more than {limit} redirects in a row"},
	{Exclude, "", "exclude {quoted}"},
	{Prefix, "", "not below {text}"},
	{SkipType, "", "skip-type: {text}"},
	{Alternate, "", "alternate form of a page, or for programs"},
	{Guess, "", "guessed from a script; fewer than half of such guesses existed"},
	{SkipLarger, "", "skip-larger: {limit} bytes"},
	{Include, "", "matches no include"},
	{Length, "", "over {limit} bytes"},
	{PathDepth, "", "over {limit} segments"},
	{RepeatedSegments, "", "{limit} times in a row"},
	{FarDates, "", "over {limit} months ahead"},
	{Archives, "", "over {limit} archives of the whole tree"},
	{Products, "", "over {limit} additional views of versions"},
	{Discovered, "", "over {limit} URLs in total; these are not recorded"},
	{SessionID, "", "the same page under another name"},
	{QueryOrder, "", "the same page under another name"},
	{SameBody, "", "on a page like {limit} others"},
	{SoftNotFound, "", "on a page like the one for a name that does not exist"},
}

// RuleNames lists the rules of the chain, and what may happen to a URL besides.
func RuleNames() (names []string) {
	for _, w := range wordings {
		if ruleOf(w.rule) == nil {
			names = append(names, w.rule)
		}
	}
	return append(names, Rules()...)
}

// wordingOf is the topic and the detail of a rule.
func wordingOf(rule string) (topic, detail string) {
	for _, w := range wordings {
		if w.rule == rule {
			topic, detail = w.topic, w.detail
		}
	}
	k := ruleOf(rule)
	switch {
	case topic != "", k == nil && detail != "":
	case k != nil && k.Kind == ofTrap:
		topic, detail = "trap: "+rule, cmp.Or(detail, "over {limit} similar URLs")
	default:
		topic, detail = "scope", cmp.Or(detail, rule+" {text}")
	}
	return topic, detail
}

// Words is a reason in words, for people: nothing reads them back.
func Words(r Reason) string {
	topic, detail := wordingOf(r.Rule)
	switch {
	case r.Rule == "":
		return ""
	case topic == "":
		return fill(detail, r)
	case r.Rule == Location && r.Status > 0:
		topic = HTTP
	}
	return topic + ": " + fill(detail, r)
}

// Detail is a reason in words without its topic.
func Detail(r Reason) string {
	_, detail := wordingOf(r.Rule)
	return fill(detail, r)
}

// fill puts the parameters of a reason in their places. Reports have the words of a
// million reasons, so none is made that has no place.
func fill(detail string, r Reason) string {
	text, rest, more := strings.Cut(detail, "{")
	for more {
		name, after, _ := strings.Cut(rest, "}")
		text += parameter(name, r)
		after, rest, more = strings.Cut(after, "{")
		text += after
	}
	return strings.TrimSuffix(text, ", ")
}

func parameter(name string, r Reason) string {
	switch name {
	case "limit":
		return strconv.Itoa(r.Limit)
	case "status":
		return strconv.Itoa(r.Status)
	case "quoted":
		return strconv.Quote(r.Text)
	case "line":
		return lineWords(r)
	case "location":
		return locationWords(r)
	}
	return r.Text
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
		return "to itself, expecting a cookie to be sent back: " +
			"fetch.cookies: true in --config (or CURTSY_FETCH_COOKIES=true) keeps cookies"
	}
	return cmp.Or(r.Text, "to itself")
}

// InCircle is the text of a redirect that leads in a circle, or into one.
const InCircle = "in a circle"
