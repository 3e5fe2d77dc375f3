package visit

import (
	"sync"

	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/htmlmeta"
)

// guesses counts how many of the URLs guessed from script literals exist, by their shape, and records
// whether a feed of the site was found. It is safe for concurrent use and starts empty in each run.
type guesses struct {
	mu     sync.Mutex
	shapes map[string]guessed
	all    guessed // over all shapes
	feed   bool
}

type guessed struct{ asked, there int }

// maxGuessed bounds the number of shapes.
const maxGuessed = 1 << 14

// count returns how many URLs of a shape were requested and how many existed. If little is known of the
// shape, it returns the numbers for all shapes of the site: otherwise a script of module names would
// cause a few requests for each directory.
func (g *guesses) count(shape string) (asked, there int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.shapes[shape]
	if n.asked < fewGuessed && (g.all.asked >= manyGuessed || g.all.there == 0 && 2*g.all.asked >= manyGuessed) {
		n = g.all
	}
	return n.asked, n.there
}

// With fewer than fewGuessed responses a shape is not judged by itself. With manyGuessed, or half of
// that if no URL existed, the site as a whole is.
const (
	fewGuessed  = 4
	manyGuessed = 16
)

// note records the response to an entry.
func (g *guesses) note(e *frontier.Entry, status int) {
	if e.Class != frontier.Speculative || status == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	shape := judge.GuessShape(e.URL)
	g.all.asked++
	if status < 400 {
		g.all.there++
	}
	n, known := g.shapes[shape]
	if !known && len(g.shapes) >= maxGuessed {
		return
	}
	n.asked++
	if status < 400 {
		n.there++
	}
	g.shapes[shape] = n
}

// isAlternate reports whether a link is fetched last: the page in another form, or data for programs. The
// first feed is not one of them, as it lists pages.
func (g *guesses) isAlternate(l *htmlmeta.Link) bool {
	if l.Kind != htmlmeta.Alternate || l.IsCanonical() {
		return false
	}
	if !l.Feed {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	first := !g.feed
	g.feed = true
	return !first
}
