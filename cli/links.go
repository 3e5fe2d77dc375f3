package cli

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"curtsy/crawler"
	"curtsy/internal/legible"
	"curtsy/publish/inventory"
	"curtsy/storage"
)

func linksCmd(u *ui) *cobra.Command {
	var broken, asJSON bool
	var format string
	c := &cobra.Command{
		Use:   "links DIR",
		Short: "the links of an archived site, and which are broken",
		Long: "links DIR shows the links of every archived page and where each leads. It ends with\n" +
			"exit code 1 if a link is broken: its target, or what that redirects to, answered with an error or not\n" +
			"at all. What was not requested (other sites, what robots.txt disallows) does not count as broken, and\n" +
			"the line names the rule. No request is made; for links to pages that may have changed, crawl again first.",
		Example: "  curtsy crawl https://example.org/ && curtsy links example.org --broken --format junit >links.xml",
		Args:    wants("DIR"),
		RunE: func(_ *cobra.Command, a []string) error {
			if asJSON {
				format = "json"
			}
			w, err := newLinkRows(u, format)
			if err != nil {
				return err
			}
			ctx, release := untilSignal()
			defer release()
			return links(ctx, u, a[0], broken, w)
		},
	}
	c.Flags().BoolVar(&broken, "broken", false, "broken links only")
	c.Flags().StringVar(&format, "format", "table", "print a `table`, csv, json (one object per line) or junit")
	c.Flags().BoolVar(&asJSON, "json", false, "the same as --format json")
	c.MarkFlagsMutuallyExclusive("json", "format")
	return c
}

// linkRows writes the links of a page.
type linkRows interface {
	page(from string, links []inventory.Link) error
	close() error
}

// links prints the links of an archive; it is an error that one is broken.
func links(ctx context.Context, u *ui, dir string, only bool, w linkRows) (err error) {
	defer storage.Guard(&err)()
	a, err := openBoth(dir)
	if err != nil {
		return err
	}
	defer a.Close()
	o, err := linkOptions(a)
	if err != nil {
		return archiveError(err, dir)
	}
	var total, pages, broken int
	err = inventory.Links(ctx, a.Archive, o, func(from string, links []inventory.Link) error {
		bad := onlyBroken(links)
		total, broken = total+len(links), broken+len(bad)
		if len(bad) > 0 {
			pages++
		}
		if only {
			links = bad
		}
		if len(links) == 0 {
			return nil
		}
		return w.page(from, links)
	})
	if err == nil {
		err = w.close()
	}
	if errors.Is(err, context.Canceled) {
		return exitWith(exitStopped, errors.New("stopped; not all links were read"), "curtsy links "+quoted(dir))
	}
	if err != nil {
		return archiveError(err, dir)
	}
	a.sayIncomplete(u)
	if broken > 0 {
		return exitWith(exitFailed, fmt.Errorf("%s of %d broken, on %s", count(broken, "link"), total, count(pages, "page")), "curtsy explain "+quoted(dir)+" URL")
	}
	u.say("%s, none broken", count(total, "link"))
	return nil
}

// linkOptions are what the links of an archive are judged by.
func linkOptions(a *opened) (inventory.Options, error) {
	o := inventory.Options{Known: a.known, Now: time.Now()}
	var co crawler.Options
	err := rulesOptions(&a.config, &co)
	if err == nil {
		o.Fold, err = cleanParams(a.Archive, a.state.Origins, co.Rules)
	}
	return o, err
}

func onlyBroken(links []inventory.Link) []inventory.Link {
	var list []inventory.Link
	for _, l := range links {
		if l.Broken {
			list = append(list, l)
		}
	}
	return list
}

func newLinkRows(u *ui, format string) (linkRows, error) {
	switch format {
	case "table":
		return linkTable{u}, nil
	case "junit":
		return newJUnit(u.out)
	case "csv", "json":
		w, err := newRows(u, format, []column{{"from", 0}, {"to", 0}, {"status", 0}, {"broken", 0}, {"reason", 0}})
		return linkCells{w}, err
	}
	return nil, usagef("--format junit", "no format %q: want table, csv, json or junit", format)
}

// linkTable is for people: a page, then its links.
type linkTable struct{ u *ui }

func (w linkTable) page(from string, links []inventory.Link) error {
	w.u.print("%s", from)
	for _, l := range links {
		verdict := "ok"
		switch {
		case l.Broken:
			verdict = "BROKEN"
		case l.Status == 0:
			verdict = "-"
		}
		text := fmt.Sprintf("  %-6s  %3s  %s", verdict, firstLine(number(l.Status), 3), l.To)
		if l.Reason != "" {
			text += "  " + l.Reason
		}
		w.u.print("%s", text)
	}
	return nil
}

func (w linkTable) close() error { return nil }

// linkCells writes one row for each link.
type linkCells struct{ rowWriter }

func (w linkCells) page(_ string, links []inventory.Link) error {
	for i := range links {
		l := &links[i]
		if err := w.write(l, []string{l.From, l.To, number(l.Status), fmt.Sprint(l.Broken), l.Reason}); err != nil {
			return err
		}
	}
	return nil
}

// junit writes what CI servers read: a suite for each page, a case for each of
// its links.
type junit struct{ w io.Writer }

func newJUnit(w io.Writer) (*junit, error) {
	_, err := io.WriteString(w, xml.Header+"<testsuites name=\"curtsy links\">\n")
	return &junit{w}, err
}

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitMessage `xml:"failure,omitempty"`
	Skipped *junitMessage `xml:"skipped,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
}

func (j *junit) page(from string, links []inventory.Link) error {
	s := junitSuite{Name: from, Tests: len(links)}
	for _, l := range links {
		c := junitCase{Class: from, Name: l.To}
		switch {
		case l.Broken:
			c.Failure, s.Failures = &junitMessage{l.Reason}, s.Failures+1
		case l.Status == 0:
			c.Skipped, s.Skipped = &junitMessage{l.Reason}, s.Skipped+1
		}
		s.Cases = append(s.Cases, c)
	}
	b, err := xml.MarshalIndent(s, "  ", "  ")
	if err == nil {
		_, err = fmt.Fprintf(j.w, "%s\n", legible.Text(string(b)))
	}
	return err
}

func (j *junit) close() error {
	_, err := io.WriteString(j.w, "</testsuites>\n")
	return err
}
