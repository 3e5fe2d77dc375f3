package report

import (
	"cmp"
	"slices"
	"strings"

	"curtsy/frontier/judge"
)

// Why a redirect leads nowhere.
const (
	inCircle = "in a circle"
	tooMany  = "more than 20 in a row" // judge.MaxRedirects
)

// chain is where a redirect leads.
type chain struct {
	from    string
	via     []string // the URLs that follow, in order
	nowhere string   // why it leads nowhere; "" if there may be a page at its end
}

// chainOf follows a redirect as far as a crawl does.
func (g *gatherer) chainOf(from string) chain {
	c := chain{from: from}
	for at := from; ; {
		next, moved := g.moved[at]
		switch {
		case !moved:
			if g.cutOff[at] {
				c.nowhere = tooMany
			}
			return c
		case len(c.via) == judge.MaxRedirects:
			c.nowhere = tooMany
			return c
		}
		isCircle := next == from || slices.Contains(c.via, next)
		c.via = append(c.via, next)
		if isCircle {
			c.nowhere = inCircle
			return c
		}
		at = next
	}
}

// redirects lists the chains, those that lead nowhere first, then the longest.
func (g *gatherer) redirects() {
	chains := make([]chain, 0, len(g.moved))
	for from := range g.moved {
		c := g.chainOf(from)
		if c.nowhere != "" {
			g.r.Nowhere++
		}
		chains = append(chains, c)
	}
	slices.SortFunc(chains, func(a, b chain) int {
		return cmp.Or(strings.Compare(b.nowhere, a.nowhere), len(b.via)-len(a.via), strings.Compare(a.from, b.from))
	})
	for _, c := range chains {
		text := cmp.Or(c.nowhere, many(len(c.via), "step"))
		listed := !g.unlisted[c.from] && !slices.ContainsFunc(c.via, func(u string) bool { return g.unlisted[u] })
		g.r.Redirects.add(listed, Line{URL: c.from, Text: text, On: c.via[:min(3, len(c.via))],
			More: max(0, len(c.via)-3)})
	}
}
