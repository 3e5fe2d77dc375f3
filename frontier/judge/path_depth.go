package judge

import "strings"

// PathDepth excludes paths with more segments than those of real pages.
const PathDepth = "path-depth"

func pathDepth(l *Link, f *Facts) Verdict {
	deep := f.PathDepth > 0 && strings.Count(l.URL.Path(), "/") > f.PathDepth
	return excludesIf(deep, PathDepth, Params{Limit: f.PathDepth})
}
