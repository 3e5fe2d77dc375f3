package storage

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// isSegment reports whether a name is that of one of our segments. Other files in the directory are not
// ours, and other names in crawl.db are not accepted.
func isSegment(name string) bool {
	_, _, ok := segmentParts(name)
	return ok
}

// segmentParts splits PREFIX-TIME-NUMBER.warc.gz; the number may be followed by the mark of a repair, "-r1".
// age begins with the time and has no ending. It is called for each visit that is read, so it must be
// fast.
func segmentParts(name string) (age, repair string, ok bool) {
	stem, ok := strings.CutSuffix(name, ".warc.gz")
	prefix, number := cutLast(stem)
	if n, is := strings.CutPrefix(number, "r"); is {
		repair = "-r" + n
		ok = ok && areDigits(n, 1, 9)
		prefix, number = cutLast(prefix)
	}
	prefix, stamp := cutLast(prefix)
	if !ok || prefix == "" || utf8.RuneCountInString(prefix) > 100 || len(name) >= 200 ||
		!areDigits(number, 5, 9) || !areDigits(stamp, len(stampFormat), len(stampFormat)) {
		return "", "", false
	}
	for i, r := range prefix {
		if !unicode.In(r, unicode.L, unicode.N) && (i == 0 || !strings.ContainsRune("._-", r)) {
			return "", "", false
		}
	}
	return stem[len(prefix)+1:], repair, true
}

func cutLast(s string) (before, after string) {
	i := strings.LastIndexByte(s, '-')
	return s[:max(i, 0)], s[i+1:]
}

func areDigits(s string, least, most int) bool {
	return len(s) >= least && len(s) <= most && strings.Trim(s, "0123456789") == ""
}

// segmentFile returns the name of a segment within the archive's directory.
func segmentFile(name string) string { return warcDir + "/" + name }

// segmentNames lists the segments in the order in which they were written, whatever their prefix; a repaired
// one is at the place of the original.
func (d *directory) segmentNames() ([]string, error) {
	entries, err := d.list(warcDir)
	var names []string
	for _, e := range entries {
		if isSegment(e.Name()) && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, byAgeOfSegment)
	return names, err
}

func byAgeOfSegment(a, b string) int {
	return cmp.Or(strings.Compare(age(a), age(b)), strings.Compare(a, b))
}

// age returns the part of a segment's name that sorts by time.
func age(name string) string {
	age, _, _ := segmentParts(name)
	return age
}

// stampFormat is the time format in segment names.
const stampFormat = "20060102150405"

// following returns time and number for the segment after the one with age last; number is at least n. Names
// must sort in the order of writing, even if the clock was set back.
func following(last string, now time.Time, n int) (stamp string, number int) {
	stamp = now.UTC().Format(stampFormat)
	if last == "" || stamp > last[:len(stamp)] {
		return stamp, n
	}
	digits, _, _ := strings.Cut(last[len(stamp)+1:], "-")
	before, _ := strconv.Atoi(digits)
	return last[:len(stamp)], max(n, before+1)
}

// stem returns the name of a segment without the mark of a repair.
func stem(name string) string {
	_, repair, ok := segmentParts(name)
	if !ok || repair == "" {
		return name
	}
	return strings.TrimSuffix(name, repair+".warc.gz") + ".warc.gz"
}

// repairedName returns the name for a repaired segment: with "-r1" before the ending, then "-r2" and so on.
func repairedName(name string) string {
	n := 1
	if _, repair, ok := segmentParts(name); ok && repair != "" {
		n, _ = strconv.Atoi(repair[len("-r"):]) // only digits
		n++
	}
	return fmt.Sprintf("%s-r%d.warc.gz", strings.TrimSuffix(stem(name), ".warc.gz"), n)
}
