package storage

import (
	"encoding/binary"
	"iter"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"curtsy/internal/sum"
)

// How much of a response is kept.
const (
	KeptResponse = "response" // all of it, in a response record
	KeptRevisit  = "revisit"  // its head; the payload is that of an earlier response
	KeptWithheld = "withheld" // nothing of the body: a directive asked for it
)

// Visit is one attempt to fetch a URL and what came of it.
type Visit struct {
	URLID  uint64        `json:"url_id"`
	N      int           `json:"n"` // which visit of this URL, from 1
	URL    string        `json:"url"`
	Class  string        `json:"class"`
	At     time.Time     `json:"at"`
	Waited time.Duration `json:"waited,omitempty"` // ns between being next and being fetched
	Delay  string        `json:"delay,omitempty"`  // the delay in force and its source
	Took   time.Duration `json:"took,omitempty"`   // ns from connecting to the last octet

	Status   int    `json:"status,omitempty"`
	Error    string `json:"error,omitempty"`    // why there is no response
	Location string `json:"location,omitempty"` // where a redirect leads, absolute

	ContentType  string `json:"content_type,omitempty"`
	Charset      string `json:"charset,omitempty"`
	Title        string `json:"title,omitempty"`
	Lang         string `json:"lang,omitempty"`
	Canonical    string `json:"canonical,omitempty"`
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	MaxAge       int    `json:"max_age,omitempty"`   // seconds that Cache-Control lets an answer be used
	Links        int    `json:"links,omitempty"`     // found in the document
	Length       int64  `json:"length"`              // octets of the payload as it was sent
	Digest       string `json:"digest,omitempty"`    // of the payload, "sha256:" and its digits: by it two payloads are the same
	Truncated    string `json:"truncated,omitempty"` // as WARC-Truncated
	Blocked      string `json:"blocked,omitempty"`   // what stands in the page's place: a challenge, a refusal of crawlers

	// Suspect is why an answer is not taken for the page although its status is
	// good: it hides no earlier copy.
	Suspect string `json:"suspect,omitempty"`

	// Bare says that a page shows next to nothing without its scripts.
	Bare     bool      `json:"bare,omitempty"`
	Rendered *Rendered `json:"rendered,omitempty"` // what its scripts made of it

	Directives *Directives `json:"directives,omitempty"`
	Robots     *Decision   `json:"robots,omitempty"` // the line that allowed it

	Kept   string  `json:"kept,omitempty"`
	Record *Record `json:"record,omitempty"` // the response, revisit or metadata record
	Refers *Ref    `json:"refers,omitempty"` // for a revisit: who holds the payload
}

// Directives are what the document or its header asked for.
type Directives struct {
	NoIndex          bool       `json:"noindex,omitempty"`
	NoFollow         bool       `json:"nofollow,omitempty"`
	NoArchive        bool       `json:"noarchive,omitempty"`
	NoImageIndex     bool       `json:"noimageindex,omitempty"`
	NoTranslate      bool       `json:"notranslate,omitempty"`
	MaxSnippet       *int       `json:"max_snippet,omitempty"` // 0: no snippet; absent: no limit
	UnavailableAfter *time.Time `json:"unavailable_after,omitempty"`
	Sources          []Source   `json:"sources,omitempty"`
}

// Source says where a directive stands.
type Source struct {
	Directive string `json:"directive"`
	From      string `json:"from"` // "X-Robots-Tag" or "meta"
	Text      string `json:"text"` // as written
}

// Decision is a verdict of a robots.txt and the line behind it.
type Decision struct {
	Allow   bool      `json:"allow"`
	Line    int       `json:"line,omitempty"` // 0: no rule
	Rule    string    `json:"rule,omitempty"`
	Group   string    `json:"group,omitempty"`
	Differs string    `json:"differs,omitempty"` // how two readings of a rule differ
	Version string    `json:"version,omitempty"` // short digest of the robots.txt
	Fetched time.Time `json:"fetched"`
}

// Record is where a record lies.
type Record struct {
	Segment string `json:"segment"`
	Offset  int64  `json:"offset"`
	Length  int64  `json:"length"` // of all records of the visit, from Offset on
	ID      string `json:"id"`
}

// Ref names a visit.
type Ref struct {
	URLID uint64 `json:"url_id"`
	N     int    `json:"n"`
}

// refSize is the size of a Ref's key.
const refSize = 8 + 4

func (r Ref) key() []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, refSize), r.URLID)
	return binary.BigEndian.AppendUint32(b, uint32(r.N))
}

func refOf(key []byte) Ref {
	return Ref{binary.BigEndian.Uint64(key), int(binary.BigEndian.Uint32(key[8:]))}
}

// Ref is the name of the visit.
func (v *Visit) Ref() Ref { return Ref{v.URLID, v.N} }

// HasBody says whether a body can be read: the visit's own, or that which it
// refers to.
func (v *Visit) HasBody() bool { return v.Kept == KeptResponse || v.Kept == KeptRevisit }

// putVisit writes a visit with its sum.
func putVisit(visits *bbolt.Bucket, v *Visit) error {
	b, err := pack(v)
	if err != nil {
		return err
	}
	key := v.Ref().key()
	return visits.Put(key, sum.Seal(key, b))
}

func readVisit(key, sealed []byte) (*Visit, error) {
	v := new(Visit)
	b, ok := sum.Open(key, sealed)
	if ok && len(key) == refSize && unpack(b, v) == nil && v.Ref() == refOf(key) && v.Record.plausible() {
		return v, nil
	}
	return nil, &DamageError{File: dbName, What: "a visit cannot be decoded"}
}

// plausible says whether a record can be where it says: a crawl.db may come from
// anybody, and what it names is opened.
func (r *Record) plausible() bool {
	return r == nil || isSegment(r.Segment) && r.Offset >= 0 && r.Length > 0 && r.Offset <= maxSegment-r.Length
}

// maxSegment is more octets than any segment has.
const maxSegment = 1 << 48

func getVisit(tx *bbolt.Tx, r Ref) (*Visit, error) {
	key := r.key()
	b := tx.Bucket(bucketVisits).Get(key)
	if b == nil {
		return nil, nil
	}
	return readVisit(key, b)
}

// LastVisits are the last n visits of a URL, the oldest of them first.
func (a *Archive) LastVisits(urlID uint64, n int) (visits []*Visit, err error) {
	err = a.view(func(tx *bbolt.Tx) error {
		c := tx.Bucket(bucketVisits).Cursor()
		last := c.Last
		if next, _ := c.Seek(Ref{urlID + 1, 0}.key()); next != nil {
			last = c.Prev
		}
		for k, b := last(); len(k) == refSize && refOf(k).URLID == urlID && len(visits) < n; k, b = c.Prev() {
			v, err := readVisit(k, b)
			if err != nil {
				return err
			}
			visits = append(visits, v)
		}
		return nil
	})
	slices.Reverse(visits)
	return visits, err
}

// VisitsOf are the visits of one URL, the oldest first.
func (a *Archive) VisitsOf(urlID uint64) ([]*Visit, error) {
	prefix := binary.BigEndian.AppendUint64(nil, urlID)
	return a.visitsFrom(prefix, func(k []byte, _ int) bool { return len(k) == refSize && string(k[:8]) == string(prefix) })
}

// LastN is the number of the last visit of a URL, whether its entry reads back
// or not; 0 for none.
func (a *Archive) LastN(urlID uint64) (n int) {
	_ = a.view(func(tx *bbolt.Tx) error {
		c := tx.Bucket(bucketVisits).Cursor()
		for k, _ := c.Seek(Ref{urlID, 0}.key()); len(k) == refSize && refOf(k).URLID == urlID; k, _ = c.Next() {
			n = refOf(k).N
		}
		return nil
	})
	return n
}

// VisitsAfter are the next n visits behind that of the given name, in the
// order of EachVisit; of the zero Ref, the first.
func (a *Archive) VisitsAfter(r Ref, n int) ([]*Visit, error) {
	r.N++
	return a.visitsFrom(r.key(), func(_ []byte, had int) bool { return had < n })
}

// visitsFrom are the visits from a key on, as long as there are to be more.
func (a *Archive) visitsFrom(key []byte, more func(k []byte, had int) bool) (visits []*Visit, err error) {
	err = a.view(func(tx *bbolt.Tx) error {
		c := tx.Bucket(bucketVisits).Cursor()
		for k, b := c.Seek(key); k != nil && more(k, len(visits)); k, b = c.Next() {
			v, err := readVisit(k, b)
			if err != nil {
				return err
			}
			visits = append(visits, v)
		}
		return nil
	})
	return visits, err
}

// EachVisit calls visit for every visit, by URL in the order of discovery
// and by age, but for some; those of one URL follow each other.
func (a *Archive) EachVisit(visit func(*Visit) error, but ...Ref) error {
	left := map[Ref]bool{}
	for _, ref := range but {
		left[ref] = true
	}
	return a.eachVisit(func(ref Ref, v *Visit, err error) error {
		if left[ref] {
			return nil
		}
		if err != nil {
			return err
		}
		return visit(v)
	})
}

// eachVisit calls visit for every visit, with the error of those that do not
// read back.
func (a *Archive) eachVisit(visit func(Ref, *Visit, error) error) error {
	return a.view(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketVisits).ForEach(func(k, b []byte) error {
			if len(k) != refSize {
				return &DamageError{File: dbName, What: "the key of a visit cannot be decoded"}
			}
			v, err := readVisit(k, b)
			return visit(refOf(k), v, err)
		})
	})
}

// Visit reads one visit; nil if there is none.
func (a *Archive) Visit(r Ref) (v *Visit, err error) {
	err = a.view(func(tx *bbolt.Tx) error {
		v, err = getVisit(tx, r)
		return err
	})
	return v, err
}

// historyBatch is how many visits are read at once: no transaction stays open while
// an outlet works on what it was given.
const historyBatch = 512

// Histories gives the visits of each URL, the oldest first, by URL in the
// order of discovery. An error ends it.
func (a *Archive) Histories() iter.Seq2[[]*Visit, error] {
	return func(yield func([]*Visit, error) bool) {
		var open []*Visit // of the URL that is being read
		var at Ref
		for {
			next, err := a.VisitsAfter(at, historyBatch)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, v := range next {
				if len(open) > 0 && open[0].URLID != v.URLID {
					if !yield(open, nil) {
						return
					}
					open = nil
				}
				open = append(open, v)
			}
			if len(next) < historyBatch {
				break
			}
			at = next[len(next)-1].Ref()
		}
		if len(open) > 0 {
			yield(open, nil)
		}
	}
}
