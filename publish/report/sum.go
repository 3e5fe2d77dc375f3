package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"curtsy/internal/legible"
)

// sum computes the figures and charts of the report.
func (g *gatherer) sum() {
	r := g.r
	g.redirects()
	r.Unlisted = len(g.unlisted)
	urls, holds := r.URLs, r.Holds
	r.Numbers = []Number{
		{countText(holds.Pages), "pages"}, {legible.Bytes(g.bytes), "of responses"},
		{countText(urls.Discovered), "URLs known"}, {countText(urls.Fetched), "URLs fetched"},
		{countText(urls.Failed), "URLs failed"}, {countText(holds.Kept), "URLs kept"},
		{countText(r.Broken.Total), "broken URLs"}, {countText(urls.Disregarded), "URLs skipped by a rule"},
	}
	for _, more := range []struct {
		n    int
		name string
	}{{holds.Withheld, "URLs withheld"}, {urls.OtherSites(), "URLs of other sites"},
		{urls.Queued(), "URLs still queued"}, {r.Nowhere, "redirects that lead nowhere"}} {
		if more.n > 0 {
			r.Numbers = append(r.Numbers, Number{countText(more.n), more.name})
		}
	}
	if r.Again > 0 {
		r.Numbers = append(r.Numbers, Number{fmt.Sprintf("%s of %s", countText(r.Changed), countText(r.Again)),
			"revisited URLs had changed"})
	}
	r.Status = bars("Responses by status", g.statuses, 10, countText[int])
	r.Types = bars("Types by size", g.types, 10, legible.Bytes)
	r.Languages = bars("Languages of pages", g.langs, 10, countText[int])
	g.depth()
	g.skipped()
	r.Next = g.next()
}

// maxDepth is the most depths shown separately.
const maxDepth = 12

// depth plots the distance of pages from the seed.
func (g *gatherer) depth() {
	p := Plot{Title: "Pages by distance from the seed"}
	for i, depth := range slices.Sorted(maps.Keys(g.depths)) {
		n := g.depths[depth]
		if i < maxDepth {
			p.Bars = append(p.Bars, Bar{legible.Count(depth, "link"), float64(n), countText(n)})
			continue
		}
		last := &p.Bars[maxDepth-1]
		last.Label, last.Value = "more links", last.Value+float64(n)
		last.Text = countText(int(last.Value))
	}
	g.r.Depth = p
}

// bars makes a plot of the largest values, with the others in one bar.
func bars[N int | int64](title string, m map[string]N, most int, text func(N) string) Plot {
	p := Plot{Title: title}
	names := slices.SortedFunc(maps.Keys(m),
		func(a, b string) int { return cmp.Or(cmp.Compare(m[b], m[a]), strings.Compare(a, b)) })
	var rest N
	for i, name := range names {
		if i >= most {
			rest += m[name]
			continue
		}
		p.Bars = append(p.Bars, Bar{name, float64(m[name]), text(m[name])})
	}
	if rest > 0 {
		p.Bars = append(p.Bars, Bar{fmt.Sprintf("%d others", len(names)-most), float64(rest), text(rest)})
	}
	return p
}

// maxRules is the most rules listed separately.
const maxRules = 10

// skipped lists the rules that skipped URLs.
func (g *gatherer) skipped() {
	rules := slices.SortedFunc(maps.Values(g.rules),
		func(a, b *Rule) int { return cmp.Or(b.Total-a.Total, strings.Compare(a.Name, b.Name)) })
	for i, rule := range rules {
		if i == maxRules {
			rest := Rule{Name: fmt.Sprintf("%d other rules", len(rules)-maxRules)}
			for _, more := range rules[maxRules:] {
				rest.Total += more.Total
			}
			rest.Others = rest.Total
			g.r.Skipped = append(g.r.Skipped, rest)
			break
		}
		rule.Places = top(g.places, rule.Name, 5)
		rule.Others = rule.Total
		for _, p := range rule.Places {
			rule.Others -= p.Total
		}
		g.r.Skipped = append(g.r.Skipped, *rule)
	}
}

// top lists the n largest values whose key begins with first.
func top(m map[[2]string]int, first string, n int) []Place {
	var list []Place
	for key, total := range m {
		if key[0] == first {
			list = append(list, Place{key[1], total})
		}
	}
	slices.SortFunc(list, func(a, b Place) int { return cmp.Or(b.Total-a.Total, strings.Compare(a.Name, b.Name)) })
	return list[:min(n, len(list))]
}

// next suggests what to do next.
func (g *gatherer) next() (steps []Step) {
	r, dir := g.r, g.o.Dir
	add := func(when bool, text, command string) {
		if when {
			steps = append(steps, Step{text, command})
		}
	}
	add(g.o.Incomplete != "", "The crawl is not complete. To continue:", "curtsy resume "+dir)
	add(r.Broken.Total > 0, "Repair the broken links; this lists all of them with their pages:", "curtsy links "+dir+
		" --broken --format csv")
	add(r.Orphans.Total > 0, "Link to the orphans from somewhere, or take them out of the sitemap.", "")
	add(r.Nowhere > 0, "Repair the redirects that lead nowhere: no visitor gets to a page by them.", "")
	add(r.Redirects.Total > r.Nowhere,
		"Links that lead to a redirect cost every visitor a request; point them at the final URL instead.", "")
	add(r.Untitled.Total > 0, "Give the pages without a title one: it is what search engines and bookmarks display.",
		"")
	add(true, "Read the site offline:", "curtsy mirror "+dir+" "+dir+"-mirror")
	add(true, "Check that the archive is intact:", "curtsy verify "+dir)
	return steps
}
