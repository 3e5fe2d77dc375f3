package judge

import "strings"

// PathDepth excludes paths of more segments than any page has.
const PathDepth = "path-depth"

func pathDepth(l *Link, f *Facts) Verdict {
	deep := f.PathDepth > 0 && strings.Count(l.URL.Path(), "/") > f.PathDepth
	return excludesIf(deep, PathDepth, Params{Limit: f.PathDepth})
}
