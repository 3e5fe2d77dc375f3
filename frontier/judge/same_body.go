package judge

// SameBody excludes the links of a page whose body too many pages had before: a soft 404, or a tree that
// contains itself.
const SameBody = "same-body"

func sameBody(_ *Link, f *Facts) Verdict {
	return excludesIf(f.Page.SameBody, SameBody, Params{Limit: f.SameBody}).softIf(true)
}

func sameBodyOn(_ Reason, s *Settings) bool { return s.SameBody > 0 }
