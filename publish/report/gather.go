package report

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"time"

	"curtsy/frontier/judge"
	"curtsy/internal/http1"
	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/publish/audit"
	"curtsy/publish/inventory"
	"curtsy/storage"
	"curtsy/storage/crawllog"
	"curtsy/usage"
)

// gatherer reads an archive: all URLs and all links once, and the URLs again if there are
// duplicate pages.
type gatherer struct {
	o        Options
	r        *Report
	a        *storage.Archive
	seed     maphash.Seed
	unlisted map[string]bool // URLs that must not be published

	statuses, langs map[string]int
	depths          map[int]int
	types           map[string]int64
	rules           map[string]*Rule
	places          map[[2]string]int
	bodies          map[uint64]int32 // number of pages, by the digest of their body
	moved           map[string]string
	cutOff          map[string]bool // targets of redirect chains that are too long
	copies          map[uint64]*Line
	requests        requests
	totals
}

type totals struct {
	bytes int64
	uses  [4]Use // by category
}

func gather(ctx context.Context, a *storage.Archive, o Options) (*Report, error) {
	g := &gatherer{o: o, r: &Report{Options: o}, a: a, seed: maphash.MakeSeed(), unlisted: map[string]bool{},
		statuses: map[string]int{}, depths: map[int]int{}, langs: map[string]int{}, types: map[string]int64{},
		rules:  map[string]*Rule{},
		places: map[[2]string]int{}, bodies: map[uint64]int32{}, moved: map[string]string{}, cutOff: map[string]bool{},
		copies:   map[uint64]*Line{},
		requests: requests{hosts: map[string]uint16{}, delays: map[[2]string]int{}}}
	for _, step := range []func(context.Context) error{g.readRows, g.readCopies, g.readLinks, g.sumVisits,
		g.readFindings} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	for i, says := range []string{"be found by a search", "be given to a model when it answers (ai-input)",
		"train a model (train-ai)", "be mined for text and data (tdm)"} {
		g.uses[i].Says = says
	}
	g.r.Uses = g.uses[:]
	g.sum()
	return g.r, nil
}

// each calls row for all URLs.
func (g *gatherer) each(ctx context.Context, row func(*inventory.Row)) error {
	return inventory.Rows(g.a, g.o.Known, g.o.Now, func(r *inventory.Row) error {
		row(r)
		return ctx.Err()
	})
}

// isPage reports whether a row is a page with a successful response.
func isPage(r *inventory.Row) bool { return r.Visit != nil && r.Visit.IsPage() }

// readRows counts all URLs by what became of them.
func (g *gatherer) readRows(ctx context.Context) error {
	return g.each(ctx, func(r *inventory.Row) {
		if !r.Listed {
			g.unlisted[r.URL] = true
		}
		if r.State == "disregarded" && judge.Belongs(r.Rule.Rule) {
			g.skip(r)
		}
		if r.State == "disregarded" && r.Rule.Rule == judge.Redirects {
			g.cutOff[r.URL] = true
		}
		if r.Visit == nil {
			return
		}
		g.statuses[statusName(r.Status)]++
		g.bytes += r.Bytes
		if r.Visit.Kept != "" {
			g.types[cmp.Or(http1.MediaType(r.Type), "not said")] += r.Bytes
		}
		if r.Visit.Location != "" {
			g.moved[r.URL] = r.Visit.Location
		}
		if r.Orphan {
			g.r.Orphans.add(r.Listed, Line{URL: r.URL, Text: r.Title})
		}
		if isPage(r) {
			g.page(r)
		}
	})
}

func (g *gatherer) page(r *inventory.Row) {
	for i, c := range usage.Categories {
		switch r.Usage[c] {
		case usage.Yes:
			g.uses[i].Allow++
		case usage.No:
			g.uses[i].Deny++
		default:
			g.uses[i].Nothing++
		}
	}
	g.depths[r.Depth]++
	lang, _, _ := strings.Cut(strings.ToLower(r.Visit.Lang), "-")
	lang = cmp.Or(lang, "not said")
	g.langs[legible.Cut(lang, 20)]++
	if r.Title == "" && r.Visit.Kept != crawllog.KeptWithheld {
		g.r.Untitled.add(r.Listed, Line{URL: r.URL})
	}
	if r.Digest != "" {
		g.bodies[maphash.String(g.seed, r.Digest)]++
	}
}

func statusName(status int) string {
	if status == 0 {
		return "no answer"
	}
	return fmt.Sprint(status)
}

// maxPlaces is the most places counted separately.
const maxPlaces = 20_000

// skip counts a skipped URL, by rule and by host or directory.
func (g *gatherer) skip(r *inventory.Row) {
	name := ruleName(r.Rule)
	rule := g.rules[name]
	if rule == nil {
		rule = &Rule{Name: name}
		g.rules[name] = rule
	}
	rule.Total++
	place := [2]string{name, g.place(r.URL)}
	if _, known := g.places[place]; known || len(g.places) < maxPlaces {
		g.places[place]++
	}
}

// ruleName is the rule of a reason, without parameters that differ by URL.
func ruleName(reason judge.Reason) string {
	reason.Version = ""
	name := reason.String()
	if rest, ok := strings.CutPrefix(name, "trap: "); ok {
		rest, _, _ = strings.Cut(rest, ":")
		name = "trap: " + rest
	}
	return name
}

// place is the host of a URL of another site, or the first directory of the site's own.
func (g *gatherer) place(url string) string {
	u := weburl.FromCanonical(url)
	if !slices.Contains(g.o.Origins, u.Origin()) {
		return u.Host()
	}
	path := u.Path()
	if i := strings.IndexByte(path[1:], '/'); i >= 0 {
		return path[:i+2]
	}
	return "/"
}

// readCopies lists the pages with identical bodies.
func (g *gatherer) readCopies(ctx context.Context) error {
	maps.DeleteFunc(g.bodies, func(_ uint64, n int32) bool { return n < 2 })
	if len(g.bodies) == 0 {
		return nil
	}
	err := g.each(ctx, func(r *inventory.Row) {
		key := maphash.String(g.seed, r.Digest)
		n := g.bodies[key]
		if n == 0 || !isPage(r) {
			return
		}
		l := g.copies[key]
		switch {
		case l == nil && r.Listed:
			g.copies[key] = &Line{URL: r.URL, Text: r.Title, More: int(n) - 1}
		case l != nil && r.Listed && len(l.On) < 3:
			l.On, l.More = append(l.On, r.URL), l.More-1
		}
	})
	for _, l := range slices.SortedFunc(maps.Values(g.copies), func(a, b *Line) int {
		return cmp.Or(b.More+len(b.On)-a.More-len(a.On), strings.Compare(a.URL, b.URL))
	}) {
		g.r.Duplicates.add(true, *l)
	}
	return err
}

// readLinks lists the broken links and the pages they are on.
func (g *gatherer) readLinks(ctx context.Context) error {
	listed := func(url string) bool { return !g.unlisted[url] }
	broken, err := g.broken(ctx)
	if err != nil {
		return err
	}
	var more []string
	for _, t := range broken.List() {
		g.r.Broken.add(listed(t.URL), Line{URL: t.URL, Text: strings.TrimPrefix(t.Reason, "http: "), On: t.On,
			More: t.Links - len(t.On)})
		if listed(t.URL) && g.r.Broken.Total-g.r.Broken.Hidden > maxRows {
			more = append(more, t.URL)
		}
	}
	g.r.Broken.fold(more, g.place)
	return nil
}

// broken returns the broken links, and passes all visits to visited.
func (g *gatherer) broken(ctx context.Context) (*inventory.Targets, error) {
	if g.o.Targets == nil {
		return inventory.Broken(ctx, g.a, inventory.Options{Known: g.o.Known, Now: g.o.Now, Fold: g.o.Fold,
			Visits: g.visited})
	}
	for visits, err := range g.a.Histories() {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		g.visited(visits)
	}
	return g.o.Targets, nil
}

// span formats a duration for people.
func span(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%.1f days", d.Hours()/24)
	case d >= time.Minute:
		return d.Round(time.Second).String()
	}
	return pauseText(d)
}

// Repair is a finding with a table of its pages.
type Repair struct {
	audit.Finding
	Table Table
}

// readFindings makes tables of the findings of an audit, without pages that must not be
// published and details that name such a page.
func (g *gatherer) readFindings(context.Context) error {
	for _, f := range g.o.Findings {
		if f.Name == audit.BrokenLink { // broken links have a table of their own
			continue
		}
		r := Repair{Finding: f}
		var more []string
		for _, h := range f.Hits {
			l := Line{URL: h.URL, Text: h.Detail}
			for word := range strings.FieldsSeq(l.Text) {
				if g.unlisted[word] || g.unlisted[strings.Trim(word, `.,;:()"`)] {
					l.Text = ""
				}
			}
			l.Text = legible.Cut(l.Text, 200)
			listed := !g.unlisted[l.URL]
			if r.Table.add(listed, l); listed && r.Table.Total-r.Table.Hidden > maxRows {
				more = append(more, l.URL)
			}
		}
		r.Table.fold(more, g.place)
		g.r.Repairs = append(g.r.Repairs, r)
	}
	return nil
}
