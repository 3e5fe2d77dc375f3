package judge

// CleanParam replaces a URL by the one to which a Clean-param line of robots.txt reduces it.
const CleanParam = "clean-param"

func cleanParam(l *Link, f *Facts) Verdict {
	if f.Rules == nil || !l.URL.HasQuery() {
		return Verdict{}
	}
	folded, by := f.Rules.Fold(l.URL)
	if by == nil {
		return Verdict{}
	}
	v := excludes(CleanParam, Params{Line: by.Line, Text: by.Text})
	v.Instead = folded
	return v
}
