package visit

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"sync"

	"curtsy/crawler/fetch"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/htmlmeta"
	"curtsy/internal/legible"
	"curtsy/internal/weburl"
)

// A soft 404 says "not found" with status 200. If such pages link to ever new names or contain their own
// address, neither status nor body digest ends the crawl. When many pages look alike and each still has
// new links, a made-up name is requested once from the site. If the response looks like these pages, they
// are soft 404s: they are archived, but their links are not followed.

// Bounds of the search for soft 404s.
const (
	maxShapes   = 4096     // kinds of pages that are distinguished
	maxProbes   = 8        // made-up names requested in one run
	maxLookedAt = 16 << 10 // octets of a page that are hashed, from its beginning
	nearPrints  = 6        // bits in which the hashes of similar pages may differ
)

// lookalikes is what is known of pages that look alike.
type lookalikes struct {
	mu     sync.Mutex
	shapes map[uint64]*shape // by origin, title and number of links
	probes map[string]*shape // made-up names without a response yet
	asked  int
}

// shape is one kind of page.
type shape struct {
	pages   int    // pages with new links
	print   uint64 // similarity hash of one of them
	alike   int    // how many have a similar hash
	verdict verdict
}

type verdict int

const (
	unasked verdict = iota
	asked
	honest // the site reports missing pages properly
	soft   // print is that of its "not found" page
)

// softNotFound excludes the links of a page that looks like a soft 404. It may add a made-up name to the
// links.
func (o *Outcome) softNotFound(r *Reader, a *Attempt, x *fetch.Exchange, doc *htmlmeta.Document) {
	most := r.Scope().Traps.SoftNotFound
	if most <= 0 || !bringsNew(o.Links) {
		return
	}
	look := &r.look
	look.mu.Lock()
	defer look.mu.Unlock()
	s := look.shape(a.URL, doc)
	if s == nil || s.verdict == honest {
		return
	}
	if s.pages++; s.pages <= most/2 {
		return
	}
	if s.verdict == unasked && s.pages > most && s.alike < s.pages/4 {
		s.verdict = honest // most pages of this kind differ
		return
	}
	p, ok := r.print(x, a.URL)
	switch {
	case !ok:
	case s.print == 0:
		s.print = p
	case bits.OnesCount64(s.print^p) > nearPrints:
	case s.verdict == soft:
		o.exclude(&judge.Facts{Settings: r.Scope(), Page: judge.PageFacts{SoftNotFound: true}})
	case s.verdict == unasked:
		if s.alike++; s.alike >= most/2 && look.asked < maxProbes {
			o.Links = append(o.Links, look.probe(s, a))
		}
	}
}

// exclude judges the links again, now that the page is known to be a soft 404.
func (o *Outcome) exclude(f *judge.Facts) {
	for i := range o.Links {
		l := &o.Links[i]
		if l.Class == frontier.Disregarded {
			continue
		}
		if v := judge.Decide(judge.Compared, l, f); v.Excludes() {
			l.Exclude(v)
		}
	}
}

// bringsNew reports whether one of the links is to an unknown page.
func bringsNew(links []frontier.Link) bool {
	for i := range links {
		if links[i].Class == frontier.Page {
			return true
		}
	}
	return false
}

// shape returns the kind of a page; nil if there are too many kinds.
func (look *lookalikes) shape(u weburl.URL, doc *htmlmeta.Document) *shape {
	own := words(u.String())
	key := uint64(len(doc.Links))
	mix := func(w uint64) { key = (key ^ w) * fnvPrime }
	eachWord([]byte(u.Origin()), mix)
	eachWord([]byte(legible.First(doc.Title, 200)), func(w uint64) {
		if !own[w] {
			mix(w)
		}
	})
	s := look.shapes[key]
	if s == nil && len(look.shapes) < maxShapes {
		if look.shapes == nil {
			look.shapes, look.probes = map[uint64]*shape{}, map[string]*shape{}
		}
		s = &shape{}
		look.shapes[key] = s
	}
	return s
}

// probe makes up a name in the page's directory. As a requisite it is fetched before further pages.
func (look *lookalikes) probe(s *shape, a *Attempt) frontier.Link {
	s.verdict = asked
	look.asked++
	path := a.URL.Path()
	u := weburl.FromCanonical(fmt.Sprintf("%s%scurtsy-%08x%08x", a.URL.Origin(),
		path[:strings.LastIndexByte(path, '/')+1], rand.Uint32(), rand.Uint32()))
	look.probes[u.String()] = s
	return frontier.Link{URL: u, Class: frontier.Requisite, Via: a.Entry.ID, Depth: a.Entry.Depth + 1,
		How: judge.HowProbe}
}

// answered evaluates the response to a made-up name, which is not a page.
func (o *Outcome) answered(r *Reader, a *Attempt, x *fetch.Exchange) {
	o.Links = nil
	p, isPage := uint64(0), false
	if x.Err == nil && x.Status == 200 {
		p, isPage = r.print(x, a.URL)
		o.Visit.Blocked = "a made-up name, requested once to learn how the site answers for missing pages"
		o.State, o.Reason = frontier.StateDisregarded, Because(judge.Probe, "made up, but answered like a page")
	}
	if x.Err == nil && x.Status >= 400 && x.Status < 500 {
		o.State, o.Reason = frontier.StateDisregarded, Because(judge.Probe, "made up; the site reports it as missing")
	}
	look := &r.look
	look.mu.Lock()
	defer look.mu.Unlock()
	s := look.probes[a.URL.String()]
	delete(look.probes, a.URL.String())
	switch {
	case s == nil:
	case isPage && bits.OnesCount64(s.print^p) <= nearPrints:
		s.verdict = soft
		r.opts.Logger.Warn("the site answers names that do not exist with a page, whose links are not followed",
			"asked", a.URL.String())
	default:
		s.verdict = honest
	}
}

// print returns a similarity hash (Charikar 2002) of the text that a page shows, without the words of its
// own address: pages that differ in a few words differ in a few bits.
func (r *Reader) print(x *fetch.Exchange, u weburl.URL) (p uint64, ok bool) {
	body, _, err := x.Decoded(r.opts.MaxParse)
	if err != nil && len(body) == 0 {
		return 0, false
	}
	own := words(u.String())
	var sums [64]int
	n := 0
	htmlmeta.EachText(body[:min(len(body), maxLookedAt)], func(text []byte) {
		eachWord(text, func(w uint64) {
			if own[w] {
				return
			}
			n++
			for i := range sums {
				sums[i] += int(w>>i&1)*2 - 1
			}
		})
	})
	for i, sum := range sums {
		if sum > 0 {
			p |= 1 << i
		}
	}
	return p, n >= 8
}

// words returns the hashes of the words of a text; see eachWord.
func words(s string) map[uint64]bool {
	m := map[uint64]bool{}
	eachWord([]byte(s), func(w uint64) { m[w] = true })
	return m
}

// eachWord calls f with a hash of each word, ignoring case. Words with digits, and those of 64 octets or
// more, are skipped.
func eachWord(b []byte, f func(hash uint64)) {
	h, n, digits := uint64(fnvBasis), 0, false
	for i := 0; i <= len(b); i++ {
		if i < len(b) && isWordByte(b[i]) {
			c := b[i]
			if c >= 'A' && c <= 'Z' {
				c |= 0x20
			}
			h = (h ^ uint64(c)) * fnvPrime
			n, digits = n+1, digits || c <= '9'
			continue
		}
		if n > 0 && n < 64 && !digits {
			f((h ^ h>>32) * 0x9e3779b97f4a7c15) // FNV's high bits are poor for short words
		}
		h, n, digits = fnvBasis, 0, false
	}
}

// FNV-1a, 64 bits.
const (
	fnvBasis = 14695981039346656037
	fnvPrime = 1099511628211
)

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}
