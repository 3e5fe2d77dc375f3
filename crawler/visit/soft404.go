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
	"curtsy/internal/weburl"
)

// A soft 404 says "not found" with status 200. Where such a page links to
// ever new names, or holds its own address, neither the status nor the digest
// of the body ends the crawl. Suspicion arises when many pages look alike and
// each still brings new links; then the site is asked, once, for a name that
// was made up. If that is answered with a page that looks the same, the links
// of all that look so are held back: they are kept, and lead nowhere.

// Bounds of the search for soft 404s.
const (
	maxShapes   = 4096     // kinds of pages that are told apart
	maxProbes   = 8        // made-up names in one run
	maxLookedAt = 16 << 10 // octets of a page: what pages have in common is at their beginning
	nearPrints  = 6        // bits in which the prints of pages that look alike may differ
)

// lookalikes is what is known of pages that look alike.
type lookalikes struct {
	mu     sync.Mutex
	shapes map[uint64]*shape // by title and number of links
	probes map[string]*shape // made-up names that were not answered yet
	asked  int
}

// shape is a kind of pages.
type shape struct {
	pages   int    // that brought new links
	print   uint64 // of one of them
	alike   int    // how many look like it
	verdict verdict
}

type verdict int

const (
	unasked verdict = iota
	asked
	honest // the site knows what it does not have
	soft   // print is that of its "not found"
)

// softNotFound says whether the links of a page are to be held back. It may
// add the made-up name to the page's links.
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
		s.verdict = honest // pages of a kind, most of which differ
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

// exclude asks about the links once more, now that more is known of the page.
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

// bringsNew says whether one of the links is a page that nobody knew.
func bringsNew(links []frontier.Link) bool {
	for i := range links {
		if links[i].Class == frontier.Page {
			return true
		}
	}
	return false
}

// shape is the kind that a page is of; nil if there are too many kinds.
func (look *lookalikes) shape(u weburl.URL, doc *htmlmeta.Document) *shape {
	own := words(u.String())
	key := uint64(len(doc.Links))
	mix := func(w uint64) { key = (key ^ w) * fnvPrime }
	eachWord([]byte(u.Origin()), mix)
	eachWord([]byte(bounded(doc.Title, 200)), func(w uint64) {
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

// probe makes up a name beside the page. It goes before other pages, so that
// the answer comes while it is of use.
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

// answered takes in what a made-up name was answered with. It is no page.
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

// print is a similarity hash (Charikar 2002) of what a page shows, without
// the words of its own address: pages that differ in a few words differ in a
// few bits.
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

// words are the words of a text, as eachWord gives them.
func words(s string) map[uint64]bool {
	m := map[uint64]bool{}
	eachWord([]byte(s), func(w uint64) { m[w] = true })
	return m
}

// eachWord calls f with a hash of every run of letters, whatever their case,
// that is no part of a number or an identifier with digits.
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
