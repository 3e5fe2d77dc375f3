package judge

import "strings"

// RepeatedSegments excludes paths with a repeated run of segments, such as /a/a/a or /a/b/a/b/a/b.
// Relative links create them when a server ignores the rest of a path.
const RepeatedSegments = "repeated-segments"

func repeatedSegments(l *Link, f *Facts) Verdict {
	return excludesIf(f.Repeats > 0 && repeats(l.URL.Path(), f.Repeats), RepeatedSegments, Params{Limit: f.Repeats})
}

// repeats reports whether a run of segments occurs n times in a row.
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
