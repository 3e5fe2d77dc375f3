package judge

import (
	"regexp"
	"slices"

	"curtsy/politeness/rules"
)

// Exclude excludes URLs that match one of the exclude patterns.
const Exclude = "exclude"

func exclude(l *Link, f *Facts) Verdict {
	href := l.URL.String()
	for _, re := range f.Exclude {
		if re.MatchString(href) {
			return excludes(Exclude, Params{Text: re.String()}).softIf(isRobots(l))
		}
	}
	return Verdict{}
}

// Include excludes pages, except the seed, that match none of the include patterns.
const Include = "include"

func include(l *Link, f *Facts) Verdict {
	if l.Class != Page || l.Depth == 0 || len(f.Include) == 0 {
		return Verdict{}
	}
	href := l.URL.String()
	in := slices.ContainsFunc(f.Include, func(re *regexp.Regexp) bool { return re.MatchString(href) })
	return excludesIf(!in, Include, Params{}).softIf(isRobots(l))
}

func isRobots(l *Link) bool { return l.URL.Target() == rules.Location }
