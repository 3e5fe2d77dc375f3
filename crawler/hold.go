package crawler

import (
	"curtsy/crawler/fetch"
	"curtsy/frontier"
	"curtsy/htmlmeta"
)

// hold says how the body of an answer is held while it comes: in no file
// before it is known that it may be kept. The head tells that of all that is
// read for nothing else; a document is held in memory as far as it is read, and
// what it says there decides. Of what may not be kept no more is read than
// is of use: links, or the entries of a sitemap.
func (c *Crawl) hold(j *job) func(*fetch.Exchange) fetch.Holding {
	return func(x *fetch.Exchange) fetch.Holding {
		archive := htmlmeta.ReadDirectives(x.Header, c.reading()).Archive
		most := c.mostRead(j, x)
		if !archive {
			return inMemory(x.Held() < most)
		}
		switch {
		case x.Held() == 0:
			return fetch.InMemory
		case most == 0 || j.isListing() && !isPage(x):
			return fetch.InFile
		case x.Held() < c.opts.MaxParse:
			return fetch.InMemory
		}
		return c.asDocumentSays(j, x)
	}
}

func inMemory(needed bool) fetch.Holding {
	if needed {
		return fetch.InMemory
	}
	return fetch.NotNeeded
}

// mostRead is how many octets of a body are read for what they say.
func (c *Crawl) mostRead(j *job, x *fetch.Exchange) int64 {
	switch {
	case j.isListing():
		return MaxSitemap
	case readable(x.Header.Get("Content-Type")):
		return c.opts.MaxParse
	}
	return 0
}

// asDocumentSays reads the directives of a document that is there as far as it
// is read. No later reading sees more of it.
func (c *Crawl) asDocumentSays(j *job, x *fetch.Exchange) fetch.Holding {
	c.crew.heavy.Lock()
	defer c.crew.heavy.Unlock()
	body, _, _ := x.Decoded(c.opts.MaxParse)
	x.Limit(int64(len(body)))
	if doc := htmlmeta.Read(htmlmeta.Page{URL: j.url, Header: x.Header, Body: body}, c.reading()); doc.Directives.Archive {
		return fetch.InFile
	}
	return fetch.NotNeeded
}

// isListing says whether what comes is read as a robots.txt or a sitemap.
func (j *job) isListing() bool {
	return j.robots != nil || j.entry.Class == frontier.Sitemap
}

// spill makes the file of a body, in the archive's directory and without a name.
func (c *Crawl) spill() (fetch.File, error) {
	f, err := c.archive.Spill()
	if err != nil {
		return nil, err
	}
	return f, nil
}
