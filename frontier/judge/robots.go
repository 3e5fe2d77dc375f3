package judge

// Robots excludes what the robots.txt in force disallows (RFC 9309 §2.2.2).
const Robots = "robots.txt"

func robots(_ *Link, f *Facts) Verdict {
	d := f.Decision
	if d == nil || d.Allow {
		return Verdict{}
	}
	return excludes(Robots, Params{Line: d.Line, Text: d.Rule, Version: f.Version})
}
