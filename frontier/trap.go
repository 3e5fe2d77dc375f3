package frontier

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"curtsy/internal/weburl"
)

// Traps bounds what a site can make a crawl fetch without end. Each rule has
// a name and a budget; 0 turns a rule off. What a rule holds back is
// disregarded with its name, and goes through when the budget is raised.
type Traps struct {
	PathDepth     int  // segments of a path
	Repeats       int  // times that one run of segments follows itself
	Length        int  // octets of a URL
	Ahead         int  // months that a date in a URL lies in the future
	QueryVariants int  // queries with the same parameters on one path; half of it for each parameter beyond the first
	Facets        int  // queries of two parameters and more on one path, once there are over 32 combinations of names
	Versions      int  // queries with a hash on ever other paths below the same two segments: old states of files
	Calendar      int  // URLs with a date that differ in digits only; an eighth of it where dates are months
	Pattern       int  // URLs that differ in digits only
	Twins         bool // sessions and orders of parameters that make no new page
	SameBody      int  // pages with one and the same body whose links are followed
	SoftNotFound  int  // pages that look alike before the site is asked for a name that does not exist
}

// DefaultTraps are budgets that real sites stay below.
func DefaultTraps() Traps {
	return Traps{PathDepth: 60, Repeats: 5, Length: 2000, Ahead: 18, QueryVariants: 20_000, Facets: 1000, Versions: 1000,
		Calendar: 10_000, Pattern: 1_000_000, Twins: true, SameBody: 20, SoftNotFound: 20}
}

// Judge applies the rules that need nothing but the link.
func (t *Traps) Judge(l *Link, now time.Time) (reason string, ok bool) {
	u := l.URL
	if t.Length > 0 && len(u.String()) > t.Length {
		return fmt.Sprintf("trap: length: over %d bytes", t.Length), false
	}
	path := u.Path()
	if t.PathDepth > 0 && strings.Count(path, "/") > t.PathDepth {
		return fmt.Sprintf("trap: path-depth: over %d segments", t.PathDepth), false
	}
	if t.Repeats > 0 && repeats(path, t.Repeats) {
		return fmt.Sprintf("trap: repeated-segments: %d times in a row", t.Repeats), false
	}
	if t.Ahead > 0 && l.Class != Requisite && ahead(u.Target(), now, t.Ahead) {
		return fmt.Sprintf("trap: calendar: over %d months ahead", t.Ahead), false
	}
	return "", true
}

// repeats says whether a run of segments follows itself n times: /a/a/a, or
// /a/b/a/b/a/b.
func repeats(path string, n int) bool {
	if strings.Count(path, "/") < n {
		return false
	}
	seg := strings.Split(strings.Trim(path, "/"), "/")
	for run := 1; run*n <= len(seg) && run <= 8; run++ {
		same := 0
		for i := run; i < len(seg); i++ {
			if seg[i] != seg[i-run] || seg[i] == "" {
				same = 0
				continue
			}
			if same++; same >= run*(n-1) {
				return true
			}
		}
	}
	return false
}

// ahead says whether the target holds a date that lies more than so many
// months after now.
func ahead(target string, now time.Time, months int) bool {
	return latest(target, firstYear, now.Year()+nearYears, sure) > now.Year()*12+int(now.Month())+months
}

// What is taken for a year; other numbers of four digits are those of articles.
const (
	firstYear, lastYear = 1900, 2100
	nearYears           = 20 // further ahead only a URL that names a calendar has dates
)

// certainty is how much looks like a date in what may be one.
type certainty int

const (
	named  certainty = iota // a date where the URL names a calendar, else a number
	likely                  // a date if there are many alike
	sure
)

// latest is the latest date in the target, as months since year 0, 0 if there
// is none: a year, from the first to the last, and then a month. Where the URL
// names a calendar, the year may come after the last, and no date is in doubt.
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

// monthAt is the month that belongs to the year that the digits from at to
// end begin with: in the same digits, or behind a separator, or in a parameter
// named for it. It is 0 if there is none.
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
				c = sure // segments of their own
			}
		} else if rest != "" && strings.IndexByte("-_.", rest[0]) >= 0 && upTo(31, leadingDigits(rest[1:])) > 0 {
			c = sure // there is a day, too
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

// upTo is the number that one digit or two are, 0 if it is over most.
func upTo(most int, digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil || len(digits) > 2 || n > most {
		return 0
	}
	return n
}

// yearAlone is the first month where the parameter whose value begins at
// target[at:] is a year by its name. A y may also be a place on a map.
func yearAlone(target string, at int) (month int, c certainty) {
	switch before := strings.ToLower(target[:at]); {
	case strings.HasSuffix(before, "year="):
		return 1, sure
	case !strings.HasSuffix(before, "?y=") && !strings.HasSuffix(before, "&y="):
		return 0, named
	case hasMonth(target):
		return 1, sure
	}
	return 1, named
}

func hasMonth(target string) bool {
	_, query, _ := strings.Cut(strings.ToLower(target), "?")
	for p := range strings.SplitSeq(query, "&") {
		if name, _, _ := strings.Cut(p, "="); name == "m" || strings.Contains(name, "mon") {
			return true
		}
	}
	return false
}

// standsAlone says whether digits without separators may be a date: not a
// part of a word, and not the value of a parameter that has nothing to do
// with time.
func standsAlone(target string, at, end int) bool {
	if at > 0 && isLetter(target[at-1]) || end < len(target) && isLetter(target[end]) {
		return false
	}
	return at == 0 || target[at-1] != '=' || ofTime(target, at)
}

// ofTime says whether target[at] is in the value of a parameter that has to
// do with time.
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

// namesCalendar says whether the number at target[at:] is that of a calendar:
// by the name of its parameter, or by a word anywhere in the target.
func namesCalendar(target string, at int) bool {
	if ofTime(target, at) {
		return true
	}
	for word := range strings.FieldsFuncSeq(strings.ToLower(target), func(r rune) bool { return r > 'z' || !isLetter(byte(r)) }) {
		switch word {
		case "cal", "date", "dates", "day", "days", "daily", "week", "weeks", "weekly", "month", "months", "monthly", "year", "years", "yearly":
			return true
		}
		if strings.Contains(word, "calend") || strings.Contains(word, "kalend") {
			return true
		}
	}
	return false
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// twin is the form that URLs of one page share although they differ in a
// session id or in the order of their parameters; "" if the URL is that form.
func twin(u weburl.URL) (form, rule string) {
	path, session := withoutSession(u.Path())
	if !u.HasQuery() {
		if session {
			return u.Origin() + path, "session-id"
		}
		return "", ""
	}
	var kept []string
	for p := range strings.SplitSeq(u.Query(), "&") {
		name, value, _ := strings.Cut(p, "=")
		if isSession(name, value) {
			session = true
			continue
		}
		kept = append(kept, p)
	}
	rule = "session-id"
	if !session {
		if slices.IsSorted(kept) {
			return "", ""
		}
		rule = "query-order"
	}
	slices.Sort(kept)
	form = u.Origin() + path
	if len(kept) > 0 {
		form += "?" + strings.Join(kept, "&")
	}
	return form, rule
}

// withoutSession cuts ";jsessionid=…" and "/(S(…))/" out of a path.
func withoutSession(path string) (string, bool) {
	lower := strings.ToLower(path)
	for _, mark := range []string{";jsessionid=", ";sid=", ";phpsessid="} {
		if i := strings.Index(lower, mark); i >= 0 {
			end := strings.IndexByte(path[i:], '/')
			if end < 0 {
				return path[:i], true
			}
			return path[:i] + path[i+end:], true
		}
	}
	if i := strings.Index(lower, "/(s("); i >= 0 {
		if end := strings.Index(path[i:], "))"); end > 0 {
			return path[:i] + path[i+end+2:], true
		}
	}
	return path, false
}

// isSession knows parameters that carry a session: by name, and by a value
// that no person chose. Where the name may mean anything else, a search or a
// talk, a value of letters alone is a word.
func isSession(name, value string) bool {
	word := true
	switch strings.ToLower(name) {
	case "phpsessid", "jsessionid", "aspsessionid", "cfid", "cftoken", "zenid", "oscsid":
		word = false
	case "s", "sid", "sessid", "session", "sessionid", "session_id":
	default:
		return false
	}
	for i := range len(value) {
		switch c := value[i]; {
		case c >= '0' && c <= '9':
			word = false
		case !isLetter(c):
			return false
		}
	}
	return len(value) >= 16 && !word
}

// budget is a rule with a budget that a URL counts against.
type budget struct {
	rule  string
	shape string // what the URLs that share the budget have in common
	limit int
}

// budgets are those that the URL counts against.
func (t *Traps) budgets(u weburl.URL) []budget {
	var list []budget
	if u.HasQuery() && (t.QueryVariants > 0 || t.Facets > 0 || t.Versions > 0) {
		names, n := parameterNames(u.Query())
		path := u.Origin() + u.Path()
		if t.QueryVariants > 0 {
			list = append(list, budget{"query-variants", path + "?" + names, max(t.QueryVariants>>min(n-1, 6), 10)})
		}
		if t.Facets > 0 && n > 1 {
			list = append(list, budget{ruleFacets, path, t.Facets})
		}
		if below, ok := belowTwo(u.Path()); ok && t.Versions > 0 && hasHash(u.Query()) {
			list = append(list, budget{"versions", u.Origin() + below + "?" + names, t.Versions})
		}
	}
	shape, digits := withoutDigits(u.String())
	if digits && t.Pattern > 0 {
		list = append(list, budget{"pattern", shape, t.Pattern})
	}
	if digits && t.Calendar > 0 && latest(u.Target(), 0, 9999, likely) > 0 {
		limit := t.Calendar
		if !hasDays(u.Target()) {
			limit = max(limit/8, 1)
		}
		list = append(list, budget{ruleCalendar, shape, limit})
	}
	return list
}

// Rules that take effect only once a shape shows what it is.
const (
	ruleFacets   = "facets"
	ruleCalendar = "calendar"

	manyCombinations = 32  // of parameter names on one path
	manyDates        = 500 // between firstYear and lastYear in one shape
)

// applies says whether a URL counts against a budget. A shop whose filters
// combine shows itself by the combinations of names on one path; a calendar,
// which may go back before all years, by many dates of our time.
func (f *Frontier) applies(b budget, u weburl.URL) bool {
	switch b.rule {
	case ruleFacets:
		names, _ := parameterNames(u.Query())
		combinations := f.fingerprint("combinations " + b.shape)
		if f.tally.add(f.fingerprint("combination "+b.shape+"?"+names)) == 1 {
			f.tally.add(combinations)
		}
		return f.tally.count(combinations) > manyCombinations
	case ruleCalendar:
		return latest(u.Target(), firstYear, lastYear, likely) > 0 || f.tally.count(f.fingerprint(b.rule+" "+b.shape)) >= manyDates
	}
	return true
}

// belowTwo is the first two segments of a path that has more.
func belowTwo(path string) (string, bool) {
	n := 0
	for i := 1; i < len(path)-1; i++ {
		if path[i] == '/' {
			if n++; n == 2 {
				return path[:i], true
			}
		}
	}
	return "", false
}

// hasHash says whether a parameter's value is a hash, as those that name a
// commit: a repository's browser shows every file as it was in every commit.
func hasHash(query string) bool {
	for p := range strings.SplitSeq(query, "&") {
		_, value, _ := strings.Cut(p, "=")
		if len(value) >= 32 && strings.Trim(value, "0123456789abcdef") == "" {
			return true
		}
	}
	return false
}

// hasDays says whether a target has more numbers than a year and a month:
// then its dates may be days, of which there are more.
func hasDays(target string) bool {
	runs, digits := 0, 0
	for i := range len(target) {
		if c := target[i]; c < '0' || c > '9' {
			continue
		}
		if digits++; i == 0 || target[i-1] < '0' || target[i-1] > '9' {
			runs++
		}
	}
	return runs > 2 || digits > 6
}

func parameterNames(query string) (names string, n int) {
	var list []string
	for p := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(p, "=")
		list = append(list, name)
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return strings.Join(list, "&"), len(list)
}

// withoutDigits makes every run of digits a 0.
func withoutDigits(s string) (shape string, digits bool) {
	i := strings.IndexFunc(s, func(r rune) bool { return r >= '0' && r <= '9' })
	if i < 0 {
		return s, false
	}
	b := make([]byte, 0, len(s))
	for j := 0; j < len(s); j++ {
		c := s[j]
		if c >= '0' && c <= '9' {
			if n := len(b); n > 0 && b[n-1] == '0' {
				continue
			}
			c = '0'
		}
		b = append(b, c)
	}
	return string(b), true
}

// tallyKept is the count from which on a shape is kept on disk: smaller ones
// begin anew after a restart, at no loss worth the room.
const tallyKept = 64

// isKept says whether a count is one of those that are written: some eight
// between a power of two and the next, so that a restart forgets an eighth of
// a count at most and most URLs cost no write.
func isKept(n int) bool {
	return n >= tallyKept && n%(1<<(bits.Len(uint(n))-4)) == 0
}

// spend counts a URL against its budgets; it names the one that is spent.
func (f *Frontier) spend(u weburl.URL) (reason string, ok bool) {
	for _, b := range f.traps.budgets(u) {
		if !f.applies(b, u) {
			continue
		}
		h := f.fingerprint(b.rule + " " + b.shape)
		n := f.tally.add(h)
		if isKept(n) {
			f.tallied[h] = n
		}
		if n > b.limit {
			return fmt.Sprintf("trap: %s: over %d alike", b.rule, b.limit), false
		}
	}
	return "", true
}

// SetTraps sets the rules that Add applies. It is called before the first Add.
func (f *Frontier) SetTraps(t Traps) { f.traps = t }

// trapped applies the rules that remember what came before.
func (f *Frontier) trapped(l *Link) (reason string, ok bool) {
	if l.Class <= Sitemap || l.Class == Disregarded {
		return "", true
	}
	if f.traps.Twins {
		if form, rule := twin(l.URL); form != "" {
			// A redirect may lead from the form itself to one of its twins.
			if l.Redirects == 0 && f.hard(f.fingerprint(form)) || !f.addTwin(l, form) {
				return "trap: " + rule + ": the same page under another name", false
			}
		}
	}
	return f.spend(l.URL)
}

// addTwin lets one twin of a form through: it is false for all others. The
// twins have a fingerprint of their own, since the form is fetched too where
// it is found: its twins may be denied, or missing, or lead to it.
func (f *Frontier) addTwin(l *Link, form string) bool {
	fp := f.twinsOf(form)
	added, _ := f.seen.add(fp, false)
	if added {
		l.twin = fp
	}
	return added
}

// stillSpent says whether a trap rule with a memory would hold the URL back
// again. A budget that was raised lets through as many as it was raised by.
func (f *Frontier) stillSpent(found *Found) bool {
	rule, isTrap := strings.CutPrefix(found.Reason, "trap: ")
	rule, text, _ := strings.Cut(rule, ": ")
	if !isTrap {
		return false
	}
	if rule == "session-id" || rule == "query-order" {
		return f.traps.Twins
	}
	var before int
	if _, err := fmt.Sscanf(text, "over %d alike", &before); err != nil {
		return rule == "same-body" && f.traps.SameBody > 0 || rule == "soft-404" && f.traps.SoftNotFound > 0
	}
	for _, b := range f.traps.budgets(found.URL) {
		if b.rule != rule {
			continue
		}
		if before+f.passed[b.shape] >= b.limit {
			return true
		}
		f.passed[b.shape]++
	}
	return false
}

func tallyValue(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }
