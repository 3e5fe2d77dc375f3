package judge

// SoftNotFound excludes the links of a page that looks like the site's response, with status 200, to
// missing URLs.
const SoftNotFound = "soft-404"

func softNotFound(_ *Link, f *Facts) Verdict {
	return excludesIf(f.Page.SoftNotFound, SoftNotFound, Params{}).softIf(true)
}

func softNotFoundOn(_ Reason, s *Settings) bool { return s.SoftNotFound > 0 }
