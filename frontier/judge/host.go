package judge

import "strings"

// Host excludes URLs outside the site: another scheme, host or port.
const Host = "host"

func host(l *Link, f *Facts) Verdict {
	in := f.Holds(l.URL) || l.How == HowName || f.AnyRequisites && l.Class == Requisite && !isDocument(l.How)
	return excludesIf(!in, Host, Params{}).softIf(isRobots(l)) // robots.txt may be needed for requisites from there
}

// isDocument reports whether a requisite is a document of its own, judged by the element. On other hosts
// these are treated as links: requisites for displaying a page may come from elsewhere, documents may
// not.
func isDocument(how How) bool {
	tag, _, _ := strings.Cut(string(how), " ")
	switch tag {
	case "iframe", "frame", "object", "embed", "applet", "param":
		return true
	}
	return false
}
