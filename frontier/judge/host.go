package judge

import "strings"

// Host excludes what is not of the site: another scheme, host or port.
const Host = "host"

func host(l *Link, f *Facts) Verdict {
	in := f.Holds(l.URL) || l.How == HowName || f.AnyRequisites && l.Class == Requisite && !isDocument(l.How)
	return excludesIf(!in, Host, Params{}).softIf(isRobots(l)) // it may be needed, for requisites from there
}

// isDocument says whether a requisite is, by the place it was found in, a
// document of its own. Those of other hosts are like links there: what a page
// is drawn with may come from elsewhere, other pages may not.
func isDocument(how How) bool {
	tag, _, _ := strings.Cut(string(how), " ")
	switch tag {
	case "iframe", "frame", "object", "embed", "applet", "param":
		return true
	}
	return false
}
