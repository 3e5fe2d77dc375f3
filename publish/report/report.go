// Package report answers: what would a site's owner, or whoever asked for the
// archive, want to see of it on one page? It makes one HTML file that needs no
// network and no script: the site in numbers, plots, what is broken, what was
// skipped and by which rule, and how politely it was fetched.
//
// The file may be handed on, so it names no URL that must not be listed
// (publish.Permits). What grows with the site is folded: tables have at most
// maxRows rows, and a line says how many more there are.
package report

import (
	"cmp"
	"context"
	_ "embed"
	"html/template"
	"io"
	"strings"
	"time"

	"curtsy/frontier"
	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/publish/audit"
	"curtsy/publish/inventory"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// maxRows is how many rows a table of the report has at most.
const maxRows = 25

// Options of a report. All but Origins, Incomplete, Home, Mirror and Findings is needed.
type Options struct {
	Dir        string // the archive, as commands that are proposed name it
	Seed       weburl.URL
	Origins    []string // the site's: the seed's and its aliases
	Now        time.Time
	Incomplete string          // why the crawl is not complete; "" where it is
	Version    string          // of the program
	Home       string          // where a link leads back to; "" is no link
	Mirror     *Mirror         // nil: no mirror is reported on
	Findings   []audit.Finding // of an audit; nil: there was none
	Known      inventory.EachKnown
	URLs       frontier.Counts // of the site
	Holds      crawllog.Counts
	Fold       func(weburl.URL) (weburl.URL, bool)
	Targets    *inventory.Targets // the broken ones; nil: they are looked for
}

//go:embed report.html
var page string

// Problems are what is wrong with a site, in numbers.
type Problems struct {
	Broken  int // URLs that links lead to in vain: an error, no answer, a redirect that leads nowhere
	Nowhere int // redirects in a circle, and those of a chain longer than is followed
}

// Write reads an archive and writes its report.
func Write(ctx context.Context, to io.Writer, a *storage.Archive, o Options) (found Problems, err error) {
	r, err := gather(ctx, a, o)
	if err != nil {
		return found, err
	}
	name := func(url string) string {
		return short(cmp.Or(strings.TrimPrefix(url, o.Seed.Origin()), url), 300)
	}
	t, err := template.New("report").Funcs(funcs).Funcs(template.FuncMap{"name": name}).Parse(page)
	if err != nil {
		return found, err
	}
	return Problems{r.Broken.Total, r.Nowhere}, t.Execute(legible.Writer{W: to}, r)
}

// Report is what the page shows.
type Report struct {
	Options
	Numbers []Number
	Plots
	Slowest []Line
	Tables
	Uses                  []Use
	Skipped               []Rule
	Hosts                 []Host
	Next                  []Step
	Unlisted              int // URLs that must not be named
	First, Last           time.Time
	Again, Changed, Fewer int // URLs visited more than once; of these, those whose content changed
}

// Plots are its charts.
type Plots struct{ Time, Status, Types, Depth, Took, Languages Plot }

// Tables are its lists of URLs.
type Tables struct {
	Broken     Table // links
	Redirects  Table
	Nowhere    int // of these, redirects that lead nowhere
	Orphans    Table
	Duplicates Table
	Untitled   Table
	Repairs    []Repair
}

// Use is what pages say about one kind of use.
type Use struct {
	Says                 string
	Allow, Deny, Nothing int // pages
}

// Mirror is what a mirror of the archive says of itself.
type Mirror struct {
	Dir      string // as commands that are proposed name it
	Until    time.Time
	Numbers  []Number
	Sections []Section
}

// Section is a folded table of a mirror, and what its rows are.
type Section struct {
	Title, Says string
	Table       Table
}

// Number is one figure of the overview.
type Number struct{ Value, Name string }

// Line is a row of a table: a URL and what is said of it.
type Line struct {
	URL  string
	Text string
	On   []string // the pages it stands on, a few
	More int      // pages beside these
}

// Table is a folded list.
type Table struct {
	Total  int // rows that there are
	Lines  []Line
	Hidden int     // of these, URLs that must not be named
	Places []Place // where those are that are counted and not shown
	Others int     // those in other places
}

// add notes a row, and keeps it while there is room.
func (t *Table) add(listed bool, l Line) {
	t.Total++
	switch {
	case !listed:
		t.Hidden++
	case len(t.Lines) < maxRows:
		t.Lines = append(t.Lines, l)
	}
}

// fold says where the rows are that are not shown, by host or directory.
func (t *Table) fold(urls []string, place func(string) string) {
	places := map[[2]string]int{}
	for _, u := range urls {
		places[[2]string{"", place(u)}]++
	}
	t.Places, t.Others = top(places, "", 8), len(urls)
	for _, p := range t.Places {
		t.Others -= p.Total
	}
}

// Left is how many rows are counted and not shown, but for hidden ones.
func (t Table) Left() int { return t.Total - t.Hidden - len(t.Lines) }

// Rule is one rule that skipped URLs, with the places most of them are in.
type Rule struct {
	Name   string
	Total  int
	Places []Place
	Others int // URLs in other places
}

// Place is a host, or a directory of the site.
type Place struct {
	Name  string
	Total int
}

// Step is something to do next.
type Step struct{ Text, Command string }
