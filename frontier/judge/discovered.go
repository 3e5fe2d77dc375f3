package judge

// Discovered bounds the URLs of a crawl. Those beyond it are not remembered,
// since that is what costs memory and disk.
const Discovered = "discovered"

func discovered(_ *Link, f *Facts) Verdict {
	full := f.Discovered > 0 && f.Memory != nil && f.Memory.Discovered() >= f.Discovered
	return excludesIf(full, Discovered, Params{Limit: f.Discovered})
}
