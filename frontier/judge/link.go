package judge

import "curtsy/internal/weburl"

// Class is the queue that a URL waits in. Its number is stored; Served gives the order of service.
type Class uint8

// Classes of URLs.
const (
	Prerequisite Class = iota // robots.txt
	Sitemap
	Requisite // needed to display a fetched page
	Page
	Variant     // a Late page; only the frontier uses it: links to it have class Page
	Disregarded // excluded at discovery; never handed out
	Speculative // guessed from a literal in a script
	NumClasses
)

// Served lists the classes that are handed out, in order of service.
var Served = [...]Class{Prerequisite, Sitemap, Requisite, Speculative, Page, Variant}

func (c Class) String() string {
	return [...]string{"prerequisite", "sitemap", "requisite", "page", "variant", "disregarded", "speculative"}[c]
}

// OfLink returns the class of the links in a queue of class c.
func (c Class) OfLink() Class {
	if c == Variant {
		return Page
	}
	return c
}

// How says how a URL was found: one of the constants below, or the element and attribute of the link, as
// "a href". There are few distinct values.
type How string

// Ways to find a URL other than through an element of a page.
const (
	HowSeed         How = "seed"  // also a redirect target of the seed
	HowGiven        How = "given" // given by the user besides the seed
	HowRedirect     How = "redirect"
	HowRobots       How = "robots.txt"
	HowSitemap      How = "sitemap" // a page in a sitemap
	HowSitemapIndex How = "sitemap index"
	HowSitemapLine  How = "sitemap of robots.txt"
	HowGuess        How = "a sitemap where most sites have theirs" // robots.txt names no sitemap
	HowUsageFile    How = "a file about use where its standard has it"
	HowLicense      How = "license of robots.txt"
	HowProbe        How = "probe for soft 404s"        // a made-up name
	HowName         How = "perhaps a name of the site" // fetched to find out whether it is one
	HowOwnName      How = "another name of the site"   // exists under that name only
	HowRendering    How = "asked for by a browser"     // while it rendered the referring page
	HowDamaged      How = "a damaged record"
)

// Link is a URL, and how it was found.
type Link struct {
	URL       weburl.URL
	Class     Class
	Via       uint64 // id of the referring URL; 0 for a seed
	Depth     int    // links followed from the seed
	Redirects int    // redirects followed since the last link
	How       How
	Reason    Reason // why it is disregarded, if it is
	// Soft marks a disregarded URL that a later link may queue: nofollow, for example, excludes
	// the link, not the URL.
	Soft bool
	// Alternate marks another form of a page (rel=alternate) that is neither canonical nor the
	// first feed. It is fetched late, and the mark is not stored.
	Alternate bool
	// Late makes a page wait until the others are fetched.
	Late bool
	// Needed marks a requisite, even if it is disregarded.
	Needed bool
}

// IsSeed reports whether the link is the seed or its redirect target.
func (l *Link) IsSeed() bool { return l.How == HowSeed }

// Listed reports whether the link is a page from a sitemap.
func (l *Link) Listed() bool { return l.Class == Page && l.How == HowSitemap }

// Admit turns a disregarded link into one to be fetched.
func (l *Link) Admit() {
	l.Class, l.Reason, l.Soft = Page, Reason{}, false
	if l.Needed {
		l.Class = Requisite
	}
}

// Exclude turns the link into a disregarded one, with the verdict's reason.
func (l *Link) Exclude(v Verdict) { l.Class, l.Reason, l.Soft = Disregarded, v.Reason, v.Soft }
