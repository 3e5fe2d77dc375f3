package cli

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

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
		return f.run(ctx, u, a[0], ignored, w)
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

// linkRows writes the links of each page, and a summary at the end. Either may be nil.
type linkRows struct {
	page  func(from string, links []inventory.Link) error
	close func(broken *inventory.Targets) error
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
	if len(shown) == 0 || s.w.page == nil {
		return nil
	}
	return s.w.page(from, shown)
}

// end prints the number of broken links. It returns an error if there are any or, by err, if
// not all links were read; try is the hint for broken links.
func (s *linkSum) end(u *ui, a *opened, dir, try string, err error) error {
	if err == nil && s.w.close != nil {
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

func (f *linksFlags) rows(u *ui) (linkRows, error) {
	switch f.format {
	case "table":
		if f.broken {
			return linkRows{close: u.printTargets}, nil
		}
		return linkRows{page: u.printLinks}, nil
	case "junit":
		_, err := io.WriteString(u.out, xml.Header+"<testsuites name=\"curtsy links\">\n")
		return linkRows{u.writeSuite, func(*inventory.Targets) error {
			_, err := io.WriteString(u.out, "</testsuites>\n")
			return err
		}}, err
	case "sarif":
		return linkRows{close: u.brokenSARIF}, nil
	case "csv", "json":
		w, err := newRows(u, f.format, []column{{"from", 0}, {"to", 0}, {"status", 0}, {"broken", 0}, {"verdict", 0},
			{"reason", 0}})
		return linkCells(w), err
	}
	return linkRows{}, usagef("--format junit", "no format %q: want table, csv, json, junit or sarif", f.format)
}

// printTargets prints for people: each broken URL, the number of its links, and some of the
// pages.
func (u *ui) printTargets(broken *inventory.Targets) error {
	for _, t := range broken.List() {
		u.print("%6d  %s  %s", t.Links, t.URL, t.Reason)
		for _, on := range t.On {
			u.print("        on %s", on)
		}
		if more := t.Links - len(t.On); more > 0 && len(t.On) > 0 {
			u.print("        and on %d more", more)
		}
	}
	return nil
}

// brokenSARIF writes a result for each broken URL, with pages that link to it.
func (u *ui) brokenSARIF(broken *inventory.Targets) error {
	var list []finding
	for _, t := range broken.List() {
		list = append(list, finding{Rule: "broken-link", Level: "error",
			Says: "A link leads to a URL that answers with an error, or not at all.",
			Text: fmt.Sprintf("%s (%s), linked from %s", t.URL, t.Reason, legible.Count(t.Links, "page")), Pages: t.On})
	}
	return writeSARIF(u.out, "curtsy links", list)
}

// printLinks prints for people: each page, then its links.
func (u *ui) printLinks(from string, links []inventory.Link) error {
	u.print("%s", from)
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
		u.print("%s", text)
	}
	return nil
}

// linkCells writes a row per link.
func linkCells(w rowWriter) linkRows {
	return linkRows{func(_ string, links []inventory.Link) error {
		for i := range links {
			l := &links[i]
			if err := w.write(l, []string{l.From, l.To, number(l.Status), fmt.Sprint(l.Broken), string(l.Verdict),
				l.Reason}); err != nil {
				return err
			}
		}
		return nil
	}, func(*inventory.Targets) error { return w.close() }}
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

// writeSuite writes JUnit XML for CI servers: a suite per page, a case per link.
func (u *ui) writeSuite(from string, links []inventory.Link) error {
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
		_, err = fmt.Fprintf(u.out, "%s\n", legible.Text(string(b)))
	}
	return err
}
