// Package dates parses the dates found on the web: in unavailable_after, Retry-After, sitemaps
// and feeds.
package dates

import (
	"strings"
	"time"
)

// MaxLength is the longest text, in bytes, that is parsed.
const MaxLength = 128

// Parse parses a date as site owners write it: an HTTP-date in its three forms (RFC 9110
// §5.6.7: IMF-fixdate, RFC 850, asctime), RFC 822 and 5322, and ISO 8601 with a day; weekday,
// seconds and zone are optional, and the year has two or four digits. The default zone is UTC.
// For invalid dates, such as February 31, ok is false.
func Parse(s string) (time.Time, bool) {
	if len(s) > MaxLength {
		return time.Time{}, false
	}
	if i := strings.IndexByte(s, '('); i >= 0 {
		s = s[:i] // a trailing RFC 822 comment: "+0000 (UTC)"
	}
	p := dateParser{in: strings.Trim(s, blank+`"'.,`), month: -1, hour: -1}
	for p.in != "" {
		if !p.token() {
			return time.Time{}, false
		}
	}
	return p.time()
}

// ParseW3C is Parse, and also accepts a year or a month, which means its first day, as in the
// W3C's date format (NOTE-datetime, which the sitemaps.org protocol refers to).
func ParseW3C(s string) (time.Time, bool) {
	for _, layout := range [...]string{"2006", "2006-01"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return Parse(s)
}

// dateParser parses a date word by word, in any unambiguous order.
type dateParser struct {
	in       string
	numbers  [3]int // day and year; or year, month and day
	digits   [3]int // number of digits of each
	n        int
	month    int // 1 to 12 if named, otherwise -1
	hour     int // -1: no time of day yet
	min, sec int
	nanos    int
	zone     int // seconds east of UTC
	zoned    bool
	weekday  bool
}

// token parses the next word, number, time or zone.
func (p *dateParser) token() bool {
	switch c := p.in[0]; {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == ',':
		p.in = p.in[1:]
		return true
	case isDigit(c):
		return p.number()
	case c == '+', c == '-' && p.complete():
		return p.offset()
	case c == '-':
		p.in = p.in[1:]
		return p.n > 0 && p.in != "" && p.in[0] != '-'
	case isLetter(c):
		return p.word()
	}
	return false
}

// complete reports whether day, month and year are known, so that a sign begins an offset
// rather than the next part of the date.
func (p *dateParser) complete() bool {
	return p.n == 3 || p.n == 2 && p.month > 0
}

func (p *dateParser) number() bool {
	n, width := leadingDigits(p.in)
	if width > 0 && width < len(p.in) && p.in[width] == ':' {
		return p.clock()
	}
	if width == 8 && p.n == 0 && p.month < 0 { // 20100625, ISO 8601 basic
		p.numbers, p.digits, p.n = [3]int{n / 10000, n / 100 % 100, n % 100}, [3]int{4, 2, 2}, 3
		p.in = p.in[width:]
		return true
	}
	if width > 4 || width == 3 || p.complete() || p.n == len(p.numbers) {
		return false
	}
	p.numbers[p.n], p.digits[p.n] = n, width
	p.n++
	p.in = trimOrdinal(p.in[width:])
	return true
}

// trimOrdinal removes the "th" of "25th June".
func trimOrdinal(s string) string {
	if len(s) < 2 || len(s) > 2 && isLetter(s[2]) {
		return s
	}
	switch strings.ToLower(s[:2]) {
	case "st", "nd", "rd", "th":
		return s[2:]
	}
	return s
}

// clock parses 15:00, 15:00:00 and 15:00:00.5.
func (p *dateParser) clock() bool {
	if p.hour >= 0 {
		return false
	}
	var part [3]int
	for i := range part {
		n, width := leadingDigits(p.in)
		if width == 0 || width > 2 {
			return false
		}
		part[i], p.in = n, p.in[width:]
		if p.in == "" || p.in[0] != ':' || i == len(part)-1 {
			break
		}
		p.in = p.in[1:]
	}
	if p.in != "" && (p.in[0] == '.' || p.in[0] == ':') {
		n, width := leadingDigits(p.in[1:])
		if p.in[0] == ':' || width == 0 {
			return false
		}
		p.in = p.in[1+width:]
		for ; width < 9; width++ {
			n *= 10
		}
		p.nanos = n
	}
	p.hour, p.min, p.sec = part[0], part[1], part[2]
	return p.min < 60 && p.sec <= 60 && (p.hour < 24 || p.hour == 24 && p.min+p.sec == 0)
}

// offset parses +03, +0300 and +03:00.
func (p *dateParser) offset() bool {
	sign := 1
	if p.in[0] == '-' {
		sign = -1
	}
	n, width := leadingDigits(p.in[1:])
	p.in = p.in[1+width:]
	var hours, minutes int
	switch width {
	case 1, 2:
		hours = n
		if strings.HasPrefix(p.in, ":") {
			minutes, width = leadingDigits(p.in[1:])
			if width != 2 {
				return false
			}
			p.in = p.in[3:]
		}
	case 4:
		hours, minutes = n/100, n%100
	default:
		return false
	}
	if p.zoned && p.zone != 0 || hours > 15 || minutes > 59 || !p.complete() {
		return false // "GMT+3" is a zone, "PST+3" is not
	}
	p.zoned, p.zone = true, sign*(hours*3600+minutes*60)
	return true
}

// word parses the name of a month, a weekday or a zone, T, Z, am and pm.
func (p *dateParser) word() bool {
	i := 0
	for i < len(p.in) && isLetter(p.in[i]) {
		i++
	}
	word := strings.ToLower(p.in[:i])
	upper := word != p.in[:i] && strings.ToUpper(word) == p.in[:i]
	p.in = p.in[i:]
	switch {
	case word == "t" && p.complete() && p.hour < 0:
		return p.isoTime()
	case word == "am", word == "pm":
		return p.halfDay(word)
	case monthOf(word) > 0 && p.month < 0:
		p.month = monthOf(word)
		p.in = strings.TrimPrefix(p.in, ".")
		return true
	case isWeekday(word) && !p.weekday:
		p.weekday = true
		p.in = strings.TrimPrefix(p.in, ".")
		return true
	}
	return p.zoneName(word, upper)
}

// isoTime parses what follows the T: 15:00:00 is parsed by clock; 150000, 1500 and 15 are the
// basic format.
func (p *dateParser) isoTime() bool {
	n, width := leadingDigits(p.in)
	if width < len(p.in) && p.in[width] == ':' {
		return true
	}
	switch width {
	case 2:
		p.hour = n
	case 4:
		p.hour, p.min = n/100, n%100
	case 6:
		p.hour, p.min, p.sec = n/10000, n/100%100, n%100
	default:
		return false
	}
	p.in = p.in[width:]
	return p.hour < 24 && p.min < 60 && p.sec <= 60
}

func (p *dateParser) halfDay(word string) bool {
	if p.hour < 1 || p.hour > 12 {
		return false
	}
	p.hour %= 12
	if word == "pm" {
		p.hour += 12
	}
	return true
}

// zoneName applies a zone. An unknown name in capitals after a time of day can only be a zone,
// and is taken for UTC.
func (p *dateParser) zoneName(word string, upper bool) bool {
	if p.zoned {
		return false
	}
	east, known := zones[word]
	if !known && !(upper && p.hour >= 0 && len(word) <= 5) {
		return false
	}
	p.zoned, p.zone = true, east
	return true
}

// time combines the parts.
func (p *dateParser) time() (time.Time, bool) {
	year, month, day, digits := p.date()
	p.hour = max(p.hour, 0)
	switch {
	case digits == 0 || month < 1 || month > 12:
		return time.Time{}, false
	case digits <= 2 && year >= 69: // like POSIX and Go
		year += 1900
	case digits <= 2:
		year += 2000
	}
	if t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC); year < 1900 || t.Day() != day {
		return time.Time{}, false
	}
	t := time.Date(year, time.Month(month), day, p.hour, p.min, p.sec, p.nanos, time.UTC)
	return t.Add(-time.Duration(p.zone) * time.Second), true
}

// date determines which number is which: "25 Jun 2010", "2010 Jun 25" or "2010-06-25". Numbers
// such as 06/07/10 are ambiguous.
func (p *dateParser) date() (year, month, day, digits int) {
	switch {
	case p.month > 0 && p.n == 2 && p.digits[0] == 4:
		return p.numbers[0], p.month, p.numbers[1], 4
	case p.month > 0 && p.n == 2:
		return p.numbers[1], p.month, p.numbers[0], p.digits[1]
	case p.month < 0 && p.n == 3 && p.digits[0] == 4:
		return p.numbers[0], p.numbers[1], p.numbers[2], 4
	}
	return 0, 0, 0, 0
}

// leadingDigits parses up to nine digits.
func leadingDigits(s string) (n, width int) {
	for width < len(s) && width < 9 && isDigit(s[width]) {
		n = n*10 + int(s[width]-'0')
		width++
	}
	return n, width
}

const blank = " \t\n\f\r"

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

const monthNames = "january february march april may june july august september october november december"

func monthOf(word string) int {
	if word == "sept" {
		return 9
	}
	return nameOf(word, monthNames)
}

func isWeekday(word string) bool {
	switch word {
	case "tues", "wednes", "thur", "thurs":
		return true
	}
	return nameOf(word, "monday tuesday wednesday thursday friday saturday sunday") > 0
}

// nameOf returns the position of word, complete or as the first three letters, in names; 0 if
// it is not there.
func nameOf(word, names string) int {
	i := 0
	for name := range strings.FieldsSeq(names) {
		i++
		if word == name || word == name[:3] {
			return i
		}
	}
	return 0
}
