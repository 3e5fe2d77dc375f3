package judge

import (
	"path"
	"slices"
	"strings"
)

// SkipType excludes responses of the types in the setting, judged by Content-Type; their body is not
// read.
const SkipType = "skip-type"

func skipType(_ *Link, f *Facts) Verdict {
	kind, _, _ := strings.Cut(f.Answer.Type, ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	for _, pattern := range f.SkipTypes {
		if ok, _ := path.Match(strings.ToLower(pattern), kind); ok {
			return excludes(SkipType, Params{Text: kind})
		}
	}
	return Verdict{}
}

func skipsType(r Reason, s *Settings) bool {
	f := &Facts{Settings: s, Answer: Answer{Type: r.Text}}
	return skipType(nil, f).Excludes()
}

// CheckTypes returns the first invalid pattern; "" if all are valid.
func CheckTypes(patterns []string) (bad string) {
	i := slices.IndexFunc(patterns, func(p string) bool {
		_, err := path.Match(p, "")
		return err != nil || strings.Count(p, "/") != 1
	})
	if i < 0 {
		return ""
	}
	return patterns[i]
}
