package judge

// Length excludes URLs of more octets than any page has.
const Length = "length"

func length(l *Link, f *Facts) Verdict {
	if f.Length <= 0 || len(l.URL.String()) <= f.Length {
		return Verdict{}
	}
	return excludes(Length, Params{Limit: f.Length})
}
