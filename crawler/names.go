package crawler

import (
	"net/http"
	"slices"

	"curtsy/crawler/status"
	"curtsy/crawler/visit"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
)

// A site may have several names (origins); its pages are fetched under the primary one. What visits
// find out about the names (visit/alias.go) is put into effect here.

// learnNames takes over what a visit found out. It is called by the committer.
func (c *Crawl) learnNames(n judge.Names) {
	if n == (judge.Names{}) {
		return
	}
	was := c.reader.Scope()
	c.reader.Learn(n)
	if n.Alias != "" && !slices.Contains(was.Origins, n.Alias) {
		c.committer.names = append(c.committer.names, n.Alias)
		c.client.Allow(weburl.FromCanonical(n.Alias + "/").Hostname())
	}
	if n.Apart != "" {
		c.ledger.change(func(s *status.State) { s.Apart = append(slices.Clone(s.Apart), n.Apart) })
	}
}

// asNamed returns the link of an entry as it is judged when its turn comes. A URL of the site that
// was fetched before is fetched again under its own name. A URL that was to show whether its origin
// is a name of the site (HowName) counts as a redirect once the origin has proved to be separate.
func (c *Crawl) asNamed(e *frontier.Entry) *judge.Link {
	l, s := e.Link, c.reader.Scope()
	switch {
	case l.How == judge.HowName && c.reader.IsApart(l.URL):
		l.How = judge.HowRedirect
	case e.Attempts > 0 && s.Main(l.URL) && !l.IsSeed():
		l.How = judge.HowOwnName
	}
	if l.Class == frontier.Speculative && !c.frontier.IsGuess(l.URL) {
		l.Class = frontier.Requisite
	}
	return &l
}

// goesFirst reports whether other visits at its origin wait for this one. None waits for the seed when
// pages are rendered, because rendering it needs other URLs of the origin.
func (c *Crawl) goesFirst(j *job) bool {
	return j.GoesFirst() && (c.tabs.browser == nil || !j.Entry.IsSeed())
}

// admitNamed admits a link that was judged before its origin became a name of the site.
func (c *Crawl) admitNamed(l *frontier.Link) {
	if l.Class != frontier.Disregarded || l.Reason.Rule != judge.Host || !c.reader.Scope().Main(l.URL) {
		return
	}
	l.Admit()
}

// adopt queues the URLs that were excluded before their origin became a name of the site. Those that
// are fetched under the primary name are excluded when their turn comes.
func (c *Crawl) adopt() error {
	names := c.committer.names
	c.committer.names = nil
	if len(names) == 0 {
		return nil
	}
	var held []frontier.Found
	err := c.frontier.Each(frontier.Disregarded, func(f frontier.Found) error {
		if f.Reason.Rule == judge.Host && slices.Contains(names, f.URL.Origin()) {
			held = append(held, f)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, f := range held {
		c.requeue(f)
	}
	return c.archive.Commit(c.State())
}

// requeue queues a disregarded URL, and reports whether the frontier admitted it.
func (c *Crawl) requeue(f frontier.Found) bool {
	if !c.frontier.AddAgain(f) {
		return false
	}
	c.plantRobots(f.URL.Origin(), f.Via)
	return true
}

// askElsewhere queues the other known names of a page that is missing (404 or 410) under the primary
// name.
func (c *Crawl) askElsewhere(o *outcome) {
	s := c.reader.Scope()
	missing := o.State == frontier.StateFailed && (o.Reason.Status == http.StatusNotFound ||
		o.Reason.Status == http.StatusGone)
	if !missing || o.Entry.URL.Origin() != s.Primary {
		return
	}
	for _, origin := range s.Origins {
		found, err := c.frontier.Find(weburl.FromCanonical(origin + o.Entry.URL.Target()))
		if err != nil || len(found) == 0 {
			continue // the next commit meets the error again
		}
		if f := found[len(found)-1]; f.State == frontier.StateDisregarded && f.Reason.Rule == judge.Name {
			f.How = judge.HowOwnName
			c.requeue(f)
		}
	}
}

// askAtPrimary dismisses o.next and adds its URL under the site's primary name instead.
func (c *Crawl) askAtPrimary(o *origin) {
	e, v := o.next, o.verdict
	o.next = nil
	l := e.Link
	l.URL, l.Class = v.Instead, e.Class.OfLink()
	links := c.reader.Judge(nil, &visit.Attempt{Entry: e, URL: e.URL, Now: c.now()}, l, c.reader.Facts())
	c.dismiss(&visit.Outcome{Entry: e, State: frontier.StateDisregarded, Reason: v.Reason, Links: links})
}
