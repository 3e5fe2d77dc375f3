package rules

import (
	"strings"
	"time"

	"curtsy/politeness"
)

const day = 24 * 60

// VisitTime is a time of day, in minutes since midnight UTC, from Start to before End. If End is less than
// Start, it includes midnight.
type VisitTime struct {
	Start, End int
	Line       int
}

// Next returns the first time within the window that is not before t.
func (v VisitTime) Next(t time.Time) time.Time {
	minutes := func(n int) time.Duration { return time.Duration(n) * time.Minute }
	return politeness.Window{Start: minutes(v.End), End: minutes(v.Start)}.Next(t)
}

// readVisit parses "0600-0845"; a colon in each time is ignored.
func readVisit(s string) (VisitTime, bool) {
	from, to, ok := strings.Cut(s, "-")
	start, ok1 := readClock(trimBlanks(from))
	end, ok2 := readClock(trimBlanks(to))
	if !ok || !ok1 || !ok2 || start == end || start == day {
		return VisitTime{}, false
	}
	return VisitTime{Start: start, End: end}, true
}

// readClock parses hhmm into minutes; 2400 is the end of the day.
func readClock(s string) (minutes int, ok bool) {
	s = strings.Replace(s, ":", "", 1)
	if len(s) != 4 || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	h, m := int(s[0]-'0')*10+int(s[1]-'0'), int(s[2]-'0')*10+int(s[3]-'0')
	if m > 59 || h > 24 || h == 24 && m > 0 {
		return 0, false
	}
	return h*60 + m, true
}
