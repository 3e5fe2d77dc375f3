package frontier

import (
	"go.etcd.io/bbolt"

	"curtsy/frontier/judge"
)

var overruled = judge.Reason{Rule: judge.Overruled}

// DropOverruled makes the next Flush drop the entries that were excluded softly until another link led to
// their URL, so that each URL has one entry and counts once. It reads all fingerprints, so it is called
// at the end of a run.
func (f *Frontier) DropOverruled() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dropping = true
}

func (f *Frontier) putOverruled(top *bbolt.Bucket) error {
	if !f.dropping {
		return nil
	}
	for _, id := range f.overruledIn(top) {
		found, ok := f.get(top, id)
		if !ok || found.past || found.State != StateDisregarded || f.counts.Reasons[overruled] == 0 {
			continue
		}
		if err := f.putPast(top, found); err != nil {
			return err
		}
		f.counts.because(found.Reason, -1)
		f.counts.because(overruled, -1)
	}
	f.dropping = false
	return nil
}

// putPast marks an entry as replaced by another.
func (f *Frontier) putPast(top *bbolt.Bucket, found Found) error {
	v := finishedValue(StateQueued, f.reasons.number(found.Reason))
	return top.Bucket(bucketFinished).Put(idKey(found.ID), v)
}

// overruledIn lists entries that may be overruled: those whose stored fingerprint is soft while the one in
// memory is not, and disregarded guesses with a second entry.
func (f *Frontier) overruledIn(top *bbolt.Bucket) (ids []uint64) {
	if f.counts.Reasons[overruled] == 0 {
		return nil
	}
	given := map[uint64]uint64{} // ids of disregarded guesses, by fingerprint
	finished, hosts := top.Bucket(bucketFinished), len(f.hosts.list)
	for fp, id := range fingerprintsFrom(top, hosts, 0) {
		if fp&softBit != 0 && f.hard(fp&^flagBits) {
			ids = append(ids, id)
		} else if v := finished.Get(idKey(id)); fp&guessBit != 0 && len(v) > 0 && State(v[0]) == StateDisregarded {
			given[fp&^flagBits] = id
		}
	}
	for fp, id := range fingerprintsFrom(top, hosts, 0) {
		if guess, ok := given[fp&^flagBits]; ok && guess != id {
			ids = append(ids, guess)
		}
	}
	return ids
}
