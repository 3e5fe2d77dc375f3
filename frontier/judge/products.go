package judge

// Products limits, over the whole site, the URLs that multiply versions by paths and views: each file
// in each commit, each in six views. Single views of commits and files are fetched before any of them.
const Products = "products"

// manyViews of one version make it one that multiplies.
const manyViews = 8

func products(l *Link, f *Facts) Budget {
	if l.Class == Requisite || f.Products <= 0 {
		return Budget{}
	}
	if f.Memory == nil { // judging a URL that was excluded before
		return Budget{Shape: l.URL.Origin(), Limit: f.Products}
	}
	shape, versions := withoutHashes(l.URL.Target())
	if len(versions) == 0 {
		return Budget{}
	}
	views, plainest := 0, true
	for _, v := range versions {
		version := l.URL.Origin() + " " + v
		views = max(views, f.Memory.Count("version "+version))
		plainest = f.Memory.Shortest("version "+version, len(shape)) && plainest
	}
	switch {
	case f.Memory.Count("view "+l.URL.Origin()+shape) == 1, plainest, views == 1:
		return Budget{} // the first of its kind, or the page of the version itself
	case views <= manyViews:
		return Budget{Late: true}
	}
	return Budget{Shape: l.URL.Origin(), Limit: f.Products, Late: true}
}
