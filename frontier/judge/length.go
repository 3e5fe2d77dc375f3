package judge

// Length excludes URLs that are longer than those of real pages.
const Length = "length"

func length(l *Link, f *Facts) Verdict {
	return excludesIf(f.Length > 0 && len(l.URL.String()) > f.Length, Length, Params{Limit: f.Length})
}
