package storage

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// segmentName is how Curtsy names segments. Other files in the directory are
// somebody else's, and no other name is taken from crawl.db.
var segmentName = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{N}._-]{0,99}-(\d{14}-\d{5,9}(-r\d{1,9})?)\.warc\.gz$`)

// isSegment says whether a name is that of a segment of ours.
func isSegment(name string) bool { return len(name) < 200 && segmentName.MatchString(name) }

// segmentFile is the name of a segment within the archive's directory.
func segmentFile(name string) string { return warcDir + "/" + name }

// segmentNames lists the segments in the order in which they were written,
// whatever their prefix; a repaired one is in the place of the one that it was.
func (d *directory) segmentNames() ([]string, error) {
	entries, err := d.list(warcDir)
	var names []string
	for _, e := range entries {
		if isSegment(e.Name()) && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(strings.Compare(age(a), age(b)), strings.Compare(a, b))
	})
	return names, err
}

// age is the part of a segment's name that sorts by time.
func age(name string) string {
	m := segmentName.FindStringSubmatch(name)
	return m[1]
}

// stampFormat is how the time stands in a segment's name.
const stampFormat = "20060102150405"

// following is the time and the number in the name of the segment that follows
// the one of that age, n at least: names sort in the order in which segments are
// written, also where the clock was set back since.
func following(last string, now time.Time, n int) (stamp string, number int) {
	stamp = now.UTC().Format(stampFormat)
	if last == "" || stamp > last[:len(stamp)] {
		return stamp, n
	}
	digits, _, _ := strings.Cut(last[len(stamp)+1:], "-")
	before, _ := strconv.Atoi(digits)
	return last[:len(stamp)], max(n, before+1)
}

// stem is the name of a segment without the mark of a repair.
func stem(name string) string {
	m := segmentName.FindStringSubmatchIndex(name)
	if m == nil || m[4] < 0 {
		return name
	}
	return name[:m[4]] + name[m[5]:]
}

// repairedName is the name of a segment's successor: "-r1" before the
// ending, then "-r2" and so on.
func repairedName(name string) string {
	n := 1
	if m := segmentName.FindStringSubmatch(name); m != nil && m[2] != "" {
		n, _ = strconv.Atoi(m[2][len("-r"):]) // digits
		n++
	}
	return fmt.Sprintf("%s-r%d.warc.gz", strings.TrimSuffix(stem(name), ".warc.gz"), n)
}
