package frontier

import "curtsy/frontier/judge"

// Audit reads every URL and tells visit of each; the totals it returns, but
// for reasons, are what Counts should say. It is for an archive that is not
// being crawled.
func (f *Frontier) Audit(visit func(Found)) (c Counts, err error) {
	// What a restart reads must read back, too.
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
	n := f.Counts().Reasons[overruled] // they have an entry that counts, too
	c.Discovered -= n
	c.Disregarded -= n
	return c, err
}
