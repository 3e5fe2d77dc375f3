package mirror

import (
	"fmt"
	"os"
	"time"
)

// Summary is the content of mirror-report.html as `curtsy report` repeats it. It is stored in
// mirror-map.json and names no URL that must not be published.
type Summary struct {
	Seed      string           `json:"-"`
	Until     time.Time        `json:"until"` // time of the last visit
	Files     int              `json:"files"`
	Pages     int              `json:"pages"`
	Redirects int              `json:"redirects"`
	Live      int              `json:"live"` // links to the live site although the page is in the mirror
	Sections  []SummarySection `json:"sections"`
}

// SummarySection is a section of the report, with its first rows.
type SummarySection struct {
	Title  string       `json:"title"`
	Says   string       `json:"says"`
	Total  int          `json:"total"`
	Hidden int          `json:"hidden,omitempty"` // those of Total that must not be published
	Rows   []SummaryRow `json:"rows,omitempty"`
}

// SummaryRow is a URL, why it is in the section, and the pages that refer to it.
type SummaryRow struct {
	URL  string   `json:"url"`
	Why  string   `json:"why,omitempty"`
	On   []string `json:"on,omitempty"`
	More int      `json:"more,omitempty"` // further pages
}

// summaryRows is the most rows of a section.
const summaryRows = 25

// Summarize reads the summary of a mirror; nil if an earlier version made the mirror.
func Summarize(out string) (*Summary, error) {
	root, err := os.OpenRoot(out)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	m, err := readMap(root)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", out, err)
	}
	if m.Summary != nil {
		m.Summary.Seed = m.Seed
	}
	return m.Summary, nil
}

// summary makes the summary of the mirror being made.
func (w *writer) summary(r *Result) *Summary {
	s := &Summary{Until: w.s.last.UTC().Truncate(time.Second), Files: r.Files, Pages: r.Pages,
		Redirects: r.Redirects, Live: r.Live}
	for _, h := range headings {
		urls, hidden := w.listed(h.section)
		part := SummarySection{Title: h.title, Says: h.says, Total: len(urls) + hidden, Hidden: hidden}
		for _, u := range urls[:min(len(urls), summaryRows)] {
			part.Rows = append(part.Rows, w.summaryRow(h.section, u))
		}
		s.Sections = append(s.Sections, part)
	}
	return s
}

func (w *writer) summaryRow(in section, url string) SummaryRow {
	r := w.notes.rows[in][url]
	row := SummaryRow{URL: url, Why: r.why}
	if in == broken || in == external {
		row.On, row.More = r.pages, r.count-len(r.pages)+r.unlisted
	}
	return row
}
