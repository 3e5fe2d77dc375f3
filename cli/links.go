package cli

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"curtsy/crawler"
	"curtsy/internal/legible"
	"curtsy/publish/inventory"
)

// linksFlags are the flags of links.
type linksFlags struct {
	broken, json        bool
	external, fragments bool
	format              string
	ignore              []string
	contact             string
}

func linksCmd(u *ui) *cobra.Command {
	f := &linksFlags{format: "table"}
	list := vars{"broken": &f.broken, "external": &f.external, "fragments": &f.fragments,
		"contact": &f.contact, "ignore": &f.ignore, "format": &f.format, "json": &f.json}
	c := newCommand("links DIR", list, u.runs(func(ctx context.Context, a []string) error {
		if f.json {
			f.format = "json"
		}
		ignored, err := ignoring(f.ignore)
		if err != nil {
			return err
		}
		w, err := f.rows(u)
		if err != nil {
			return err
		}
		if f.external || f.fragments {
			return f.check(ctx, u, a[0], ignored, w)
		}
		return f.print(ctx, u, a[0], ignored, w)
	}))
	c.MarkFlagsMutuallyExclusive("json", "format")
	return c
}

// ignoring compiles --ignore to a function that matches URLs.
func ignoring(patterns []string) (func(url string) bool, error) {
	var list []*regexp.Regexp
	for _, p := range patterns {
		re, err := regexp.Compile(p)
		if err != nil {
			return nil, usagef("--ignore '/print/'", "--ignore %q: %v", p, err)
		}
		list = append(list, re)
	}
	return func(url string) bool {
		return slices.ContainsFunc(list, func(re *regexp.Regexp) bool { return re.MatchString(url) })
	}, nil
}

// linkRows writes the links of each page, and a summary at the end.
type linkRows interface {
	page(from string, links []inventory.Link) error
	close(broken *inventory.Targets) error
}

// linkSum writes the selected links and counts all.
type linkSum struct {
	w         linkRows
	only      bool // only broken links
	broken    inventory.Targets
	undecided int
}

func (s *linkSum) page(from string, links []inventory.Link) error {
	s.broken.Add(links)
	shown := links[:0]
	for _, l := range links {
		if l.Verdict == inventory.Undecided {
			s.undecided++
		}
		if l.Broken || !s.only {
			shown = append(shown, l)
		}
	}
	if len(shown) == 0 {
		return nil
	}
	return s.w.page(from, shown)
}

// end prints the number of broken links. It returns an error if there are any or, by err, if
// not all links were read; try is the hint for broken links.
func (s *linkSum) end(u *ui, a *opened, dir, try string, err error) error {
	if err == nil {
		err = s.w.close(&s.broken)
	}
	if err != nil {
		return stoppedError(err, dir, "stopped; not all links were read", "curtsy links "+quoted(dir))
	}
	a.sayIncomplete(u)
	if s.undecided > 0 {
		u.say("%s undecided: the URL failed and will be retried", legible.Count(s.undecided, "link"))
	}
	if n := len(s.broken.List()); n > 0 {
		return exitWith(exitFailed, fmt.Errorf("%s broken: %s of %d, on %s", legible.Count(n, "URL"),
			legible.Count(s.broken.Links(), "link"), s.broken.Total, legible.Count(s.broken.Pages, "page")), try)
	}
	u.say("%s, none broken", legible.Count(s.broken.Total, "link"))
	return nil
}

// print prints the links of an archive; broken links are an error.
func (f *linksFlags) print(ctx context.Context, u *ui, dir string, ignored func(string) bool, w linkRows) (err error) {
	a, err := openBoth(dir)
	if err != nil {
		return err
	}
	defer a.Close()
	o, err := linkOptions(a)
	if err != nil {
		return archiveError(err, dir)
	}
	sum := &linkSum{w: w, only: f.broken}
	err = inventory.Links(ctx, a.Archive, o, func(from string, links []inventory.Link) error {
		return sum.page(from, slices.DeleteFunc(links, func(l inventory.Link) bool { return ignored(l.To) }))
	})
	return sum.end(u, a, dir, "curtsy explain "+quoted(dir)+" URL", err)
}

// linkOptions returns the options for judging the links of an archive.
func linkOptions(a *opened) (inventory.Options, error) {
	o := inventory.Options{Known: a.known, Now: time.Now()}
	var co crawler.Options
	err := rulesOptions(&a.config, &co)
	if err == nil {
		o.Fold, err = cleanParams(a.Archive, a.state.Origins, co.Rules)
	}
	return o, err
}

func (f *linksFlags) rows(u *ui) (linkRows, error) {
	switch f.format {
	case "table":
		if f.broken {
			return targetTable{u}, nil
		}
		return linkTable{u}, nil
	case "junit":
		return newJUnit(u.out)
	case "sarif":
		return linkSARIF{u}, nil
	case "csv", "json":
		w, err := newRows(u, f.format, []column{{"from", 0}, {"to", 0}, {"status", 0}, {"broken", 0}, {"verdict", 0},
			{"reason", 0}})
		return linkCells{w}, err
	}
	return nil, usagef("--format junit", "no format %q: want table, csv, json, junit or sarif", f.format)
}

// targetTable prints for people: each broken URL, the number of its links, and some of the
// pages.
type targetTable struct{ u *ui }

func (w targetTable) page(string, []inventory.Link) error { return nil }

func (w targetTable) close(broken *inventory.Targets) error {
	for _, t := range broken.List() {
		w.u.print("%6d  %s  %s", t.Links, t.URL, t.Reason)
		for _, on := range t.On {
			w.u.print("        on %s", on)
		}
		if more := t.Links - len(t.On); more > 0 && len(t.On) > 0 {
			w.u.print("        and on %d more", more)
		}
	}
	return nil
}

// linkSARIF writes a result for each broken URL, with pages that link to it.
type linkSARIF struct{ u *ui }

func (w linkSARIF) page(string, []inventory.Link) error { return nil }

func (w linkSARIF) close(broken *inventory.Targets) error {
	var list []finding
	for _, t := range broken.List() {
		list = append(list, finding{Rule: "broken-link", Level: "error",
			Says: "A link leads to a URL that answers with an error, or not at all.",
			Text: fmt.Sprintf("%s (%s), linked from %s", t.URL, t.Reason, legible.Count(t.Links, "page")), Pages: t.On})
	}
	return writeSARIF(w.u.out, "curtsy links", list)
}

// linkTable prints for people: each page, then its links.
type linkTable struct{ u *ui }

func (w linkTable) page(from string, links []inventory.Link) error {
	w.u.print("%s", from)
	for _, l := range links {
		verdict := string(l.Verdict)
		switch l.Verdict {
		case inventory.IsBroken:
			verdict = "BROKEN"
		case inventory.Unchecked:
			verdict = "-"
		}
		text := fmt.Sprintf("  %-9s  %3s  %s", verdict, firstLine(number(l.Status), 3), l.To)
		if l.Reason != "" {
			text += "  " + l.Reason
		}
		w.u.print("%s", text)
	}
	return nil
}

func (w linkTable) close(*inventory.Targets) error { return nil }

// linkCells writes a row per link.
type linkCells struct{ rowWriter }

func (w linkCells) page(_ string, links []inventory.Link) error {
	for i := range links {
		l := &links[i]
		if err := w.write(l, []string{l.From, l.To, number(l.Status), fmt.Sprint(l.Broken), string(l.Verdict),
			l.Reason}); err != nil {
			return err
		}
	}
	return nil
}

func (w linkCells) close(*inventory.Targets) error { return w.rowWriter.close() }

// junit writes JUnit XML for CI servers: a suite per page, a case per link.
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
		switch l.Verdict {
		case inventory.IsBroken:
			c.Failure, s.Failures = &junitMessage{l.Reason}, s.Failures+1
		case inventory.Unchecked, inventory.Undecided:
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

func (j *junit) close(*inventory.Targets) error {
	_, err := io.WriteString(j.w, "</testsuites>\n")
	return err
}
