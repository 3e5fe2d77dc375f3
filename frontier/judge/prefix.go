package judge

import "strings"

// Prefix excludes pages that are not below the seed's directory.
const Prefix = "prefix"

func prefix(l *Link, f *Facts) Verdict {
	if f.Prefix == "" || l.Class != Page || l.IsSeed() || strings.HasPrefix(l.URL.String(), f.Prefix) {
		return Verdict{}
	}
	v := excludes(Prefix, Params{Text: f.Prefix})
	v.Soft = isRobots(l)
	return v
}
