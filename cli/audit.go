package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/spf13/cobra"

	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/publish/audit"
)

// auditFlags are the flags of audit.
type auditFlags struct {
	json, sarif, list bool
	baseline          string
	ignore            []string
}

// auditHit is a line of audit --json, and of a baseline file.
type auditHit struct {
	Finding string `json:"finding"`
	Level   string `json:"level"`
	URL     string `json:"url"`
	Detail  string `json:"detail"`
	Says    string `json:"says"`
}

func auditCmd(u *ui) *cobra.Command {
	f := &auditFlags{}
	c := newCommand("audit DIR", vars{"json": &f.json, "sarif": &f.sarif, "baseline": &f.baseline, "ignore": &f.ignore,
		"all": &f.list}, u.runs(func(ctx context.Context, a []string) error { return f.run(ctx, u, a[0]) }))
	c.MarkFlagsMutuallyExclusive("json", "sarif")
	return c
}

// run runs the audit and prints the findings.
func (f *auditFlags) run(ctx context.Context, u *ui, dir string) (err error) {
	ignored, err := ignoring(f.ignore)
	if err != nil {
		return err
	}
	known, err := readBaseline(f.baseline)
	if err != nil {
		return err
	}
	a, err := openBoth(dir)
	if err != nil {
		return err
	}
	defer a.Close()
	links, err := linkOptions(a)
	if err != nil {
		return archiveError(err, dir)
	}
	list, _, err := audit.Find(ctx, a.Archive, audit.Options{Known: a.known, Fold: links.Fold, Origins: a.state.Origins,
		Now: time.Now()})
	if err != nil {
		return stoppedError(err, dir, "stopped; not all pages were read", "curtsy audit "+quoted(dir))
	}
	left := 0
	for i := range list {
		list[i].Hits = slices.DeleteFunc(list[i].Hits, func(h audit.Hit) bool {
			known := known[baselineKey(list[i].Name, h.URL)]
			if known && !ignored(h.URL) {
				left++
			}
			return known || ignored(h.URL)
		})
	}
	if err := f.print(u, list); err != nil {
		return err
	}
	a.sayIncomplete(u)
	if left > 0 {
		u.say("%s in the baseline", legible.Count(left, "finding"))
	}
	return auditEnd(u, list)
}

// auditEnd returns an error if there are errors or warnings.
func auditEnd(u *ui, list []audit.Finding) error {
	n := map[audit.Level]int{}
	for _, f := range list {
		n[f.Level] += len(f.Hits)
	}
	text := fmt.Sprintf("%s, %s, %s", legible.Count(n[audit.Error], "error"),
		legible.Count(n[audit.Warning], "warning"), legible.Count(n[audit.Note], "note"))
	if n[audit.Error]+n[audit.Warning] > 0 {
		return exitWith(exitFailed, errors.New(text), "--baseline with what --json prints, to be told of new ones only")
	}
	u.say("%s", text)
	return nil
}

// auditShown is the most pages of a finding printed for people.
const auditShown = 10

func (f *auditFlags) print(u *ui, list []audit.Finding) error {
	var results []finding
	for _, found := range list {
		if len(found.Hits) == 0 {
			continue
		}
		if !f.json && !f.sarif {
			u.print("%s: %s (%s)", found.Level, found.Name, legible.Count(len(found.Hits), "URL"))
			u.print("  %s", found.Says)
		}
		for i, h := range found.Hits {
			switch {
			case f.json:
				u.json(auditHit{found.Name, string(found.Level), h.URL, h.Detail, found.Says})
			case f.sarif:
				text := strings.TrimSuffix(found.Says+" "+h.Detail, " ")
				results = append(results, finding{Rule: found.Name, Level: string(found.Level), Says: found.Says,
					Text: text, Pages: []string{h.URL}})
			case i < auditShown || f.list:
				u.print("    %s", strings.TrimSuffix(h.URL+"  "+h.Detail, "  "))
			case i == auditShown:
				u.print("    and %d more: --all", len(found.Hits)-i)
			}
		}
	}
	if f.sarif {
		return writeSARIF(u.out, "curtsy audit", results)
	}
	return nil
}

// baselineKey identifies a finding across runs. It does not depend on the host, so that a copy
// of the site on another host has the same keys.
func baselineKey(name, url string) string {
	if u := weburl.FromCanonical(url); !u.IsZero() {
		url = u.Target()
	}
	return name + " " + url
}

// readBaseline reads the output of an earlier audit --json.
func readBaseline(path string) (map[string]bool, error) {
	known := map[string]bool{}
	if path == "" {
		return known, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, exitWith(exitUsage, err, "curtsy audit DIR --json >"+quoted(path)+" to make it")
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 4<<20)
	for n := 1; lines.Scan(); n++ {
		var h auditHit
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		if err := json.Unmarshal(lines.Bytes(), &h); err != nil || h.Finding == "" {
			return nil, usagef("curtsy audit DIR --json >"+quoted(path)+" to make it",
				"%s, line %d: not a line of audit --json", path, n)
		}
		known[baselineKey(h.Finding, h.URL)] = true
	}
	return known, lines.Err()
}

// finding is the result of a check, for CI servers.
type finding struct {
	Rule  string   // its name
	Level string   // error, warning or note
	Says  string   // the rule as a sentence
	Text  string   // what was found
	Pages []string // the pages concerned
}

// writeSARIF writes findings as SARIF 2.1.0.
func writeSARIF(w io.Writer, tool string, list []finding) error {
	run := sarif.NewRunWithInformationURI(tool, "https://curtsy.invalid/")
	for _, f := range list {
		run.AddRule(f.Rule).WithDescription(f.Says)
		r := run.CreateResultForRule(f.Rule).WithLevel(f.Level).WithMessage(sarif.NewTextMessage(f.Text))
		for _, page := range f.Pages {
			at := sarif.NewPhysicalLocation().WithArtifactLocation(sarif.NewSimpleArtifactLocation(page))
			r.AddLocation(sarif.NewLocationWithPhysicalLocation(at))
		}
	}
	report := sarif.NewReport()
	report.AddRun(run)
	var b bytes.Buffer
	if err := report.PrettyWrite(&b); err != nil {
		return err
	}
	_, err := legible.Writer{W: w}.Write(append(b.Bytes(), '\n'))
	return err
}
