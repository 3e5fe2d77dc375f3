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

// A site has several names: each page is asked for under the primary one. What a
// visit tells of them (visit/alias.go) takes effect here.

// learnNames takes in what a visit told (the committer's).
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

// asNamed is the link of an entry as it is judged when its turn has come: what was
// fetched before is fetched again under its own name, and nothing more is fetched from
// what answers for itself.
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

// goesFirst says whether others at its origin wait for a visit. None waits for a
// seed where pages are rendered: what it needs for that is asked for meanwhile.
func (c *Crawl) goesFirst(j *job) bool {
	return j.GoesFirst() && (c.tabs.browser == nil || !j.Entry.IsSeed())
}

// admitNamed lets a link through that was judged before its origin became a name
// of the site.
func (c *Crawl) admitNamed(l *frontier.Link) {
	if l.Class != frontier.Disregarded || l.Reason.Rule != judge.Host || !c.reader.Scope().Main(l.URL) {
		return
	}
	l.Admit()
}

// adopt queues what was left out before its origin became a name of the site. What
// is asked for under the primary name is told apart when its turn comes.
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

// requeue queues what was disregarded, unless it is held back still.
func (c *Crawl) requeue(f frontier.Found) bool {
	if !c.frontier.AddAgain(f) {
		return false
	}
	c.plantRobots(f.URL.Origin(), f.Via)
	return true
}

// askElsewhere asks for a page that is missing under the primary name under the
// other names that links gave it.
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
			continue // an error meets the next commit again
		}
		if f := found[len(found)-1]; f.State == frontier.StateDisregarded && f.Reason.Rule == judge.Name {
			f.How = judge.HowOwnName
			c.requeue(f)
		}
	}
}

// askAtPrimary dismisses o.next, which the site's primary name has too.
func (c *Crawl) askAtPrimary(o *origin) {
	e, v := o.next, o.verdict
	o.next = nil
	l := e.Link
	l.URL, l.Class = v.Instead, e.Class.OfLink()
	links := c.reader.Judge(nil, &visit.Attempt{Entry: e, URL: e.URL, Now: c.now()}, l, c.reader.Facts())
	c.dismiss(&visit.Outcome{Entry: e, State: frontier.StateDisregarded, Reason: v.Reason, Links: links})
}
