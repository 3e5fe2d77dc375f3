package judge

// Redirects excludes the target of a redirect at the end of a long chain. A link may lead there later.
const Redirects = "redirects"

// MaxRedirects is how many redirects in a row are followed.
const MaxRedirects = 20

func redirects(l *Link, _ *Facts) Verdict {
	return excludesIf(l.Redirects > MaxRedirects, Redirects, Params{Limit: MaxRedirects}).softIf(true)
}
