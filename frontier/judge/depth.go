package judge

// Depth excludes pages that are more links from the seed than the settings allow. A shorter path may be
// found later.
const Depth = "depth"

func depth(l *Link, f *Facts) Verdict {
	deep := f.MaxDepth > 0 && l.Class == Page && l.Depth > f.MaxDepth
	return excludesIf(deep, Depth, Params{Limit: f.MaxDepth}).softIf(true)
}
