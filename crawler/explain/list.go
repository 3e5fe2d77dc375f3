package explain

import (
	"fmt"
	"slices"
	"strings"

	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// Row is one URL of an archive, its state and the rules behind that.
type Row struct {
	URL    string `json:"url"`
	State  string `json:"state"`
	Status int    `json:"status,omitempty"`
	Kept   string `json:"kept,omitempty"`
	Rule   string `json:"rule,omitempty"`
	id     uint64
}

// List returns every URL of an archive, sorted by discovery. It holds all of them in memory, so
// the archive should be small.
func List(dir string) (rows []Row, err error) {
	defer storage.Guard(&err)()
	a, f, err := open(dir)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	var found []frontier.Found
	for class := range judge.NumClasses {
		if err := f.Each(class, func(e frontier.Found) error {
			found = append(found, e)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	rows = make([]Row, 0, len(found))
	for _, e := range found {
		visits, err := a.VisitsOf(e.ID)
		if err != nil {
			return nil, err
		}
		rows = append(rows, rowOf(e, visits))
	}
	slices.SortFunc(rows, func(a, b Row) int { return int(a.id) - int(b.id) })
	return rows, nil
}

func rowOf(e frontier.Found, visits []*crawllog.Visit) Row {
	r := Row{URL: e.URL.String(), State: e.State.String(), Rule: e.Reason.String(), id: e.ID}
	if len(visits) == 0 {
		return r
	}
	v := visits[len(visits)-1]
	r.Status, r.Kept = v.Status, v.Kept
	var rules []string
	if r.Rule != "" {
		rules = append(rules, r.Rule)
	}
	if v.Robots != nil && v.Robots.Line > 0 {
		rules = append(rules, fmt.Sprintf("robots.txt: line %d: %s", v.Robots.Line, v.Robots.Rule))
	}
	if v.Directives != nil {
		for _, s := range v.Directives.Sources {
			rules = append(rules, s.Directive+" ("+s.From+")")
		}
	}
	if v.Location != "" {
		rules = append(rules, "redirect to "+v.Location)
	}
	r.Rule = strings.Join(rules, "; ")
	return r
}
