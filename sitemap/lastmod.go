package sitemap

import (
	"strings"
	"time"
)

// lastModLayouts are the W3C's date formats in every precision (NOTE-datetime),
// with and without the zone that it wants, and those of RSS (RFC 822). Go
// reads fractions of a second wherever seconds stand.
var lastModLayouts = []string{
	"2006-01-02T15:04:05Z07:00",
	"2006-01-02",
	"2006-01-02T15:04Z07:00",
	"2006-01-02T15:04:05Z0700",
	"2006-01-02T15:04Z0700",
	"2006-01-02T15:04:05",
	"2006-01-02T15:04",
	"2006-01-02T15Z07:00",
	"2006-01-02T15",
	"2006-01",
	"2006",
	"20060102",
	"20060102T150405Z0700",
	"Mon, 2 Jan 2006 15:04:05 -0700",
	"Mon, 2 Jan 2006 15:04:05 MST",
	"Mon, 2 Jan 2006 15:04 -0700",
	"2 Jan 2006 15:04:05 -0700",
	"2 Jan 2006 15:04:05 MST",
	"Mon, 2 Jan 06 15:04:05 -0700",
	"Mon, 2 Jan 06 15:04:05 MST",
}

// ParseLastMod reads the date of a sitemap's or feed's entry; without a zone
// it is UTC.
func ParseLastMod(s string) (time.Time, bool) {
	s = trimLoc(s)
	if len(s) > 64 {
		return time.Time{}, false
	}
	if len(s) > 10 && s[10] == ' ' && s[4] == '-' {
		s = s[:10] + "T" + strings.ReplaceAll(s[11:], " ", "")
	}
	s = zoned(s)
	for _, layout := range lastModLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// zoned writes the zone names of RFC 822 as offsets: time.Parse would take
// those it does not know for UTC.
func zoned(s string) string {
	zones := [...][2]string{
		{" EST", " -0500"}, {" EDT", " -0400"}, {" CST", " -0600"}, {" CDT", " -0500"},
		{" MST", " -0700"}, {" MDT", " -0600"}, {" PST", " -0800"}, {" PDT", " -0700"},
		{" UT", " +0000"}, {" Z", " +0000"},
	}
	for _, z := range zones {
		if before, ok := strings.CutSuffix(s, z[0]); ok {
			return before + z[1]
		}
	}
	return s
}
