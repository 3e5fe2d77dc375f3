// Package report writes a report on an archive for the owner of the site, or whoever asked for
// the archive. It makes one HTML file that needs no network and no script: the site in numbers,
// plots, what is broken, what was skipped and by which rule, and how politely it was fetched.
//
// The file may be published, so it names no URL that must not be listed (publish.Permits).
// Tables have at most maxRows rows, and say how many more there are.
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

// maxRows is the most rows of a table in the report.
const maxRows = 25

// Options of a report. Origins, Incomplete, Home, Mirror, Findings and Targets are optional.
type Options struct {
	Dir        string // path of the archive, for suggested commands
	Seed       weburl.URL
	Origins    []string // of the site: those of the seed and its aliases
	Now        time.Time
	Incomplete string          // why the crawl is not complete; "" if it is
	Version    string          // of the program
	Home       string          // target of a link back; "": no link
	Mirror     *Mirror         // nil: no section on a mirror
	Findings   []audit.Finding // of an audit; nil: no audit
	Known      inventory.EachKnown
	URLs       frontier.Counts // of the site
	Holds      crawllog.Counts
	Fold       func(weburl.URL) (weburl.URL, bool)
	Targets    *inventory.Targets // broken URLs; nil: they are computed
}

//go:embed report.html
var page string

// Problems counts what is wrong with a site.
type Problems struct {
	Broken  int // broken URLs that are linked to
	Nowhere int // redirects in a loop or in too long a chain
}

// Write writes the report of an archive.
func Write(ctx context.Context, to io.Writer, a *storage.Archive, o Options) (found Problems, err error) {
	r, err := gather(ctx, a, o)
	if err != nil {
		return found, err
	}
	name := func(url string) string {
		return legible.Cut(cmp.Or(strings.TrimPrefix(url, o.Seed.Origin()), url), 300)
	}
	t, err := template.New("report").Funcs(funcs).Funcs(template.FuncMap{"name": name}).Parse(page)
	if err != nil {
		return found, err
	}
	return Problems{r.Broken.Total, r.Nowhere}, t.Execute(legible.Writer{W: to}, r)
}

// Report is the data of the HTML template.
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
	Unlisted              int // URLs that must not be published
	First, Last           time.Time
	Again, Changed, Fewer int // URLs visited more than once; those whose content changed
}

// Plots are the charts of a report.
type Plots struct{ Time, Status, Types, Depth, Took, Languages Plot }

// Tables are the lists of URLs.
type Tables struct {
	Broken     Table // links
	Redirects  Table
	Nowhere    int // redirects that lead nowhere
	Orphans    Table
	Duplicates Table
	Untitled   Table
	Repairs    []Repair
}

// Use counts what pages state about one category of use.
type Use struct {
	Says                 string
	Allow, Deny, Nothing int // pages
}

// Mirror is the summary of a mirror of the archive.
type Mirror struct {
	Dir      string // path of the mirror, for suggested commands
	Until    time.Time
	Numbers  []Number
	Sections []Section
}

// Section is a table of a mirror's report, with an explanation.
type Section struct {
	Title, Says string
	Table       Table
}

// Number is a figure of the overview.
type Number struct{ Value, Name string }

// Line is a row of a table: a URL and a remark.
type Line struct {
	URL  string
	Text string
	On   []string // some of the pages it is on
	More int      // further pages
}

// Table is a list that shows its first rows.
type Table struct {
	Total  int // all rows
	Lines  []Line
	Hidden int     // those that must not be published
	Places []Place // hosts or directories of the rows not shown
	Others int     // rows not shown in other places
}

// add counts a row, and keeps it if it may be listed and there is room.
func (t *Table) add(listed bool, l Line) {
	t.Total++
	switch {
	case !listed:
		t.Hidden++
	case len(t.Lines) < maxRows:
		t.Lines = append(t.Lines, l)
	}
}

// fold counts the rows not shown by host or directory.
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

// Left is the number of rows not shown, without hidden ones.
func (t Table) Left() int { return t.Total - t.Hidden - len(t.Lines) }

// Rule is a rule that skipped URLs, with the places where it skipped most.
type Rule struct {
	Name   string
	Total  int
	Places []Place
	Others int // URLs skipped in other places
}

// Place is a host, or a directory of the site.
type Place struct {
	Name  string
	Total int
}

// Step is a suggestion what to do next.
type Step struct{ Text, Command string }
