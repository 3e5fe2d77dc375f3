package judge

import "curtsy/internal/weburl"

// Class is the kind of queue a URL waits in. Its number is stored; Served says
// in which order they are served.
type Class uint8

// Kinds of queues.
const (
	Prerequisite Class = iota // robots.txt
	Sitemap
	Requisite // what a fetched page needs to be shown
	Page
	Variant     // a page like others that are known; the frontier's own: a link to it is of the class Page
	Disregarded // decided against at discovery; never handed out
	Speculative // what a literal in a script may name
	NumClasses
)

// Served lists the classes that are handed out, the first first.
var Served = [...]Class{Prerequisite, Sitemap, Requisite, Speculative, Page, Variant}

func (c Class) String() string {
	return [...]string{"prerequisite", "sitemap", "requisite", "page", "variant", "disregarded", "speculative"}[c]
}

// OfLink is the class of the links in a queue of the class.
func (c Class) OfLink() Class {
	if c == Variant {
		return Page
	}
	return c
}

// How is how a URL was found: one of the names below, or the element and the
// attribute that link to it, as "a href". There are few distinct values.
type How string

// Ways to find a URL that are no element of a page.
const (
	HowSeed         How = "seed"  // and where the seed redirects to
	HowGiven        How = "given" // beside the seed, by whoever began the crawl
	HowRedirect     How = "redirect"
	HowRobots       How = "robots.txt"
	HowSitemap      How = "sitemap" // a page that a sitemap lists
	HowSitemapIndex How = "sitemap index"
	HowSitemapLine  How = "sitemap of robots.txt"
	HowGuess        How = "a sitemap where most sites have theirs" // robots.txt names none
	HowUsageFile    How = "a file about use where its standard has it"
	HowLicense      How = "license of robots.txt"
	HowProbe        How = "probe for soft 404s"        // a name made up
	HowName         How = "perhaps a name of the site" // asked to learn whether it is one
	HowOwnName      How = "another name of the site"   // which alone has it
	HowRendering    How = "asked for by a browser"     // while it rendered the page that led here
	HowDamaged      How = "a damaged record"
)

// Link is a URL, and how it was found.
type Link struct {
	URL       weburl.URL
	Class     Class
	Via       uint64 // the id of the URL that led here; 0 for a seed
	Depth     int    // links followed from the seed
	Redirects int    // redirects followed since the last link
	How       How
	Reason    Reason // why it is disregarded, for that class
	// Soft marks a disregarded URL that a later find may queue after all:
	// a nofollow link excludes that link, not the URL.
	Soft bool
	// Alternate marks a page in another form (rel=alternate) that is not canonical, but for
	// the first feed: it waits as Late ones do. It is not stored.
	Alternate bool
	// Late makes a page wait until the others are fetched.
	Late bool
	// Needed marks a requisite, also where it is disregarded.
	Needed bool
}

// IsSeed says whether the link is what the crawl was started with.
func (l *Link) IsSeed() bool { return l.How == HowSeed }

// Listed says whether the link is a page that a sitemap names.
func (l *Link) Listed() bool { return l.Class == Page && l.How == HowSitemap }

// Admit makes a link that was disregarded one to be fetched.
func (l *Link) Admit() {
	l.Class, l.Reason, l.Soft = Page, Reason{}, false
	if l.Needed {
		l.Class = Requisite
	}
}

// Exclude makes the link one that is not to be fetched, as a verdict says.
func (l *Link) Exclude(v Verdict) { l.Class, l.Reason, l.Soft = Disregarded, v.Reason, v.Soft }
