package mirror

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// kind of note: a section of the report.
type section int

const (
	broken    section = iota // links of the site that lead nowhere
	external                 // links to other sites
	needsHTTP                // pages that a browser refuses to run from a disk
	cutOff                   // pages of which not all is there
	absent                   // what the mirror leaves out, by the site's wish
	unfetched                // what the crawl knows of and has not fetched
	numSections
)

// maxRows bounds the rows of a section of the report, and so its memory; the
// first by URL are kept, whatever the order in which pages are written.
const maxRows = 20_000

// maxPages bounds the pages named in one row.
const maxPages = 5

// row is one line of the report: a URL, and the pages it stands on.
type row struct {
	why      string
	count    int
	pages    []string // the first by URL
	unlisted int      // pages beside those, which must not be named
}

// notes collects what the report tells. Any number of workers add to it.
type notes struct {
	mu      sync.Mutex
	rows    [numSections]map[string]*row
	last    [numSections]string // rows after it are left out; "" is none
	more    [numSections]bool
	live    atomic.Int64 // links to the live site whose page is here
	modules atomic.Int64 // pages that use modules
}

func newNotes() *notes {
	n := new(notes)
	for i := range n.rows {
		n.rows[i] = map[string]*row{}
	}
	return n
}

// add notes one find of a URL, on a page.
func (n *notes) add(in section, url, why, page string) {
	n.with(in, url, why, func(r *row) { r.note(page) })
}

// addUnlisted notes one find of a URL on a page that must not be named. It is
// called once for each such page.
func (n *notes) addUnlisted(in section, url, why string) {
	n.with(in, url, why, func(r *row) { r.unlisted++ })
}

// with changes the row of a URL, if the report is going to have it.
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

// note counts a page and keeps the first few; it is called once for each page.
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
