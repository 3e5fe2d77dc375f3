package crawler

import (
	"curtsy/crawler/robotstxt"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
)

// Given is what a crawl begins with beside its seed. Each may be added to a
// crawl that is there.
type Given struct {
	Pages    []weburl.URL // of the site
	Sitemaps []weburl.URL
}

// plantGiven queues what was given and is not known, and says whether there was any.
func (c *Crawl) plantGiven() (anything bool) {
	add := func(u weburl.URL, class frontier.Class, how judge.How) {
		c.frontier.Add(frontier.Link{URL: robotstxt.URL(u.Origin()), Class: frontier.Prerequisite,
			How: judge.HowRobots})
		anything = c.frontier.Add(frontier.Link{URL: u, Class: class, How: how}) || anything
	}
	for _, u := range c.opts.Given.Sitemaps {
		add(u, frontier.Sitemap, judge.HowGiven)
	}
	for _, u := range c.opts.Given.Pages {
		add(u, frontier.Page, judge.HowGiven)
	}
	return anything
}
