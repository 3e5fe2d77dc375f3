package visit

import (
	"sync"

	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/htmlmeta"
)

// guesses is what came of the literals in scripts, by their shape, and whether
// a feed of the site was met. It is for any goroutine, and begins anew with
// each run. The zero value is ready.
type guesses struct {
	mu     sync.Mutex
	shapes map[string]guessed
	all    guessed // over all shapes
	feed   bool
}

type guessed struct{ asked, there int }

// maxGuessed bounds what is remembered.
const maxGuessed = 1 << 14

// count is how many literals of a shape were asked for, and how many were
// there. A shape of which little is known is worth what all literals of the site
// are: else a script of module names has a few of each directory asked for.
func (g *guesses) count(shape string) (asked, there int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.shapes[shape]
	if n.asked < fewGuessed && (g.all.asked >= manyGuessed || g.all.there == 0 && 2*g.all.asked >= manyGuessed) {
		n = g.all
	}
	return n.asked, n.there
}

// fewGuessed is how many answers tell little of a shape, manyGuessed how many
// tell enough of a site, half of them where nothing was there.
const (
	fewGuessed  = 4
	manyGuessed = 16
)

// note takes in what came of an entry.
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

// isAlternate says whether a link is asked for last: the page again in another form,
// or what is for programs. The first feed is none of these: what it lists are
// pages.
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
