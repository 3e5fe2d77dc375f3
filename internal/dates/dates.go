// Package dates answers: which time does this text from the web name? It is
// the one reader for unavailable_after, Retry-After, and the entries of
// sitemaps and feeds.
package dates

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// MaxLength is the longest text that is tried as a date, in bytes.
const MaxLength = 128

// The parts of a date, in lower case.
const (
	weekday = `(?:(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?\.?[\s,]+)?`
	day     = `(?P<day>\d{1,2})(?:st|nd|rd|th)?`
	month   = `(?P<month>[a-z]{3,9})\.?`
	year    = `(?P<year>\d{4}|\d{2})`
	within  = `[\s,-]*` // between the parts of a date
	clock   = `(?P<hour>\d{1,2}):(?P<minute>\d{1,2})(?::` + seconds + `)?\s*(?P<half>[ap]m)?`
	seconds = `(?P<second>\d{1,2})(?P<fraction>\.\d{1,9})?`
	basic   = `(?P<hour>\d\d)(?:(?P<minute>\d\d)(?P<second>\d\d)?)?` // ISO 8601, without colons
	zone    = `\s*(?P<zone>[a-z]{1,5})?\s*(?P<offset>[+-]\d{1,2}(?::?\d\d)?)?`
)

// forms are those of dates with a time or without.
var forms = func() (list []*regexp.Regexp) {
	add := func(form string) { list = append(list, regexp.MustCompile(`^`+weekday+form+`$`)) }
	for _, date := range []string{
		`(?P<year>\d{4})[-\s]+(?P<month>\d{1,2})[-\s]+` + day,
		`(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)`,
		day + within + month + within + year,
		month + within + day + `[\s,-]+` + year,
		`(?P<year>\d{4})` + within + month + within + day,
	} {
		add(date + `(?:(?:[\s,]+|t)` + clock + `)?` + zone)
		add(date + `t` + basic + zone)
		add(clock + `[\s,]+` + date + zone)
	}
	add(month + within + day + `[\s,]+` + clock + zone + `\s+` + year) // asctime
	return list
}()

// Parse reads a date as site owners write it: an HTTP-date in its three forms
// (RFC 9110 §5.6.7: IMF-fixdate, RFC 850, asctime), RFC 822 and 5322, ISO 8601
// with day, with or without weekday, seconds and zone, the year in two or four
// digits. Without a zone it is UTC. What is no date, such as the 31st of
// February, is !ok.
func Parse(s string) (time.Time, bool) {
	if len(s) > MaxLength {
		return time.Time{}, false
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil && t.Year() >= firstYear {
		return t.UTC(), true
	}
	s, _, _ = strings.Cut(s, "(") // an RFC 822 comment at the end: "+0000 (UTC)"
	s = strings.Trim(s, " \t\n\f\r\"'.,")
	for _, form := range forms {
		if m := form.FindStringSubmatch(strings.ToLower(s)); m != nil {
			return timeOf(s, func(name string) string {
				if i := form.SubexpIndex(name); i >= 0 {
					return m[i]
				}
				return ""
			})
		}
	}
	return time.Time{}, false
}

// ParseW3C is Parse, and a year or a month alone is its first day, as the
// precisions of the W3C's date format allow (NOTE-datetime, which the
// sitemaps.org protocol refers to).
func ParseW3C(s string) (time.Time, bool) {
	for _, layout := range [...]string{"2006", "2006-01"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return Parse(s)
}

// firstYear is the first that may be meant.
const firstYear = 1900

// timeOf puts the parts of a text together; part gives each by its name, "" where it
// is not there.
func timeOf(text string, part func(name string) string) (t time.Time, ok bool) {
	number := func(name string) int {
		n, _ := strconv.Atoi(part(name)) // digits, or nothing
		return n
	}
	year, month, day := number("year"), monthOf(part("month")), number("day")
	switch short := len(part("year")) == 2; {
	case short && year >= 69: // as POSIX and Go read two digits
		year += 1900
	case short:
		year += 2000
	}
	date := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if year < firstYear || month < 1 || month > 12 || date.Day() != day {
		return t, false
	}
	hour, minute, second := number("hour"), number("minute"), number("second")
	if half := part("half"); half != "" {
		if hour < 1 || hour > 12 {
			return t, false
		}
		if hour %= 12; half == "pm" {
			hour += 12
		}
	}
	if minute > 59 || second > 60 || hour > 24 || hour == 24 && minute+second > 0 {
		return t, false
	}
	name := part("zone")
	// A name that nobody knows is UTC where it can only be a zone.
	inCapitals := part("hour") != "" && strings.Contains(text, strings.ToUpper(name))
	east, ok := eastOf(name, part("offset"), inCapitals)
	fraction, _ := time.ParseDuration("0" + part("fraction") + "s")
	date = date.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute)
	return date.Add(time.Duration(second-east)*time.Second + fraction), ok
}

// eastOf is how many seconds east of UTC a zone is that is named, or written as +03,
// +0300 or +03:00, or both: "GMT+3" is one zone, "PST+3" none.
func eastOf(name, offset string, anyName bool) (east int, ok bool) {
	east, known := zones[name]
	if offset == "" || !known && !anyName && name != "" {
		return east, known || anyName || name == ""
	}
	digits := strings.Replace(offset[1:], ":", "", 1)
	if len(digits) <= 2 {
		digits += "00"
	}
	n, _ := strconv.Atoi(digits)
	if offset[0] == '-' {
		n = -n
	}
	hours, minutes := n/100, n%100
	return hours*hour + minutes*60, east == 0 && max(hours, -hours) <= 15 && max(minutes, -minutes) <= 59
}

// monthOf is a month by its number, its name or the first three letters of that; 0 for
// none.
func monthOf(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	for m := time.January; m <= time.December; m++ {
		name := strings.ToLower(m.String())
		if s == name || s == name[:3] || s == "sept" && m == time.September {
			return int(m)
		}
	}
	return 0
}
