package cli

import (
	"bytes"
	"io"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"curtsy/internal/legible"
)

// finding is what a check says of some pages, for CI servers.
type finding struct {
	Rule  string   // its name
	Level string   // error, warning or note
	Says  string   // the rule in a sentence
	Text  string   // what was found
	Pages []string // where
}

// writeSARIF writes findings as SARIF 2.1.0.
func writeSARIF(w io.Writer, tool string, list []finding) error {
	run := sarif.NewRunWithInformationURI(tool, "https://curtsy.invalid/")
	for _, f := range list {
		run.AddRule(f.Rule).WithDescription(f.Says)
		r := run.CreateResultForRule(f.Rule).WithLevel(f.Level).WithMessage(sarif.NewTextMessage(f.Text))
		for _, page := range f.Pages {
			r.AddLocation(sarif.NewLocationWithPhysicalLocation(sarif.NewPhysicalLocation().WithArtifactLocation(sarif.NewSimpleArtifactLocation(page))))
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
