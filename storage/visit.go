package storage

import (
	"bytes"
	"iter"
	"math"
	"slices"

	"go.etcd.io/bbolt"

	"curtsy/internal/sum"
	"curtsy/internal/weburl"
	"curtsy/storage/crawllog"
)

// putVisit stores a visit with its checksum.
func putVisit(visits *bbolt.Bucket, v *crawllog.Visit) error {
	b, err := crawllog.Pack(v)
	if err != nil {
		return err
	}
	key := v.Ref().Key()
	return visits.Put(key, sum.Seal(key, b))
}

func readVisit(key, sealed []byte) (*crawllog.Visit, error) {
	v := new(crawllog.Visit)
	b, ok := sum.Open(key, sealed)
	if ok && len(key) == crawllog.RefSize && crawllog.Unpack(b, v) == nil && v.Ref() == crawllog.RefOf(key) &&
		plausible(v.Record) {
		return v, nil
	}
	return nil, &DamageError{File: dbName, What: "a visit cannot be decoded"}
}

// plausible reports whether a record's location is possible: crawl.db may come from an untrusted source, and
// what it refers to is opened.
func plausible(r *crawllog.Record) bool {
	return r == nil || isSegment(r.Segment) && r.Offset >= 0 && r.Length > 0 && r.Offset <= maxSegment-r.Length
}

// maxSegment bounds the size of a segment, in octets.
const maxSegment = 1 << 48

func getVisit(tx *bbolt.Tx, r crawllog.Ref) (*crawllog.Visit, error) {
	key := r.Key()
	b := tx.Bucket(bucketVisits).Get(key)
	if b == nil {
		return nil, nil
	}
	return readVisit(key, b)
}

// byAge sorts the visits of a URL by time: an import may have added older visits later.
func byAge(visits []*crawllog.Visit) []*crawllog.Visit {
	older := func(a, b *crawllog.Visit) int { return a.At.Compare(b.At) }
	if !slices.IsSortedFunc(visits, older) {
		slices.SortStableFunc(visits, older)
	}
	return visits
}

// VisitsOf returns the visits of one URL, oldest first: all of them or, if a number is given, at most so
// many of the latest.
func (a *Archive) VisitsOf(urlID uint64, last ...int) (visits []*crawllog.Visit, err error) {
	most := append(last, math.MaxInt)[0]
	err = a.view(func(tx *bbolt.Tx) error {
		imported := tx.Bucket(bucketImports) != nil // the latest visits may have any number
		c := tx.Bucket(bucketVisits).Cursor()
		for k, b := before(c, crawllog.Ref{URLID: urlID + 1}.Key()); isOf(k, urlID) &&
			(imported || len(visits) < most); k, b = c.Prev() {
			v, err := readVisit(k, b)
			if err != nil {
				return err
			}
			visits = append(visits, v)
		}
		return nil
	})
	slices.Reverse(visits)
	visits = byAge(visits)
	return visits[max(0, len(visits)-most):], err
}

// isOf reports whether a key is that of a visit of a URL.
func isOf(k []byte, urlID uint64) bool {
	return len(k) == crawllog.RefSize && crawllog.RefOf(k).URLID == urlID
}

// VisitsAt returns the visits of a URL, oldest first; none if it cannot be looked up.
func (a *Archive) VisitsAt(url string) []*crawllog.Visit {
	u := weburl.FromCanonical(url)
	f, err := a.Frontier()
	if err != nil || u.IsZero() {
		return nil
	}
	found, err := f.Find(u)
	if err != nil || len(found) == 0 {
		return nil
	}
	visits, _ := a.VisitsOf(found[len(found)-1].ID)
	return visits
}

// LastN returns the highest number of a visit of a URL, even if its entry cannot be decoded; 0 for none.
func (a *Archive) LastN(urlID uint64) (n int) {
	_ = a.view(func(tx *bbolt.Tx) error {
		k, _ := before(tx.Bucket(bucketVisits).Cursor(), crawllog.Ref{URLID: urlID + 1}.Key())
		if isOf(k, urlID) {
			n = crawllog.RefOf(k).N
		}
		return nil
	})
	return n
}

// eachVisit calls visit for every visit, in one transaction, with an error for those that cannot be decoded.
func (a *Archive) eachVisit(visit func(crawllog.Ref, *crawllog.Visit, error) error) (err error) {
	defer Guard(&err)()
	return a.view(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketVisits).ForEach(func(k, b []byte) error {
			if len(k) != crawllog.RefSize {
				return &DamageError{File: dbName, What: "the key of a visit cannot be decoded"}
			}
			v, err := readVisit(k, b)
			return visit(crawllog.RefOf(k), v, err)
		})
	})
}

// Visit returns one visit; nil if there is none.
func (a *Archive) Visit(r crawllog.Ref) (v *crawllog.Visit, err error) {
	err = a.view(func(tx *bbolt.Tx) (err error) {
		v, err = getVisit(tx, r)
		return err
	})
	return v, err
}

// historyBatch is how many visits are read per transaction, so that none stays open while the caller works.
const historyBatch = 512

// Visits iterates over the wanted visits, by URL in order of discovery and then by number; unwanted ones are
// not decoded. A nil wanted selects all. An error ends the iteration.
func (a *Archive) Visits(wanted func(crawllog.Ref) bool) iter.Seq2[*crawllog.Visit, error] {
	return func(yield func(*crawllog.Visit, error) bool) {
		for from := []byte{}; from != nil; {
			batch, next, err := a.batch(from, wanted)
			for _, v := range batch {
				if !yield(v, nil) {
					return
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
			from = next
		}
	}
}

// batch reads visits from a key on; next is the key to continue from, nil at the end.
func (a *Archive) batch(from []byte, wanted func(crawllog.Ref) bool) (visits []*crawllog.Visit,
	next []byte, err error) {
	defer Guard(&err)()
	err = a.view(func(tx *bbolt.Tx) error {
		c := tx.Bucket(bucketVisits).Cursor()
		for k, b := c.Seek(from); k != nil; k, b = c.Next() {
			if len(visits) == historyBatch {
				next = bytes.Clone(k)
				return nil
			}
			if len(k) == crawllog.RefSize && wanted != nil && !wanted(crawllog.RefOf(k)) {
				continue
			}
			v, err := readVisit(k, b)
			if err != nil {
				return err
			}
			visits = append(visits, v)
		}
		return nil
	})
	return visits, next, err
}

// Histories iterates over the visits of each URL, oldest first, by URL in order of discovery. An error ends
// the iteration.
func (a *Archive) Histories() iter.Seq2[[]*crawllog.Visit, error] {
	return func(yield func([]*crawllog.Visit, error) bool) {
		var open []*crawllog.Visit // visits of the present URL
		for v, err := range a.Visits(nil) {
			if err != nil {
				yield(nil, err)
				return
			}
			if len(open) > 0 && open[0].URLID != v.URLID {
				if !yield(byAge(open), nil) {
					return
				}
				open = nil
			}
			open = append(open, v)
		}
		if len(open) > 0 {
			yield(byAge(open), nil)
		}
	}
}
