package judge

// Redirects excludes the target of a redirect at the end of a long chain. A
// link may lead there later.
const Redirects = "redirects"

// MaxRedirects is how many redirects are followed one after another.
const MaxRedirects = 20

func redirects(l *Link, _ *Facts) Verdict {
	if l.Redirects <= MaxRedirects {
		return Verdict{}
	}
	v := excludes(Redirects, Params{Limit: MaxRedirects})
	v.Soft = true
	return v
}
