package mirror

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// section is a section of the report.
type section int

const (
	broken    section = iota // broken links of the site
	external                 // links to other sites
	needsHTTP                // pages that browsers do not run from disk
	cutOff                   // incomplete pages
	absent                   // left out as the site asks
	unfetched                // known to the crawl, not fetched
	numSections
)

// maxRows is the most rows of a section. The first by URL are kept, in whatever order pages are
// written.
const maxRows = 20_000

// maxPages is the most pages named in a row.
const maxPages = 5

// row is a row of the report: a URL, and the pages that refer to it.
type row struct {
	why      string
	count    int
	pages    []string // the first by URL
	unlisted int      // further pages that must not be published
}

// notes collects the rows of the report. It is safe for concurrent use.
type notes struct {
	mu      sync.Mutex
	rows    [numSections]map[string]*row
	last    [numSections]string // later rows are dropped; "": no limit yet
	more    [numSections]bool
	live    atomic.Int64 // links to the live site although the page is in the mirror
	modules atomic.Int64 // pages that use modules
}

func newNotes() *notes {
	n := new(notes)
	for i := range n.rows {
		n.rows[i] = map[string]*row{}
	}
	return n
}

// add records a URL found on a page.
func (n *notes) add(in section, url, why, page string) {
	n.with(in, url, why, func(r *row) { r.note(page) })
}

// addUnlisted records a URL found on a page that must not be published. It is called once per
// page.
func (n *notes) addUnlisted(in section, url, why string) {
	n.with(in, url, why, func(r *row) { r.unlisted++ })
}

// with changes the row of a URL, unless the report drops it.
func (n *notes) with(in section, url, why string, change func(*row)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.more[in] && url > n.last[in] {
		return
	}
	r := n.rows[in][url]
	if r == nil {
		r = &row{why: why}
		n.rows[in][url] = r
	}
	change(r)
	if len(n.rows[in]) >= 2*maxRows {
		n.trim(in)
	}
}

// note counts a page and keeps the first few by URL. It is called once per page.
func (r *row) note(page string) {
	i, found := slices.BinarySearch(r.pages, page)
	if found || page == "" {
		return
	}
	r.count++
	if i >= maxPages {
		return
	}
	r.pages = slices.Insert(r.pages, i, page)
	if len(r.pages) > maxPages {
		r.pages = r.pages[:maxPages]
	}
}

func (n *notes) trim(in section) {
	for _, url := range n.sorted(in)[maxRows:] {
		delete(n.rows[in], url)
	}
	n.more[in] = true
	n.last[in] = n.sorted(in)[maxRows-1]
}

func (n *notes) sorted(in section) []string {
	return slices.Sorted(maps.Keys(n.rows[in]))
}
