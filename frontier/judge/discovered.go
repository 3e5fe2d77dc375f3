package judge

// Discovered limits the URLs of a crawl. Further URLs are not recorded, since recording is what costs
// memory and disk.
const Discovered = "discovered"

func discovered(_ *Link, f *Facts) Verdict {
	full := f.Discovered > 0 && f.Memory != nil && f.Memory.Discovered() >= f.Discovered
	return excludesIf(full, Discovered, Params{Limit: f.Discovered})
}
