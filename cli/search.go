package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"curtsy/crawler/status"
	"curtsy/internal/legible"
	"curtsy/publish"
	"curtsy/publish/catalog"
	"curtsy/publish/pdf"
	"curtsy/publish/search"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// searchFlags are the flags of search.
type searchFlags struct {
	limit, page int
	lang        string
	json        bool
}

func searchCmd(u *ui) *cobra.Command {
	f := &searchFlags{limit: 10, page: 1}
	list := vars{"limit": &f.limit, "page": &f.page, "lang": &f.lang, "json": &f.json}
	return newCommand("search DIR QUERY...", list, u.runs(func(ctx context.Context, a []string) error {
		if f.limit < 1 || f.limit > search.MaxLimit {
			return usagef("--limit 10", "--limit %d: from 1 to %d", f.limit, search.MaxLimit)
		}
		if f.page < 1 || f.page > search.MaxSkip {
			return usagef("--page 2", "--page %d: from 1 to %d", f.page, search.MaxSkip)
		}
		return searchArchive(ctx, u, f, a[0], strings.ReplaceAll(strings.Join(a[1:], " "), notWord, ""))
	}))
}

// notWord marks a word to be excluded while the command line is parsed, so that it is not taken
// for a flag.
const notWord = "\x00"

// searchWords marks words such as -draft among the arguments of search, which look like flags.
func searchWords(args []string) []string {
	at := slices.IndexFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") })
	if at < 0 || args[at] != "search" {
		return args
	}
	args = slices.Clone(args)
	for i := at + 1; i < len(args) && args[i] != "--"; i++ {
		if a := args[i]; len(a) > 2 && a[0] == '-' && a[1] != '-' && strings.Trim(a[1:], "hq") != "" {
			args[i] = notWord + a
		}
	}
	return args
}

// searchArchive runs a query.
func searchArchive(ctx context.Context, u *ui, f *searchFlags, dir, query string) error {
	x, err := openIndex(ctx, u, dir)
	if err != nil {
		return indexError(err, dir, query)
	}
	defer x.close()
	skip := (f.page - 1) * f.limit
	if skip > search.MaxSkip {
		return usagef("a narrower query", "--page %d: only the first %d hits can be shown", f.page, search.MaxSkip)
	}
	found, err := x.Search(ctx, search.Query{Text: query, Limit: f.limit, Skip: skip, Lang: f.lang})
	hits := found.Hits
	if err != nil {
		return indexError(err, dir, query)
	}
	for i := range hits {
		if h := &hits[i]; f.json {
			u.json(hit{h.URL, h.Title, h.Lang, h.Captured.UTC(), h.Snippet.Text, h.Score, h.Rank})
		} else {
			u.printHit(h)
		}
	}
	switch last := skip + len(hits); {
	case search.IsEmpty(query):
		u.say("nothing to look for: a query needs a word that pages must have, beside those that they must not have")
	case len(hits) == 0 && skip > 0:
		u.say("%s found, and none on page %d", legible.Count(found.Total, "document"), f.page)
	case len(hits) == 0:
		u.say("nothing found among %s", legible.Count(x.Documents(), "document"))
	case last < found.Total:
		u.say("%d to %d of %s; more: --page %d", skip+1, last, legible.Count(found.Total, "document"), f.page+1)
	case skip > 0:
		u.say("%d to %d of %s", skip+1, last, legible.Count(found.Total, "document"))
	case !f.json:
		u.say("%s found", legible.Count(found.Total, "document"))
	}
	x.sayUnfinished(u)
	return nil
}

// index is an archive opened for search.
type index struct {
	*search.Searcher
	archive *storage.Archive
	catalog *catalog.Catalog
}

// indexGarbage is GOGC while an index is built.
const indexGarbage = 300

// indexMemory limits the heap meanwhile, in octets; memoryOfURL is added per URL. SQLite's
// memory is not included.
const (
	indexMemory = 96 << 20
	memoryOfURL = 64
)

// openIndex opens the search of an archive, and builds the index if needed, with a progress
// bar.
func openIndex(ctx context.Context, u *ui, dir string) (x *index, err error) {
	x = &index{}
	defer func() {
		if err != nil {
			x.close()
		}
	}()
	if x.archive, err = storage.OpenRead(dir); err != nil {
		return x, err
	}
	if os.Getenv("GOGC") == "" { // what is read becomes garbage at once, and little is kept
		defer debug.SetGCPercent(debug.SetGCPercent(indexGarbage))
	}
	defer bounded(x.archive, indexMemory, memoryOfURL)()
	bar := newStepBar(u)
	defer bar.close()
	watch := func(p catalog.Progress) {
		bar.show(fmt.Sprintf("index of %s: %d of %d", p.Step, p.Done, p.Total), p.Done, p.Total)
	}
	if x.catalog, err = catalog.Open(ctx, x.archive, catalog.Options{Watch: watch}); err != nil {
		return x, err
	}
	o := searchOptions(u)
	o.Watch = watch
	x.Searcher, err = search.Open(ctx, x.catalog, x.archive, o)
	return x, err
}

// searchOptions returns the options of every search: PDF documents are read in child processes.
func searchOptions(u *ui) search.Options {
	return search.Options{PDF: pdf.Reader(),
		Unread: func(url string, why error) { u.say("%s: no text could be read from it: %v", url, why) }}
}

// buildIndex updates the index of an archive.
func buildIndex(u *ui, dir string) (err error) {
	defer storage.Guard(&err)()
	ctx, release := u.until()
	defer release()
	x, err := openIndex(ctx, u, dir)
	if err != nil {
		return indexError(err, dir, "QUERY")
	}
	x.close()
	return nil
}

func (x *index) close() {
	if x.Searcher != nil {
		x.Searcher.Close()
	}
	if x.catalog != nil {
		x.catalog.Close()
	}
	if x.archive != nil {
		x.archive.Close()
	}
}

// sayUnfinished says how recent the data is if the crawl is not complete.
func (x *index) sayUnfinished(u *ui) {
	var st status.State
	if ok, err := x.archive.Crawl(&st); err != nil || !ok || st.Finished {
		return
	}
	n, err := x.catalog.Counts(context.Background())
	if err == nil && !n.To.IsZero() {
		u.say("the crawl is not complete; this is what it had at %s", u.time(n.To))
	}
}

// hit is a line of --json.
type hit struct {
	URL      string    `json:"url"`
	Title    string    `json:"title"`
	Lang     string    `json:"lang"`
	Captured time.Time `json:"captured"`
	Snippet  string    `json:"snippet"`
	Score    float64   `json:"score"`
	Rank     int       `json:"rank"`
}

// printHit prints a hit for people. Text of a page is cleaned before escape sequences are
// added.
func (u *ui) printHit(h *search.Hit) {
	on, off := "", ""
	if hasColours(u.out.w) {
		on, off = bold, plain
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%3d  %s%s%s\n     %s\n", h.Rank, on, oneLine(cmp.Or(h.Title, h.URL)), off, oneLine(h.URL))
	if h.Snippet.Text != "" {
		b.WriteString("     ")
		at := 0
		for _, m := range h.Snippet.Marks {
			b.WriteString(oneLine(h.Snippet.Text[at:m[0]]) + on + oneLine(h.Snippet.Text[m[0]:m[1]]) + off)
			at = m[1]
		}
		b.WriteString(oneLine(h.Snippet.Text[at:]) + "\n")
	}
	_, _ = u.out.Write([]byte(b.String()))
}

// indexError adds an exit code to an error of a search.
func indexError(err error, dir, query string) error {
	return stoppedError(err, dir, "stopped; what was indexed so far is kept",
		"curtsy search "+quoted(dir)+" "+quoted(query))
}

// searchedText says whether search finds a URL, and why not.
func searchedText(visits []*crawllog.Visit, now time.Time, find crawllog.Lookup) string {
	_, v := search.Judge(visits, now, find)
	switch {
	case !v.Searchable:
		return "no: " + v.Why
	case v.Snippet == 0:
		return "yes, without a snippet"
	case v.Snippet != publish.NoLimit:
		return fmt.Sprintf("yes, with a snippet of at most %s", legible.Count(v.Snippet, "character"))
	}
	return "yes"
}
