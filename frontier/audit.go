package frontier

import "go.etcd.io/bbolt"

// Audit reads every URL and tells visit of each; the totals it returns are
// what Counts should say of fetched and failed ones. It is for an archive that
// is not being crawled.
func (f *Frontier) Audit(visit func(Found)) (c Counts, err error) {
	for class := Prerequisite; class < numClasses && err == nil; class++ {
		err = f.Each(class, func(found Found) error {
			c.Discovered++
			if found.State == StateFetched || found.State == StateFailed {
				c.add(found.State, found.Reason, 1)
			}
			visit(found)
			return nil
		})
	}
	return c, err
}

// Recount makes the totals of fetched and failed URLs those of Audit.
func (f *Frontier) Recount(tx *bbolt.Tx, c Counts) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts.Fetched, f.counts.Failed = c.Fetched, c.Failed
	return f.putCounts(tx.Bucket(bucketTop))
}
