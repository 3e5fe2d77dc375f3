package frontier

import "curtsy/frontier/judge"

// Audit reads every entry, calls visit for each, and returns the totals that Counts should report,
// except those by reason. It must not run during a crawl.
func (f *Frontier) Audit(visit func(Found)) (c Counts, err error) {
	// All that a restart reads must be readable too.
	if err := f.view(newFrontier(f.view, [16]byte{}).load); err != nil {
		return c, err
	}
	for class := Prerequisite; class < judge.NumClasses && err == nil; class++ {
		err = f.Each(class, func(found Found) error {
			c.Discovered++
			c.add(found.State, found.Reason, 1)
			visit(found)
			return nil
		})
	}
	n := f.Counts().Reasons[overruled] // overruled entries were counted above, too
	c.Discovered -= n
	c.Disregarded -= n
	return c, err
}
