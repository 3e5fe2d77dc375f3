package report

import (
	"context"
	"strings"

	"curtsy/internal/legible"
	"curtsy/publish/audit"
)

// Repair is a finding with a table of its pages.
type Repair struct {
	audit.Finding
	Table Table
}

// readFindings makes tables of the findings of an audit, without pages that must not be
// published and details that name such a page.
func (g *gatherer) readFindings(context.Context) error {
	for _, f := range g.o.Findings {
		if f.Name == audit.BrokenLink { // broken links have a table of their own
			continue
		}
		r := Repair{Finding: f}
		var more []string
		for _, h := range f.Hits {
			l := Line{URL: h.URL, Text: h.Detail}
			for word := range strings.FieldsSeq(l.Text) {
				if g.unlisted[word] || g.unlisted[strings.Trim(word, `.,;:()"`)] {
					l.Text = ""
				}
			}
			l.Text = legible.Cut(l.Text, 200)
			listed := !g.unlisted[l.URL]
			if r.Table.add(listed, l); listed && r.Table.Total-r.Table.Hidden > maxRows {
				more = append(more, l.URL)
			}
		}
		r.Table.fold(more, g.place)
		g.r.Repairs = append(g.r.Repairs, r)
	}
	return nil
}
