package replay

import (
	"net/http"
	"slices"
	"time"

	"curtsy/storage/crawllog"
)

// versionsView is the data of a calendar and list of the captures of a URL.
type versionsView struct {
	URL    string
	Months []month // newest first
	Rows   []row
	Hidden int
}

// month is a month of the calendar; weeks start on Monday.
type month struct {
	First time.Time
	Weeks [][7]day
}

type day struct {
	Number int // 0: not in this month
	Count  int
	Path   string
	At     time.Time
}

type row struct {
	Path, Raw, Type string
	What            phrase
	Compare         string // with the previous version; "" if it is not a version of its own
	At              time.Time
	Status          int
	Size            int64
}

func (s *Server) versions(w http.ResponseWriter, r *http.Request, text string) error {
	_, all, u, err := s.find(r.Context(), address{text: text})
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return s.absentUI(w, r, u, nil)
	}
	v := &versionsView{URL: u.String()}
	var shown []row
	compare := changePaths(versionsOf(all))
	for _, c := range all {
		if !c.shown() {
			v.Hidden++
			continue
		}
		ts := c.At.UTC().Format(tsFormat)
		shown = append(shown, row{Path: pathTo(ts, u), Raw: s.contentBase(r, c.from) + pathTo(ts+"id_", u),
			At: c.At.UTC(), Status: c.Status, Size: c.Length, Type: c.ContentType, What: whatText(c.Visit),
			Compare: compare[c]})
	}
	v.Months = calendar(shown)
	slices.Reverse(shown)
	v.Rows = shown
	return s.show(w, r, http.StatusOK, "versions", &page{Title: say("Captures of %s", u), URL: u.String(), View: v})
}

// whatText says how a capture differs from the previous one.
func whatText(v *crawllog.Visit) phrase {
	switch {
	case v.Status == http.StatusNotModified:
		return say("unchanged since the capture before")
	case v.Kept == crawllog.KeptRevisit:
		return say("the same bytes as an earlier capture")
	case v.Truncated != "":
		return say("cut off")
	case v.Location != "":
		return say("leads to %s", v.Location)
	}
	return say("kept in full")
}

// calendar returns the months that have captures, newest first.
func calendar(rows []row) (months []month) {
	for i := 0; i < len(rows); {
		first := time.Date(rows[i].At.Year(), rows[i].At.Month(), 1, 0, 0, 0, 0, time.UTC)
		next := first.AddDate(0, 1, 0)
		end := i
		for end < len(rows) && rows[end].At.Before(next) {
			end++
		}
		months = append(months, sheet(first, rows[i:end]))
		i = end
	}
	slices.Reverse(months)
	return months
}

func sheet(first time.Time, rows []row) month {
	m := month{First: first}
	at := (int(first.Weekday()) + 6) % 7
	var week [7]day
	for d := first; d.Month() == first.Month(); d = d.AddDate(0, 0, 1) {
		cell := day{Number: d.Day(), At: d}
		for _, r := range rows {
			if r.At.Day() == d.Day() {
				cell.Count++
				cell.Path = r.Path // of several, the last
			}
		}
		week[at] = cell
		if at++; at == 7 {
			m.Weeks, week, at = append(m.Weeks, week), [7]day{}, 0
		}
	}
	if at > 0 {
		m.Weeks = append(m.Weeks, week)
	}
	return m
}
