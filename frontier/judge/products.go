package judge

// Products bounds, over the whole site, the URLs that multiply versions by
// paths and by views: each file as it was in each commit, each in six ways.
// What is shown once, a commit or a file, is fetched before any of them.
const Products = "products"

const (
	// fewViews of one kind are fetched as they come: they may be all.
	fewViews = 10
	// manyViews of one version make it one that multiplies.
	manyViews = 8
)

func products(l *Link, f *Facts) Budget {
	if l.Class == Requisite || f.Products <= 0 {
		return Budget{}
	}
	if f.Memory == nil { // of one that was held back before
		return Budget{Shape: l.URL.Origin(), Limit: f.Products}
	}
	shape, versions := withoutHashes(l.URL.Target())
	if len(versions) == 0 {
		return Budget{}
	}
	views := 0
	for _, v := range versions {
		views = max(views, f.Memory.Count("version "+l.URL.Origin()+" "+v))
	}
	switch {
	case f.Memory.Count("view "+l.URL.Origin()+shape) <= fewViews && views <= manyViews || views == 1:
		return Budget{}
	case views <= manyViews:
		return Budget{Late: true}
	}
	return Budget{Shape: l.URL.Origin(), Limit: f.Products, Late: true}
}
