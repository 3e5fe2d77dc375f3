package report

import (
	"context"
	"strings"
)

// Finding is what an audit found: a fault, what it means in a sentence, and the
// pages that have it.
type Finding struct {
	Name, Level, Says string
	Hits              []Line
}

// Repair is a finding with a folded list of its pages.
type Repair struct {
	Finding
	Table Table
}

// readFindings folds what an audit found, and leaves out what must not be named: a
// page, or what is said of one if that names another.
func (g *gatherer) readFindings(context.Context) error {
	for _, f := range g.o.Findings {
		r := Repair{Finding: f}
		var more []string
		for _, l := range f.Hits {
			for word := range strings.FieldsSeq(l.Text) {
				if g.unlisted[word] || g.unlisted[strings.Trim(word, `.,;:()"`)] {
					l.Text = ""
				}
			}
			l.Text = short(l.Text, 200)
			listed := !g.unlisted[l.URL]
			if r.Table.add(listed, l); listed && r.Table.Total-r.Table.Hidden > maxRows {
				more = append(more, l.URL)
			}
		}
		r.Hits = nil
		r.Table.fold(more, g.place)
		g.r.Repairs = append(g.r.Repairs, r)
	}
	return nil
}
