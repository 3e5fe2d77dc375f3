package judge

// NoFollow excludes the links of a page that asks for it in a meta element or a header field.
const NoFollow = "nofollow"

func noFollow(_ *Link, f *Facts) Verdict {
	return excludesIf(f.Page.NoFollow, NoFollow, Params{}).softIf(true)
}

// RelNoFollow excludes a link with rel=nofollow.
const RelNoFollow = "rel-nofollow"

func relNoFollow(_ *Link, f *Facts) Verdict {
	return excludesIf(f.Page.RelNoFollow, RelNoFollow, Params{}).softIf(true)
}
