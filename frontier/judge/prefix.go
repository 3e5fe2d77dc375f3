package judge

import (
	"strings"

	"curtsy/internal/weburl"
)

// Prefix excludes pages outside the seed's directory.
const Prefix = "prefix"

func prefix(l *Link, f *Facts) Verdict {
	above := f.Prefix != "" && l.Class == Page && !l.IsSeed() && !strings.HasPrefix(f.prefixed(l.URL), f.Prefix)
	return excludesIf(above, Prefix, Params{Text: f.Prefix}).softIf(isRobots(l))
}

// prefixed returns the URL for comparison with Prefix: under the site's first origin if it is at any of
// the site's names.
func (s *Scope) prefixed(u weburl.URL) string {
	if s.Main(u) {
		return s.Origins[0] + u.Target()
	}
	return u.String()
}
