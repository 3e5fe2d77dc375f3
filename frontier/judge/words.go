package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Reasons that are not rules of the chain.
const (
	HTTP       = "http"     // the status is not a success
	Fetch      = "fetch"    // no response, or an incomplete one
	Location   = "location" // a redirect that leads nowhere: no usable target, or a cycle
	Blocked    = "blocked"  // a challenge in place of the page
	Login      = "login"    // the page asks for a login, although the crawl is logged in
	Probe      = "probe"    // a made-up name
	BadSitemap = "sitemap"  // not a sitemap, or too many of them
	// SitemapHosts is the limit on hosts outside the site that are asked for sitemaps.
	SitemapHosts = "sitemap-hosts"
	// NoSitemap says that there is no sitemap at the default location, which nothing named.
	NoSitemap = "no-sitemap"
	// NoUsageFile says that the site does not have such a usage preference file.
	NoUsageFile = "no-usage-file"
	NoRobots    = "no-robots"  // robots.txt of the host is unavailable
	Overruled   = "overruled"  // excluded until another link led there
	Unreadable  = "unreadable" // its state in crawl.db cannot be decoded
	Internal    = "internal"   // a rule panicked: a bug
)

// InVain are the reasons of files that sites may have and this one does not, and of made-up names. These
// URLs are not part of the crawl.
var InVain = []string{NoSitemap, NoUsageFile, Probe}

// Belongs reports whether a URL with this reason is part of the crawl, and counted: URLs of other sites
// and those of InVain are not. They are recorded so that explain can say why.
func Belongs(rule string) bool { return rule != Host && !slices.Contains(InVain, rule) }

// wordings describe reasons for users: topic and detail, with parameters of the reason in braces. A rule
// of the chain without a topic has "scope" or "trap".
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

// RuleNames lists the reasons that are not rules of the chain, then the rules.
func RuleNames() (names []string) {
	for _, w := range wordings {
		if ruleOf(w.rule) == nil {
			names = append(names, w.rule)
		}
	}
	return append(names, Rules()...)
}

// wordingOf returns the topic and the detail of a rule.
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

// String describes the reason for users. The text is never parsed.
func (r Reason) String() string {
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

// Detail describes a reason without its topic.
func Detail(r Reason) string {
	_, detail := wordingOf(r.Rule)
	return fill(detail, r)
}

// fill replaces the parameters in detail. Reports describe millions of reasons, so only parameters that
// occur are formatted.
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

// WantsCookie is the reason's text for a page that redirects to itself and sets a cookie.
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

// InCircle is the reason's text for a redirect that is in a cycle, or leads into one.
const InCircle = "in a circle"
