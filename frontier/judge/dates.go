package judge

import (
	"strconv"
	"strings"
	"time"
)

// ahead reports whether the target contains a date more than the given number of months after now.
func ahead(target string, now time.Time, months int) bool {
	return latest(target, firstYear, now.Year()+nearYears, sure) > now.Year()*12+int(now.Month())+months
}

// The range of years; other numbers of four digits are taken for those of articles.
const (
	firstYear, lastYear = 1900, 2100
	nearYears           = 20 // years further ahead count only if the URL names a calendar
)

// certainty is how sure it is that digits are a date.
type certainty int

const (
	named  certainty = iota // a date if the URL names a calendar, else a number
	likely                  // a date if there are many similar ones
	sure
)

// latest returns the latest date in the target in months since year 0; 0 if there is none. A date is a
// year from first to last followed by a month. If the URL names a calendar, later years count too, and
// the certainty does not matter.
func latest(target string, first, last int, least certainty) (months int) {
	for i := 0; i+4 <= len(target); {
		if target[i] < '0' || target[i] > '9' {
			i++
			continue
		}
		end := i
		for end < len(target) && target[end] >= '0' && target[end] <= '9' {
			end++
		}
		if n := end - i; n == 4 || n == 6 || n == 8 {
			year, _ := strconv.Atoi(target[i : i+4])
			month, c := monthAt(target, i, end)
			if month > 0 && year >= first && year <= max(last, lastYear) && year*12+month > months &&
				(c >= least && year <= last || namesCalendar(target, i)) {
				months = year*12 + month
			}
		}
		i = end
	}
	return months
}

// monthAt returns the month for the year with which the digits from at to end begin: it is in the same
// digits, follows a separator, or is in a parameter of its own. It returns 0 if there is none.
func monthAt(target string, at, end int) (month int, c certainty) {
	switch end - at {
	case 8:
		if standsAlone(target, at, end) && upTo(31, target[at+6:end]) > 0 {
			return upTo(12, target[at+4:at+6]), sure
		}
	case 6:
		if standsAlone(target, at, end) {
			return upTo(12, target[at+4:end]), named
		}
	case 4:
		if end == len(target) || strings.IndexByte("-/_.", target[end]) < 0 {
			return yearAlone(target, at)
		}
		digits := leadingDigits(target[end+1:])
		if digits == "" {
			return yearAlone(target, at)
		}
		rest := target[end+1+len(digits):]
		c = likely
		if target[end] == '/' {
			if target[max(at-1, 0)] == '/' && (rest == "" || !isLetter(rest[0])) {
				c = sure // path segments of their own
			}
		} else if rest != "" && strings.IndexByte("-_.", rest[0]) >= 0 && upTo(31, leadingDigits(rest[1:])) > 0 {
			c = sure // a day follows
		}
		return upTo(12, digits), c
	}
	return 0, named
}

func leadingDigits(s string) string {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return s[:n]
}

// upTo parses one or two digits; it returns 0 if the number is over most.
func upTo(most int, digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil || len(digits) > 2 || n > most {
		return 0
	}
	return n
}

// yearAlone returns the first month if the parameter with the value at target[at:] is named as a year.
// A parameter y may also be a coordinate.
func yearAlone(target string, at int) (month int, c certainty) {
	switch before := strings.ToLower(target[:at]); {
	case strings.HasSuffix(before, "year="):
		return 1, sure
	case !strings.HasSuffix(before, "?y=") && !strings.HasSuffix(before, "&y=") && !strings.HasSuffix(before, ";y="):
		return 0, named
	case hasMonth(target):
		return 1, sure
	}
	return 1, named
}

func hasMonth(target string) bool {
	_, query, _ := strings.Cut(strings.ToLower(target), "?")
	for p := range parameters(query) {
		if name, _, _ := strings.Cut(p, "="); name == "m" || strings.Contains(name, "mon") {
			return true
		}
	}
	return false
}

// standsAlone reports whether digits without separators may be a date: they are not part of a word, nor
// the value of a parameter unrelated to time.
func standsAlone(target string, at, end int) bool {
	if at > 0 && isLetter(target[at-1]) || end < len(target) && isLetter(target[end]) {
		return false
	}
	return at == 0 || target[at-1] != '=' || ofTime(target, at)
}

// ofTime reports whether target[at] is in the value of a parameter related to time.
func ofTime(target string, at int) bool {
	name, _, isValue := strings.Cut(target[strings.LastIndexAny(target[:at], "?&;")+1:at], "=")
	if !isValue {
		return false
	}
	name = strings.ToLower(name)
	for _, word := range []string{"date", "day", "month", "year", "time", "cal", "from", "start", "end", "week"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// namesCalendar reports whether the number at target[at:] belongs to a calendar, judged by the name of
// its parameter or a word anywhere in the target.
func namesCalendar(target string, at int) bool {
	if ofTime(target, at) {
		return true
	}
	for word := range strings.FieldsFuncSeq(strings.ToLower(target),
		func(r rune) bool { return r > 'z' || !isLetter(byte(r)) }) {
		switch word {
		case "cal", "date", "dates", "day", "days", "daily", "week", "weeks", "weekly", "month", "months", "monthly",
			"year", "years", "yearly":
			return true
		}
		if strings.Contains(word, "calend") || strings.Contains(word, "kalend") {
			return true
		}
	}
	return false
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
