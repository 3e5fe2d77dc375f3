package rebuild

import (
	"slices"
	"strings"

	"curtsy/crawler/robotstxt"
	"curtsy/crawler/visit"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// begin adds the seed and its robots.txt to the frontier.
func (b *rebuilder) begin() error {
	seed := b.opts.Seed
	b.plantRobots(seed.Origin(), 0)
	b.frontier.Add(frontier.Link{URL: seed, Class: frontier.Page, How: judge.HowSeed})
	return b.commitFrontier()
}

// plantRobots adds an origin's robots.txt to the frontier, once.
func (b *rebuilder) plantRobots(origin string, via uint64) {
	if !b.planted[origin] {
		b.planted[origin] = true
		b.frontier.Add(robotstxt.Link(origin, via))
	}
}

// commitFrontier commits the URLs that were added.
func (b *rebuilder) commitFrontier() error {
	b.state.Origins, b.state.Primary, b.state.Updated = b.reader.Scope().Origins, b.reader.Scope().Primary,
		b.opts.Now().UTC()
	b.state.Session = b.opts.Session()
	return b.a.Commit(b.state)
}

func (b *rebuilder) lose(url string) {
	if len(b.lost) < maxLost {
		b.lost = append(b.lost, url)
	}
}

// take adds the capture of one visit to the batch.
func (b *rebuilder) take(c *crawllog.Recovered) error {
	v := c.Visit
	href := v.URL
	if c.Note.Of != "" {
		href = c.Note.Of
	}
	u, err := weburl.ParsePage(href)
	if err != nil {
		b.gaps = true
		return nil
	}
	if p := b.placed[c.Via]; p != nil && p.id == 0 || len(b.batch) >= rebuildBatch {
		if err := b.flush(); err != nil {
			return err
		}
	}
	k, known := b.find(u.String())
	if b.placed[u.String()] = k; !known {
		b.restore(u, b.classOf(u, c), c)
	}
	if k.visits > 0 && b.isCopy(k, v) {
		b.copies++
		b.gaps = true
		return nil
	}
	k.visits++
	v.N = k.visits
	b.noteRound(&c.Note)
	if b.began.IsZero() || v.At.Before(b.began) {
		b.began = v.At
	}
	b.batch = append(b.batch, &Capture{Recovered: c, of: k})
	return nil
}

// find looks a URL up in the batch and in the frontier. ok is false if it is unknown or was
// excluded by a rule.
func (b *rebuilder) find(url string) (k *met, ok bool) {
	if k := b.placed[url]; k != nil {
		return k, true
	}
	u := weburl.FromCanonical(url)
	if u.IsZero() || !b.frontier.Known(u) {
		return &met{}, false
	}
	found, err := b.frontier.Find(u)
	if err != nil || len(found) == 0 {
		return &met{}, false
	}
	id := found[len(found)-1].ID
	return &met{id, b.a.LastN(id)}, true
}

// restore adds a capture's URL to the frontier.
func (b *rebuilder) restore(u weburl.URL, class frontier.Class, c *crawllog.Recovered) {
	via, _ := b.find(c.Via)
	how := judge.How("in the archive")
	if c.Noted {
		how = judge.How(c.Note.How)
	}
	b.frontier.Restore(frontier.Link{URL: u, Class: class, Needed: class == frontier.Requisite, Via: via.id,
		Depth: c.Depth, Redirects: c.Note.Redirects, How: how})
}

// classOf returns the class in which a capture's URL was queued. If the record does not say so, the
// class is guessed from the URL and the content type.
func (b *rebuilder) classOf(u weburl.URL, c *crawllog.Recovered) frontier.Class {
	for _, class := range judge.Served {
		if !c.Noted {
			break
		}
		if class.String() == c.Note.Class {
			return class
		}
	}
	b.guess++
	kind, _, _ := strings.Cut(strings.ToLower(c.Visit.ContentType), ";")
	switch {
	case u.Target() == rules.Location:
		return frontier.Prerequisite
	case strings.Contains(u.Path(), "sitemap") && !strings.Contains(kind, "html"):
		return frontier.Sitemap
	case !visit.Readable(kind), strings.Contains(kind, "css"), strings.Contains(kind, "javascript"):
		return frontier.Requisite
	}
	return frontier.Page
}

// isCopy reports whether a visit's records were read before: a repair that was killed leaves them in
// two segments. The visits of a URL come in order of time, so a visit later than the last eight
// cannot be a copy; only otherwise are all visits of the URL compared.
func (b *rebuilder) isCopy(k *met, v *crawllog.Visit) bool {
	var visits []*crawllog.Visit
	last, _ := b.a.VisitsOf(k.id, 8)
	if slices.ContainsFunc(last, func(had *crawllog.Visit) bool { return !had.At.Before(v.At) }) {
		visits, _ = b.a.VisitsOf(k.id)
	}
	return b.hasRecord(k, visits, v.Record.ID)
}

// hasRecord reports whether a visit of the URL k, in the batch or among the visits from the archive, has the record.
func (b *rebuilder) hasRecord(k *met, visits []*crawllog.Visit, id string) bool {
	return slices.ContainsFunc(b.batch, func(c *Capture) bool { return c.of == k && c.Visit.Record.ID == id }) ||
		slices.ContainsFunc(visits, func(v *crawllog.Visit) bool { return v.Record != nil && v.Record.ID == id })
}

// flush commits the batch: first the URLs, so that they get their ids.
func (b *rebuilder) flush() error {
	if err := b.commitFrontier(); err != nil {
		return err
	}
	for _, c := range b.batch {
		v := c.Visit
		v.URLID = c.of.id
		if v.Kept == crawllog.KeptRevisit && !b.refer(c) {
			b.lose(v.URL)
			b.gaps = true
			continue
		}
		if err := b.a.Append(v, nil); err != nil {
			return err
		}
	}
	if err := b.commitFrontier(); err != nil {
		return err
	}
	clear(b.placed)
	b.batch = b.batch[:0]
	return nil
}

// refer sets the response that a revisit refers to; false if there is none.
func (b *rebuilder) refer(c *Capture) bool {
	if c.original = b.referred(c); c.original == nil {
		return false
	}
	c.refer()
	return true
}

// refer makes the visit one with the payload of the original.
func (c *Capture) refer() {
	v, ref := c.Visit, c.original.Ref()
	v.Refers, v.Digest = &ref, c.original.Digest
	if v.Status != 304 {
		v.Length = c.original.Length
	}
}

// referred finds the response whose record a revisit names: in the batch, among the visits of the URL
// that the record names, or among those of the revisit's own URL (a robots.txt that was redirected).
func (b *rebuilder) referred(c *Capture) *crawllog.Visit {
	_, comparable := warc.ParseDigest(c.Visit.Digest) // SHA-1, as in older archives, cannot be compared
	holds := func(v *crawllog.Visit) bool {
		return v.Kept == crawllog.KeptResponse && v.Record != nil && v.Record.ID == c.RefersTo &&
			(v.Digest == c.Visit.Digest || !comparable)
	}
	for _, other := range b.batch {
		if holds(other.Visit) && other.Visit.URLID != 0 {
			return other.Visit
		}
	}
	of, _ := b.find(c.RefersToURI)
	for _, id := range []uint64{of.id, c.of.id} {
		visits, _ := b.a.VisitsOf(id)
		if i := slices.IndexFunc(visits, holds); i >= 0 {
			return visits[i]
		}
	}
	return nil
}
