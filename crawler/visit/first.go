package visit

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"curtsy/crawler/fetch"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/htmlmeta"
	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/sitemap"
	"curtsy/storage/crawllog"
)

// The response to a seed may be something other than a page: a page that only leads elsewhere, a sitemap
// or feed, or a page in one of several languages.

// Upper bounds, in links and octets, for a page that counts as only leading elsewhere.
const (
	maxDoorwayLinks = 20
	maxDoorway      = 16 << 10
	maxDoorwayText  = 200
)

// scriptMove matches a script's navigation to a literal URL.
var scriptMove = regexp.MustCompile(`(?:^|[^\w.$])(?:(?:window|document|self|top|parent)\s*\.\s*)?location(?:` +
	`(?:\s*\.\s*href)?\s*=\s*|\s*\.\s*(?:replace|assign)\s*\(\s*)(?:"([^"\\\s]+)"|'([^'\\\s]+)')`)

// leadsTo returns the target of a page that consists only of a meta refresh or a script navigation; zero
// if it is a page.
func (o *Outcome) leadsTo(a *Attempt, x *fetch.Exchange, doc *htmlmeta.Document) weburl.URL {
	if a.Entry.Class != frontier.Page || a.Rendered != nil || a.HeadOnly || o.State != frontier.StateFetched ||
		!o.RetryAt.IsZero() {
		return weburl.URL{}
	}
	return doorway(a.URL, x, doc)
}

func doorway(page weburl.URL, x *fetch.Exchange, doc *htmlmeta.Document) weburl.URL {
	if x.Status != http.StatusOK || doc.Kind != htmlmeta.HTML || doc.Directives.NoFollow ||
		len(doc.Links) > maxDoorwayLinks {
		return weburl.URL{}
	}
	body, cut, err := x.Decoded(maxDoorway)
	if err != nil || cut || x.Truncated != "" || shownText(body) > maxDoorwayText {
		return weburl.URL{}
	}
	to := moveOf(page, body, doc)
	if to.IsZero() || to == page || leadsElsewhere(doc, to, page) {
		return weburl.URL{}
	}
	return to
}

// moveOf returns the target of a meta refresh, else of a script navigation.
func moveOf(page weburl.URL, body []byte, doc *htmlmeta.Document) (to weburl.URL) {
	for i := range doc.Links {
		if l := &doc.Links[i]; l.Tag == "meta" && l.Kind == htmlmeta.Navigation {
			return l.URL
		}
	}
	m := scriptMove.FindSubmatch(body)
	if m == nil || !bytes.Contains(bytes.ToLower(body[:bytes.Index(body, m[0])]), []byte("<script")) {
		return to
	}
	base := page
	if !doc.Base.IsZero() {
		base = doc.Base
	}
	to, err := base.Resolve(string(m[1]) + string(m[2]))
	if err != nil {
		return weburl.URL{}
	}
	return to
}

// leadsElsewhere reports whether the page has links besides to, so that it is a page itself.
func leadsElsewhere(doc *htmlmeta.Document, to, page weburl.URL) bool {
	for i := range doc.Links {
		if l := &doc.Links[i]; l.Kind == htmlmeta.Navigation && l.Tag == "a" && l.URL != to && l.URL != page {
			return true
		}
	}
	return false
}

// isListing reports whether a seed is a sitemap or a feed, which is then read as such.
func (o *Outcome) isListing(a *Attempt, x *fetch.Exchange) bool {
	if !a.Entry.IsSeed() || a.Entry.Class != frontier.Page || o.State != frontier.StateFetched ||
		x.Status != http.StatusOK {
		return false
	}
	kind, _, _ := strings.Cut(strings.ToLower(x.Header.Get("Content-Type")), ";")
	if strings.Contains(kind, "html") || strings.HasPrefix(kind, "image/") {
		return false
	}
	body, _, err := x.Decoded(sitemap.MaxBytes)
	if err != nil || len(body) == 0 {
		return false
	}
	sum, err := sitemap.Read(bytes.NewReader(body), a.URL, func(sitemap.Entry, bool) error { return nil })
	if err != nil || sum.Kind == sitemap.None || sum.URLs+sum.Children == 0 {
		return false
	}
	o.tell("%s is a sitemap or a feed (%s): the crawl begins at what it lists", a.URL, sum.Kind)
	return true
}

// Look is what a user should know about the response to a seed before a crawl.
type Look struct {
	Title   string
	Links   int        // on the page
	LeadsTo weburl.URL // target of a redirect, or of a page that only leads elsewhere; else zero
	Wall    bool       // it redirects to itself until its cookie is sent
	// Needs is what a crawl needs to get the pages, or what may keep it from them, one clause
	// each: a challenge, a login, scripts, cookies, a language, directives.
	Needs []string
}

// LookAt examines the response for the page at u, with the directives for the given agents.
func LookAt(u weburl.URL, x *fetch.Exchange, agents []string) (k Look) {
	body, _, _ := x.Decoded(heavyBody)
	doc := htmlmeta.Read(htmlmeta.Page{URL: u, Header: x.Header, Body: body}, htmlmeta.Options{Agents: agents})
	k.Title, k.Links, k.LeadsTo = legible.First(doc.Title, 500), len(doc.Links), doorway(u, x, &doc)
	if location := x.Header.Get("Location"); crawllog.IsRedirect(x.Status) && location != "" {
		k.LeadsTo, _ = u.Resolve(location)
	}
	k.Wall = k.LeadsTo == u && len(x.Header["Set-Cookie"]) > 0
	need := func(is bool, format string, args ...any) {
		if is {
			k.Needs = append(k.Needs, fmt.Sprintf(format, args...))
		}
	}
	stands := challenge(x, &doc)
	need(stands != "", "%s in the page's place: its owner can let the crawler in, nothing else helps", stands)
	need(k.Wall, "cookies, which a crawl keeps where they are needed")
	page := x.Status == http.StatusOK && k.LeadsTo.IsZero() && stands == ""
	need(x.Status == http.StatusUnauthorized, "a login: --cookies FILE, --basic, --bearer or --netrc")
	need(!k.LeadsTo.IsZero() && asksAt(u, k.LeadsTo) || page && hasPassword(x) && shownText(body) < maxChallengeText,
		"perhaps a login: --cookies FILE")
	need(page && doc.Kind == htmlmeta.HTML && isBare(&doc, body),
		"scripts: it shows next to nothing without them; --render auto runs them in Chromium")
	need(page && byLanguage(x), "perhaps a language: the page depends on the reader's, --language bg,en asks for one")
	need(page && doc.Directives.NoArchive, "leave to keep it: the page forbids that (noarchive), and no body is stored")
	need(page && doc.Directives.NoFollow, "links: the page asks that its own not be followed (nofollow)")
	return k
}

// notes adds what a user should know about the response to the seed.
func (o *Outcome) notes(r *Reader, a *Attempt, x *fetch.Exchange) {
	if !a.Entry.IsSeed() || r.opts.Language != "" {
		return
	}
	to := weburl.FromCanonical(o.Visit.Location)
	switch {
	case byLanguage(x):
		o.tell("%s depends on the reader's language (Vary: Accept-Language), and none was asked for; "+
			"--language bg,en asks for one, with another --archive", a.URL)
	case a.URL.Path() == "/" && !to.IsZero() && judge.SameSite(a.URL, to) && languagePath.MatchString(to.Path()):
		o.tell("%s leads to %s, as to one language of several; "+
			"--language bg,en asks for another, with another --archive", a.URL, to)
	}
}

// byLanguage reports whether a response depends on Accept-Language.
func byLanguage(x *fetch.Exchange) bool {
	return strings.Contains(strings.ToLower(strings.Join(x.Header.Values("Vary"), ",")), "accept-language")
}

// languagePath matches a path that begins with a language tag.
var languagePath = regexp.MustCompile(`^/[a-z]{2}(-[A-Za-z]{2,4})?(/|$)`)
