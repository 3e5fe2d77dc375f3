package crawler

import (
	"curtsy/crawler/robotstxt"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
)

// Given is what a crawl begins with besides its seed. An existing crawl may be given more.
type Given struct {
	Pages    []weburl.URL // pages of the site
	Sitemaps []weburl.URL
}

// plantGiven queues the given URLs that are not known yet, and reports whether there were any.
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
