package judge

// NoFollow excludes the links of a page that asks for it, in a meta element
// or in its head.
const NoFollow = "nofollow"

func noFollow(_ *Link, f *Facts) Verdict { return softly(NoFollow, f.Page.NoFollow) }

// RelNoFollow excludes a link that says rel=nofollow.
const RelNoFollow = "rel-nofollow"

func relNoFollow(_ *Link, f *Facts) Verdict { return softly(RelNoFollow, f.Page.RelNoFollow) }

// softly excludes a link for the page that it stands on.
func softly(rule string, holds bool) Verdict {
	if !holds {
		return Verdict{}
	}
	return Verdict{Reason: Reason{Rule: rule}, Soft: true}
}
