package cli

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/tools/txtar"

	"curtsy/crawler"
	"curtsy/crawler/explain"
	"curtsy/internal/legible"
	"curtsy/internal/weburl"
)

func demoCmd(u *ui) *cobra.Command {
	var keep string
	return newCommand("demo", vars{"keep": &keep}, func(c *cobra.Command, _ []string) error {
		dir := keep
		if dir == "" {
			tmp, err := os.MkdirTemp("", "curtsy-demo-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(tmp)
			dir = filepath.Join(tmp, "archive")
		}
		return demo(c.Context(), u, dir, keep != "")
	})
}

// demoMonths limits the demo's calendar trap, which is endless: three months suffice to show
// it.
const demoMonths = 3

// demo crawls the built-in site and prints every URL with the rule that decided.
func demo(ctx context.Context, u *ui, dir string, kept bool) error {
	origin, stop, err := demoSite()
	if err != nil {
		return err
	}
	defer stop()
	seed := weburl.MustParse(origin + "/")
	c := defaults()
	c.Delay, c.Politeness.Adaptive = 0, 0
	c.Traps.Ahead = demoMonths
	o, err := crawlOptions(&c, seed, u.logger(false))
	if err != nil {
		return err
	}
	u.say("crawling %s, a small site with every kind of rule; robots.txt asks for 50 ms between requests", seed)
	cr, err := crawler.Open(dir, o)
	if errors.Is(err, crawler.ErrSeed) {
		return demoAgain(dir)
	}
	if err != nil {
		return archiveError(err, dir)
	}
	result, err := cr.Run(ctx, ctx)
	if closeErr := cr.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	rows, err := explain.List(dir)
	if err != nil {
		return err
	}
	printDemo(u, rows, origin)
	n := result.Counts.OfSite()
	u.print("")
	u.print("%s: %d fetched, %d failed, %d skipped, in %s", legible.Count(n.Discovered, "URL"), n.Fetched, n.Failed,
		n.Disregarded, result.State.Elapsed.Round(1e7))
	if kept {
		u.say("the archive is in %s; try: curtsy explain %s '/news?ref=top'", dir, quoted(dir))
	} else {
		u.say("try: curtsy demo --keep demo-archive, then curtsy explain demo-archive URL")
	}
	return endingError(result, dir, dir)
}

// demoAgain says why a demo cannot use a directory. Each demo has another port, so an earlier
// one is the crawl of another site.
func demoAgain(dir string) error {
	seed, c, err := remembered(dir)
	if err == nil && isLoopback(seed) && c.Delay == 0 && c.Traps.Ahead == demoMonths {
		return usagef("curtsy demo --keep with another DIR, or remove "+quoted(dir)+" first",
			"%s holds an earlier demo", dir)
	}
	return usagef("curtsy demo --keep with another DIR", "%s holds the archive of another site; it was not touched",
		dir)
}

func printDemo(u *ui, rows []explain.Row, origin string) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "URL\tSTATE\tHTTP\tKEPT\tRULE")
	for _, r := range rows {
		status := ""
		if r.Status > 0 {
			status = fmt.Sprint(r.Status)
		}
		url := cmp.Or(strings.TrimPrefix(r.URL, origin), "/")
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", url, stateWord(r.State), status, r.Kept, r.Rule)
	}
	w.Flush()
	for line := range strings.Lines(b.String()) {
		u.print("%s", strings.TrimRight(line, "\n"))
	}
}

//go:embed demosite.txtar
var demoFiles []byte

// demoPage is a file of the demo site.
type demoPage struct {
	status int
	header http.Header
	body   []byte
}

// demoSite serves the built-in site with a web server on loopback, so that the demo is an
// ordinary crawl.
func demoSite() (origin string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	pages, err := demoPages(l.Addr().String())
	if err != nil {
		return "", nil, err
	}
	s := &http.Server{Handler: demoHandler(pages), ReadHeaderTimeout: 10 * time.Second}
	go s.Serve(l)
	return "http://" + l.Addr().String(), func() { s.Close() }, nil
}

func demoHandler(pages map[string]demoPage) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, ok := pages[r.URL.Path]
		if month, isMonth := strings.CutPrefix(r.URL.Path, "/calendar/"); isMonth {
			p, ok = demoMonth(month)
		}
		if !ok {
			p = demoPage{status: 404, header: http.Header{"Content-Type": {"text/html"}},
				body: []byte("<title>Not found</title>")}
		}
		maps.Copy(w.Header(), p.header)
		w.WriteHeader(p.status)
		w.Write(p.body)
	})
}

// demoMonth is a page of the calendar, which links to the next month.
func demoMonth(month string) (demoPage, bool) {
	t, err := time.Parse("2006/01", month)
	if err != nil {
		return demoPage{}, false
	}
	body := fmt.Sprintf("<!DOCTYPE html><title>%s</title><p>Nothing happens. <a href=%q>next month</a>",
		t.Format("January 2006"), t.AddDate(0, 1, 0).Format("/calendar/2006/01"))
	return demoPage{status: 200, header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, body: []byte(body)},
		true
}

func demoPages(host string) (map[string]demoPage, error) {
	pages := map[string]demoPage{}
	for _, f := range txtar.Parse(demoFiles).Files {
		p := demoPage{status: 200, header: http.Header{}}
		head, body, _ := strings.Cut(string(f.Data), "\n\n")
		p.body = []byte(strings.NewReplacer("HOST", host, "THIS-MONTH", time.Now().Format("2006/01")).Replace(body))
		for line := range strings.SplitSeq(head, "\n") {
			name, value, _ := strings.Cut(line, ": ")
			switch name {
			case "Status":
				p.status, _ = strconv.Atoi(value)
			case "Charset":
				coded, err := charmap.Windows1251.NewEncoder().Bytes(p.body)
				if err != nil {
					return nil, err
				}
				p.body = coded
			default:
				p.header.Add(name, value)
			}
		}
		pages[f.Name] = p
	}
	return pages, nil
}
