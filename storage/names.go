package storage

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// segmentName is how Curtsy names segments. Other files in the directory are
// somebody else's.
var segmentName = regexp.MustCompile(`-(\d{14}-\d{5}(-r\d+)?)\.warc\.gz$`)

// segmentNames lists the segments in the order in which they were written,
// whatever their prefix; a repaired one is in the place of the one that it was.
func segmentNames(dir string) []string {
	paths, _ := segmentFiles(dir) // those that cannot be had are missed when they are opened
	var names []string
	for _, p := range paths {
		if name := filepath.Base(p); segmentName.MatchString(name) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return strings.Compare(segmentName.FindString(a), segmentName.FindString(b))
	})
	return names
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
