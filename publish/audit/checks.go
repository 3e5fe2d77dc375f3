package audit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/language"

	"curtsy/frontier/judge"
	"curtsy/htmlmeta"
	"curtsy/internal/legible"
	"curtsy/publish/inventory"
	"curtsy/storage"
	"curtsy/usage"
)

// Level is how much a finding matters.
type Level string

// The levels. Notes do not make an audit fail.
const (
	Error   Level = "error"
	Warning Level = "warning"
	Note    Level = "note"
)

// Finding is the result of a check that found something.
type Finding struct {
	Name  string
	Level Level
	Says  string // the fault, as a sentence
	Hits  []Hit
}

// Hit is a page with the fault, and details.
type Hit struct{ URL, Detail string }

// check is a row of the table. Either page or site is set: it checks one page at a time, or the
// whole site.
type check struct {
	name  string
	level Level
	says  string
	page  func(*page) (string, bool)
	site  func(*site) []Hit
}

// BrokenLink is the name of a finding that other outlets also report.
const BrokenLink = "broken-link"

// Limits recommended for search engines and readers.
const (
	longTitle       = 70  // characters
	longDescription = 320 // characters
	largePage       = 2 << 20
	slowPage        = 3 * time.Second
	largeImage      = 1 << 20
)

// checks is the table of all checks.
var checks = []check{
	{BrokenLink, Error, "Links lead to a URL that answers with an error, or not at all.", nil, brokenLinks(false)},
	{"bad-link", Error, "A link is no URL that anybody can follow, or has a scheme or mail address that is none.",
		nil, func(s *site) []Hit { return s.odd }},
	{"server-error", Error, "A page answers with an error of the server.",
		nil, urls(func(t *target) (string, bool) { return fmt.Sprint(t.status), t.status >= 500 })},
	{"redirect-nowhere", Error, "Redirects lead in a circle, to an error, or are too many in a row.",
		nil, brokenLinks(true)},
	{"redirect-chain", Warning, "A redirect leads to another redirect: every visitor waits for both.",
		nil, redirectChains},
	{"link-to-redirect", Note, "Links lead to a redirect; the new URL would save every visitor a request.",
		nil, func(s *site) []Hit { return linksTo(s.moved) }},
	{"title-missing", Error, "The page has no title, which search engines and bookmarks show.",
		func(p *page) (string, bool) { return "", p.first(htmlmeta.NoteTitle) == "" }, nil},
	{"title-several", Warning, "The page has more than one title element.",
		several(htmlmeta.NoteTitle), nil},
	{"title-long", Warning, fmt.Sprintf("The title is longer than %d characters: search results cut it.",
		longTitle), long(htmlmeta.NoteTitle, longTitle), nil},
	{"title-duplicate", Warning, "Several pages have the same title.",
		nil, duplicates(func(p *page) string { return p.title })},
	{"description-missing", Note, "The page has no meta description.",
		func(p *page) (string, bool) { return "", p.index && p.first(htmlmeta.NoteDescription) == "" }, nil},
	{"description-several", Warning, "The page has more than one meta description.",
		several(htmlmeta.NoteDescription), nil},
	{"description-long", Note, fmt.Sprintf("The description is longer than %d characters.", longDescription),
		long(htmlmeta.NoteDescription, longDescription), nil},
	{"description-duplicate", Warning, "Several pages have the same description.",
		nil, duplicates(func(p *page) string { return p.description })},
	{"h1-missing", Warning, "The page has no h1, or an empty one.",
		func(p *page) (string, bool) { return "", strings.Join(p.Notes[htmlmeta.NoteHeading], "") == "" }, nil},
	{"h1-several", Note, "The page has more than one h1.",
		several(htmlmeta.NoteHeading), nil},
	{"canonical-several", Error, "The page names more than one canonical URL: none of them counts.",
		func(p *page) (string, bool) { return strings.Join(p.allCanonicals(), ", "), len(p.allCanonicals()) > 1 }, nil},
	{"canonical-in-body", Warning, "A link names a canonical URL in the body of the page: " +
		"search engines read it in the head only.",
		func(p *page) (string, bool) {
			return p.first(htmlmeta.NoteMisplaced), len(p.Notes[htmlmeta.NoteMisplaced]) > 0
		}, nil},
	{"canonical-bad", Error, "The canonical URL is none.",
		func(p *page) (string, bool) {
			return p.first(htmlmeta.NoteCanonical), p.canonicals > 0 && p.canonical == ""
		}, nil},
	{"canonical-to-redirect", Error, "The canonical URL is a redirect.",
		nil, canonicals(func(_ *site, _ *page, t *target) bool { return t.to != "" })},
	{"canonical-broken", Error, "The canonical URL answers with an error.",
		nil, canonicals(func(_ *site, _ *page, t *target) bool { return t.status >= 400 })},
	{"canonical-noindex", Error, "The canonical URL asks not to be found, and so neither page is.",
		nil, canonicals(func(_ *site, _ *page, t *target) bool { return t.status == 200 && !t.index })},
	{"canonical-disallowed", Error, "robots.txt disallows the canonical URL.",
		nil, canonicals(func(_ *site, _ *page, t *target) bool { return denied(t) })},
	{"canonical-chain", Error, "The canonical page names another one as canonical.",
		nil, canonicals(func(s *site, p *page, _ *target) bool {
			to := s.by[p.canonical]
			return to != nil && to != p && to.canonical != "" && to.canonical != to.url
		})},
	{"canonical-elsewhere", Note, "The canonical URL is of another site.",
		nil, pages(func(s *site, p *page) (string, bool) {
			return p.canonical, p.canonical != "" && !s.isOwn(p.canonical)
		})},
	{"noindex-canonical", Warning, "The page asks not to be found and names another page as canonical: " +
		"the two contradict each other.",
		func(p *page) (string, bool) { return p.canonical, !p.index && p.isCopy() }, nil},
	{"hreflang-code", Error, "A hreflang is no language code (BCP 47), nor x-default.", badLanguages, nil},
	{"hreflang-no-return", Error, "A page in another language does not link back.", nil, hreflangNoReturn},
	{"hreflang-broken", Error, "A hreflang leads to a URL that is not a page: an error or a redirect.",
		nil, hreflangBroken},
	{"hreflang-twice", Warning, "Two hreflang links name the same language.", sameLanguages, nil},
	{"hreflang-no-self", Warning, "The page names others in other languages, but not itself: " +
		"search engines want all of them in each.",
		func(p *page) (string, bool) { return "", len(p.alternates) > 0 && !p.names(p.url) }, nil},
	{"hreflang-not-canonical", Warning, "The page has hreflang links and names another page as canonical: " +
		"search engines ignore them.",
		func(p *page) (string, bool) { return p.canonical, len(p.alternates) > 0 && p.isCopy() }, nil},
	{"lang-missing", Warning, "The html element has no lang: readers aloud and translators have to guess.",
		func(p *page) (string, bool) { return "", p.first(htmlmeta.NoteLang) == "" }, nil},
	{"lang-bad", Warning, "The lang of the html element is no language code.",
		badLang, nil},
	{"robots-misspelt", Error, "A robots directive is misspelt, or its value is none: it does nothing.",
		func(p *page) (string, bool) { return strings.Join(p.misspelt(), "; "), len(p.misspelt()) > 0 }, nil},
	{"noindex-in-sitemap", Error, "A sitemap lists a page that asks not to be found.",
		nil, inSitemap(func(t *target) bool { return t.status == 200 && !t.index })},
	{"noindex-disallowed", Error, "robots.txt disallows a page that asks not to be found: " +
		"nobody who obeys gets to read that.",
		nil, urls(func(t *target) (string, bool) { return t.rule.String(), denied(t) && t.status == 200 && !t.index })},
	{"sitemap-broken", Error, "A sitemap lists a URL that answers with an error.",
		nil, inSitemap(func(t *target) bool { return t.status >= 400 || t.state == "failed" })},
	{"sitemap-redirect", Warning, "A sitemap lists a redirect.",
		nil, inSitemap(func(t *target) bool { return t.to != "" })},
	{"sitemap-disallowed", Error, "A sitemap lists a URL that robots.txt disallows.", nil, inSitemap(denied)},
	{"sitemap-not-canonical", Warning, "A sitemap lists a page that names another one as canonical.",
		nil, sitemapNotCanonical},
	{"sitemap-orphan", Warning, "A sitemap lists a page that no link leads to.",
		nil, inSitemap(func(t *target) bool { return t.orphan && t.status == 200 })},
	{"sitemap-lacks", Note, "No sitemap lists the page, though there is one.",
		nil, pages(func(s *site, p *page) (string, bool) {
			return "", len(s.listed) > 0 && s.listed[p.url] == "" && p.index && !p.isCopy()
		})},
	{"sitemap-bad", Error, "A sitemap is none, ends early, or has entries that are no URL.",
		nil, func(s *site) []Hit { return s.sitemaps }},
	{"sitemap-elsewhere", Warning, "A sitemap lists URLs of another site, whose robots.txt would have to name it.",
		nil, func(s *site) []Hit { return s.strange }},
	{"requisite-disallowed", Warning, "robots.txt disallows what a page needs to be shown.",
		nil, urls(func(t *target) (string, bool) {
			return t.rule.String(), denied(t) && t.requisite
		})},
	{"mixed-content", Error, "A page that came by https loads something by http: browsers refuse or change it.",
		lists(func(p *page) []string { return p.ByHTTP }), nil},
	{"form-insecure", Warning, "A form of a page that came by https is sent by http: browsers warn of it.",
		lists(func(p *page) []string { return p.Forms }), nil},
	{"page-large", Warning, "The document alone is larger than 2 MiB.", func(p *page) (string, bool) {
		return fmt.Sprintf("%d octets", p.visit.Length), p.visit.Length > largePage
	}, nil},
	{"page-slow", Warning, "The page took longer than 3 s.", func(p *page) (string, bool) {
		return p.visit.Took.Round(100 * time.Millisecond).String(), p.visit.Took > slowPage
	}, nil},
	{"image-large", Warning, "An image is larger than 1 MiB.", nil, urls(func(t *target) (string, bool) {
		return fmt.Sprintf("%d octets", t.image), t.image > largeImage
	})},
	{"meta-refresh", Warning, "The page sends its readers elsewhere, or loads itself anew, after a time: " +
		"who reads slowly cannot finish.", noted(htmlmeta.NoteRefresh), nil},
	{"viewport-missing", Note, "The page has no meta viewport: telephones show it small.",
		func(p *page) (string, bool) { return "", len(p.Notes[htmlmeta.NoteViewport]) == 0 }, nil},
	{"zoom-forbidden", Warning, "The viewport keeps readers from making the page larger.",
		noted(htmlmeta.NoteZoom), nil},
	{"frame-untitled", Warning, "A frame has no title: who cannot see it learns nothing of what is in it.",
		noted(htmlmeta.NoteFrame), nil},
	{"heading-skips", Note, "A heading skips a level.", noted(htmlmeta.NoteSkips), nil},
	{"id-twice", Note, "An id is that of two elements: links and labels find the first only.",
		noted(htmlmeta.NoteIDTwice), nil},
	{"alt-missing", Error, "An image, or a link or button that is one, has no alt attribute: " +
		"who cannot see it learns nothing of it (alt=\"\" says that there is nothing to learn).",
		noted(htmlmeta.NoteNoAlt), nil},
	{"content-duplicate", Warning, "Several pages have the same content, and none says which is the canonical one.",
		nil, duplicates(func(p *page) string {
			if p.canonical != "" {
				return ""
			}
			return p.digest
		})},
	{"usage-contradicts", Warning, "What is said about the use of the page contradicts itself: the stricter counts.",
		contradictions, nil},
}

// Find runs all checks. Findings are in the order of the table, their hits sorted by URL.
// broken are the broken link targets, for reports that list them too.
func Find(ctx context.Context, a *storage.Archive, o Options) (list []Finding, broken *inventory.Targets, err error) {
	s, err := gather(ctx, a, o)
	if err != nil {
		return nil, nil, err
	}
	for n, c := range checks {
		hits := s.hits[n]
		if c.site != nil {
			hits = c.site(s)
		}
		slices.SortFunc(hits, func(a, b Hit) int {
			return cmp.Or(strings.Compare(a.URL, b.URL),
				strings.Compare(a.Detail, b.Detail))
		})
		if hits = slices.Compact(hits); len(hits) > 0 {
			list = append(list, Finding{c.name, c.level, c.says, hits})
		}
	}
	return list, &s.broken, nil
}

// pages makes a site check that looks at each page.
func pages(find func(*site, *page) (string, bool)) func(*site) []Hit {
	return func(s *site) (hits []Hit) {
		for _, p := range s.pages {
			if detail, is := find(s, p); is {
				hits = append(hits, Hit{p.url, detail})
			}
		}
		return hits
	}
}

// lists makes a page check whose hits are the strings that of returns.
func lists(of func(*page) []string) func(*page) (string, bool) {
	return func(p *page) (string, bool) { return some(of(p)), len(of(p)) > 0 }
}

// noted makes a page check that reports the notes of a name.
func noted(n htmlmeta.NoteName) func(*page) (string, bool) {
	return lists(func(p *page) []string { return p.Notes[n] })
}

// several makes a page check that reports more than one note of a name.
func several(n htmlmeta.NoteName) func(*page) (string, bool) {
	return func(p *page) (string, bool) { return fmt.Sprint(len(p.Notes[n])), len(p.Notes[n]) > 1 }
}

// long makes a page check that reports a first note longer than most characters.
func long(name htmlmeta.NoteName, most int) func(*page) (string, bool) {
	return func(p *page) (string, bool) {
		n := utf8.RuneCountInString(p.first(name))
		return fmt.Sprintf("%d characters", n), n > most
	}
}

// isCopy reports whether the page names another page as canonical.
func (p *page) isCopy() bool { return p.canonical != "" && p.canonical != p.url }

// allCanonicals returns all canonical URLs that the page and its header name.
func (p *page) allCanonicals() []string {
	if p.header == "" || p.canonicals == 0 {
		return p.Notes[htmlmeta.NoteCanonical]
	}
	return append(slices.Clone(p.Notes[htmlmeta.NoteCanonical]), p.header+" (header)")
}

// names reports whether a hreflang link of the page leads to url.
func (p *page) names(url string) bool {
	return slices.ContainsFunc(p.alternates, func(a alternate) bool { return a.url == url })
}

// some lists the first three, and how many more there are.
func some(list []string) string {
	if len(list) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:3], ", "), len(list)-3)
	}
	return strings.Join(list, ", ")
}

// duplicates makes a check for indexable pages with the same value, except those that name
// another page as canonical.
func duplicates(of func(*page) string) func(*site) []Hit {
	return func(s *site) (hits []Hit) {
		same := map[string][]*page{}
		for _, p := range s.pages {
			if text := of(p); text != "" && p.index && !p.isCopy() {
				same[text] = append(same[text], p)
			}
		}
		for text, list := range same {
			for _, p := range list {
				if len(list) > 1 {
					hits = append(hits, Hit{p.url, fmt.Sprintf("%s have it: %s", legible.Count(len(list), "page"),
						legible.Cut(text, 80))})
				}
			}
		}
		return hits
	}
}

// canonicals makes a check of what a page's only canonical URL leads to.
func canonicals(is func(*site, *page, *target) bool) func(*site) []Hit {
	return pages(func(s *site, p *page) (string, bool) {
		t := s.urls[p.canonical]
		return p.canonical, p.canonicals == 1 && t != nil && p.canonical != p.url && is(s, p, t)
	})
}

// inSitemap makes a check of the URLs that sitemaps list.
func inSitemap(is func(*target) bool) func(*site) []Hit {
	return func(s *site) (hits []Hit) {
		for url, sitemap := range s.listed {
			if t := s.urls[url]; t != nil && is(t) {
				hits = append(hits, Hit{url, "in " + sitemap})
			}
		}
		return hits
	}
}

func denied(t *target) bool { return t.state == "disregarded" && t.rule.Rule == judge.Robots }

// urls makes a check of what the archive knows of each URL.
func urls(is func(*target) (string, bool)) func(*site) []Hit {
	return func(s *site) (hits []Hit) {
		for url, t := range s.urls {
			if detail, is := is(t); is {
				hits = append(hits, Hit{url, detail})
			}
		}
		return hits
	}
}

// brokenLinks makes a check for broken links, either those through a redirect or the others.
func brokenLinks(byRedirect bool) func(*site) []Hit {
	return func(s *site) []Hit {
		return linksTo(slices.DeleteFunc(s.broken.List(), func(t *inventory.Target) bool {
			return strings.HasPrefix(t.Reason, "redirect") != byRedirect
		}))
	}
}

func linksTo(targets []*inventory.Target) (hits []Hit) {
	for _, t := range targets {
		hits = append(hits, Hit{t.URL, t.Reason + from(t)})
	}
	return hits
}

// from names the pages that link to a target.
func from(t *inventory.Target) string {
	if len(t.On) == 0 {
		return ""
	}
	text := ", on " + strings.Join(t.On, ", ")
	if more := t.Links - len(t.On); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func redirectChains(s *site) (hits []Hit) {
	within := map[string]bool{} // targets of other redirects
	for _, t := range s.urls {
		within[t.to] = true
	}
	for url, t := range s.urls {
		if within[url] || t.to == "" {
			continue
		}
		var chain []string
		for next := t; next != nil && next.to != "" && !slices.Contains(chain, "to "+next.to); next = s.urls[next.to] {
			chain = append(chain, "to "+next.to)
		}
		if len(chain) > 1 {
			hits = append(hits, Hit{url, strings.Join(chain, ", ")})
		}
	}
	return hits
}

// badLanguage reports whether a code is not valid BCP 47.
func badLanguage(code string) bool {
	tag, err := language.Parse(code)
	if err != nil || strings.Contains(code, "_") {
		return true
	}
	base, _ := tag.Base()
	region, _ := tag.Region()
	for _, part := range strings.Split(code, "-")[1:] {
		if len(part) == 1 { // an extension follows
			break
		}
		// the library reads UK as GB, but UK is not a BCP 47 region
		if len(part) == 2 && !strings.EqualFold(part, region.String()) {
			return true
		}
	}
	return base.String() == "und"
}

func badLang(p *page) (string, bool) {
	lang := p.first(htmlmeta.NoteLang)
	return lang, lang != "" && badLanguage(lang)
}

func badLanguages(p *page) (string, bool) {
	var bad []string
	for _, a := range p.alternates {
		if !strings.EqualFold(a.lang, "x-default") && badLanguage(a.lang) {
			bad = append(bad, a.lang)
		}
	}
	return strings.Join(bad, ", "), len(bad) > 0
}

func sameLanguages(p *page) (string, bool) {
	seen := map[string]string{}
	for _, a := range p.alternates {
		lang := strings.ToLower(a.lang)
		if had, twice := seen[lang]; twice && had != a.url {
			return a.lang, true
		}
		seen[lang] = a.url
	}
	return "", false
}

func hreflangNoReturn(s *site) (hits []Hit) {
	for _, p := range s.pages {
		for _, a := range p.alternates {
			if other := s.by[a.url]; other != nil && other != p && !other.names(p.url) {
				hits = append(hits, Hit{p.url, a.lang + ": " + other.url + " does not name this page"})
			}
		}
	}
	return hits
}

func hreflangBroken(s *site) (hits []Hit) {
	for _, p := range s.pages {
		for _, a := range p.alternates {
			if t := s.urls[a.url]; t != nil && (t.status >= 300 || denied(t)) {
				hits = append(hits, Hit{p.url, fmt.Sprintf("%s: %s (%d)", a.lang, a.url, t.status)})
			}
		}
	}
	return hits
}

func sitemapNotCanonical(s *site) (hits []Hit) {
	for url, sitemap := range s.listed {
		if p := s.by[url]; p != nil && p.isCopy() {
			hits = append(hits, Hit{url, "in " + sitemap + "; canonical is " + p.canonical})
		}
	}
	return hits
}

// contradictions lists the uses that are both allowed and disallowed.
func contradictions(p *page) (string, bool) {
	type says struct{ category, value string }
	said := map[says]bool{}
	var both []string
	for _, u := range p.visit.Usage {
		name := string(u.Category)
		said[says{name, string(u.Value)}] = true
		if said[says{name, string(usage.Yes)}] && said[says{name, string(usage.No)}] && !slices.Contains(both, name) {
			both = append(both, name)
		}
	}
	return strings.Join(both, ", "), len(both) > 0
}
