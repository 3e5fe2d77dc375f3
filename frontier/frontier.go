// Package frontier holds every URL ever discovered, with its state and the reason for it, and hands out
// the queued ones breadth first, in the order of judge.Served: robots.txt, sitemaps, requisites of
// fetched pages, guesses from scripts, pages, and variants of pages. The queues are in bbolt; in
// memory are a keyed 64-bit fingerprint of each URL, counts by shape of URL, and a few positions.
//
// On disk, below the top-level bucket "frontier":
//
//	blocks   host, class, first id → up to blockSize discovered URLs, in order
//	seen     the same key          → their fingerprints, eight octets each, then those of twins
//	finished id                    → state and reason of a finished URL
//	queues   host, class           → position of the first unfinished URL, number of those that follow
//	retries  host, due time, id    → a URL to be visited again: where its entry is, attempts
//	linked   sequence              → fingerprints of sitemap URLs that a link led to later
//	words    number                → a text that many entries share: how a URL was found
//	reasons  number                → a reason that many entries share: a rule and its parameters
//	hosts    number                → origin
//	tally    hash of a shape       → number of URLs of that shape (trap rules)
//	counts   one value             → totals by state and reason
//
// Keys are added only at the ends of their ranges, so that writes stay sequential however many URLs
// there are.
package frontier

import (
	"encoding/binary"
	"fmt"
	"sync"
	"time"
	"unsafe"

	"github.com/dchest/siphash"
	"go.etcd.io/bbolt"

	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
)

// The types of links are defined by the rules that judge them.
type (
	Link  = judge.Link
	Class = judge.Class
)

// Classes of links.
const (
	Prerequisite = judge.Prerequisite
	Sitemap      = judge.Sitemap
	Requisite    = judge.Requisite
	Page         = judge.Page
	Speculative  = judge.Speculative
	Disregarded  = judge.Disregarded // excluded at discovery; never handed out
)

// State is the state of a URL.
type State uint8

// States of a discovered URL.
const (
	StateQueued State = iota
	StateFetched
	StateFailed
	StateDisregarded
)

func (s State) String() string { return [...]string{"queued", "fetched", "failed", "disregarded"}[s] }

// Entry is a discovered URL.
type Entry struct {
	ID uint64
	Link
	Attempts int // visits made so far

	at    position
	retry []byte // key in the retries bucket from which it was handed out
}

// View runs a read transaction on crawl.db. The frontier writes only in transactions passed to Flush.
type View func(func(*bbolt.Tx) error) error

// Frontier is the set of discovered URLs and their queues. Known, Next and Counts are safe for
// concurrent use; Add, Finish, Retry, Flush and Publish must only be called by the committer.
type Frontier struct {
	view   View
	isRead bool                   // for look-ups only
	listed func() map[uint64]bool // for look-ups: the orphans, read when they are first asked for
	k0, k1 uint64
	seen   *seenSet
	mu     sync.RWMutex // guards what follows
	waiting
	numbered
	staging
	onPlaced func(id uint64, u weburl.URL)
	adding
}

// waiting is the state of the queues and of what they have handed out.
type waiting struct {
	queues   map[queueKey]*queue
	retries  map[uint32]int
	inFlight map[uint64]*Entry // handed out, and not yet committed as done
	opened   uint64            // lower ids existed when the archive was opened
	longest  time.Duration     // longest postponement of an entry; 0 is no limit
	putOff   map[uint64]bool   // ids at or after their queue's mark that have a retry
}

// numbered has the values that entries refer to by number, the next id, and the totals.
type numbered struct {
	hosts   names[string]
	words   names[string]
	reasons names[judge.Reason]
	nextID  uint64
	counts  Counts
}

// staging has the changes since the last Flush, which writes them.
type staging struct {
	staged  map[queueKey][]Link
	order   []queueKey // keys of staged, in order of first use
	done    []finished
	later   []later
	again   []again  // finished entries to be queued again
	settled []uint64 // in flight until Publish

	superseded []Found
	linked     []uint64       // listed URLs that a link has led to
	left       judge.Tally    // URLs not recorded because there are too many
	overruled  int            // number of soft entries that a later find replaced
	dropping   bool           // drop overruled entries
	passed     map[string]int // by shape: URLs that AddAgain admitted
}

// adding is the state of the rules that judge added links. Only Add uses it.
type adding struct {
	settings *judge.Settings
	tally    tally
	tallied  map[uint64]int    // counts that changed since the last Flush
	shortest map[uint64]uint16 // see memory.Shortest
	twins    []uint64          // fingerprints of forms (judge.SamePage) that a second URL got since the last Flush
}

type queueKey struct {
	host  uint32
	class Class
}

type finished struct {
	e      *Entry
	state  State
	reason uint32
	was    Found // its state and reason before, if it was finished
}

type again struct {
	id       uint64
	attempts int
}

type later struct {
	e   *Entry
	due time.Time
}

var (
	bucketTop      = []byte("frontier")
	bucketBlocks   = []byte("blocks")
	bucketSeen     = []byte("seen")
	bucketFinished = []byte("finished")
	bucketQueues   = []byte("queues")
	bucketRetries  = []byte("retries")
	bucketLinked   = []byte("linked")
	bucketWords    = []byte("words")
	bucketReasons  = []byte("reasons")
	bucketHosts    = []byte("hosts")
	bucketTally    = []byte("tally")
	keyCounts      = []byte("counts")
)

var buckets = [][]byte{bucketBlocks, bucketSeen, bucketFinished, bucketQueues, bucketRetries, bucketLinked, bucketWords,
	bucketReasons, bucketHosts, bucketTally}

// Open loads the frontier that view reads. key is the archive's secret key for fingerprints, so that no
// site can choose URLs with colliding ones. A frontier that is only read is for look-ups: data on URLs is
// read when it is needed, and nothing can be added to it or taken from it.
func Open(view View, key [16]byte, isRead bool) (*Frontier, error) {
	f := newFrontier(view, key)
	load := f.load
	if f.isRead = isRead; isRead {
		load = f.loadTotals
	}
	if err := view(load); err != nil {
		return nil, fmt.Errorf("frontier: %w", err)
	}
	return f, nil
}

func newFrontier(view View, key [16]byte) *Frontier {
	f := &Frontier{
		view: view,
		seen: &seenSet{},
		k0:   binary.LittleEndian.Uint64(key[:8]),
		k1:   binary.LittleEndian.Uint64(key[8:]),
		waiting: waiting{queues: map[queueKey]*queue{}, retries: map[uint32]int{}, inFlight: map[uint64]*Entry{},
			putOff: map[uint64]bool{}},
		numbered: numbered{nextID: 1},
		staging:  staging{staged: map[queueKey][]Link{}, passed: map[string]int{}},
		adding:   adding{settings: &judge.Settings{}, tallied: map[uint64]int{}, shortest: map[uint64]uint16{}},
	}
	f.listed = sync.OnceValue(f.readListed)
	return f
}

// Create creates the buckets of an empty frontier.
func Create(tx *bbolt.Tx) error {
	top, err := tx.CreateBucket(bucketTop)
	if err != nil {
		return err
	}
	for _, name := range buckets {
		if _, err := top.CreateBucket(name); err != nil {
			return err
		}
	}
	return nil
}

// fingerprint is the keyed hash of a URL; its three lowest bits are free for flags.
func (f *Frontier) fingerprint(href string) uint64 { return fingerprint(f.k0, f.k1, href) }

// twinsOf is the keyed hash for all URLs with a common form. It differs from the fingerprint of the form
// itself.
func (f *Frontier) twinsOf(form string) uint64 { return fingerprint(^f.k0, f.k1, form) }

func fingerprint(k0, k1 uint64, text string) uint64 {
	h := siphash.Hash(k0, k1, unsafe.Slice(unsafe.StringData(text), len(text))) &^ flagBits
	if h == 0 {
		return flagBits + 1
	}
	return h
}

// Known reports whether the URL was discovered, other than as softly disregarded. It includes URLs
// that are staged but not yet committed.
func (f *Frontier) Known(u weburl.URL) bool { return f.hard(f.fingerprint(u.String())) }

func (f *Frontier) hard(fp uint64) bool {
	found, flags := f.seen.find(fp)
	return found && flags&softBit == 0
}

// Orphan reports whether a URL is known from a sitemap only. Adding a link to it ends that.
func (f *Frontier) Orphan(u weburl.URL) bool {
	if f.isRead {
		return f.listed()[f.fingerprint(u.String())]
	}
	_, flags := f.seen.find(f.fingerprint(u.String()))
	return flags&listedBit != 0
}

// News is one result of Unknown.
type News struct {
	Index  int
	Listed bool // known, but from a sitemap only
}

// Unknown appends to list those of n URLs for which Known is false or Orphan is true: those that Add
// must see. For a page of links it is several times faster than separate calls.
func (f *Frontier) Unknown(list []News, n int, url func(int) weburl.URL) []News {
	fps := make([]uint64, n)
	for i := range fps {
		fps[i] = f.fingerprint(url(i).String())
	}
	f.seen.findAll(fps)
	for i, v := range fps {
		if v == 0 || v&flagBits != 0 {
			list = append(list, News{i, v&listedBit != 0})
		}
	}
	return list
}

// Add stages a link unless its URL is known, and reports whether it was new.
func (f *Frontier) Add(l Link) bool {
	fp := f.fingerprint(l.URL.String())
	if f.full(&l, fp) {
		return false
	}
	added, overruled := f.seen.add(fp, l.Class == Disregarded && l.Soft)
	if !added {
		if l.Class != Speculative && l.Class != Disregarded {
			f.seen.set(fp, guessBit, false)
		}
		if l.How != judge.HowSitemap && f.seen.set(fp, listedBit, false) {
			f.linked = append(f.linked, fp)
		}
		return false
	}
	v := f.judge(&l)
	if l.Late = (v.Late || l.Alternate) && l.Class == Page; v.Excludes() {
		l.Exclude(v)
	}
	f.put(l, fp)
	if overruled {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.overruled++
	}
	return true
}

// full reports whether the limit on discovered URLs is reached and the link would add another.
func (f *Frontier) full(l *Link, fp uint64) bool {
	if l.Class <= Sitemap {
		return false
	}
	v := judge.Decide(judge.Offered, l, &judge.Facts{Settings: f.settings, Memory: memory{f}})
	if found, _ := f.seen.find(fp); !v.Excludes() || found {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left == nil {
		f.left = judge.Tally{}
	}
	f.left[v.Reason]++
	return true
}

// IsGuess reports whether the URL was found only as a guess from a script. A link found in an earlier
// run is not remembered.
func (f *Frontier) IsGuess(u weburl.URL) bool {
	_, flags := f.seen.find(f.fingerprint(u.String()))
	return flags&guessBit != 0
}

// Dismissed allows a later link to queue a URL that was queued and then disregarded.
func (f *Frontier) Dismissed(u weburl.URL) { f.seen.set(f.fingerprint(u.String()), softBit, true) }

// put stages a link to a new URL.
func (f *Frontier) put(l Link, fp uint64) {
	if l.Class == Speculative {
		f.seen.set(fp, guessBit, true)
	}
	if l.Listed() {
		f.seen.set(fp, listedBit, true)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stage(l)
}

func (f *Frontier) stage(l Link) {
	key := queueKey{class: l.Class}
	if l.Late && l.Class == Page {
		key.class = judge.Variant
	}
	if l.Class != Disregarded {
		key.host = f.hosts.number(l.URL.Origin())
	}
	if len(f.staged[key]) == 0 {
		f.order = append(f.order, key)
	}
	f.staged[key] = append(f.staged[key], l)
}

// AddAgain stages a URL that was disregarded because of a setting that has changed. It returns false if
// a rule with a budget still excludes it, or if another link has queued the URL already.
func (f *Frontier) AddAgain(found Found) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stillHeld(&found) {
		return false
	}
	l := found.Link
	fp := f.fingerprint(l.URL.String())
	if l.Soft {
		if added, _ := f.seen.add(fp, false); !added {
			return false
		}
	}
	l.Admit()
	if l.Listed() {
		f.seen.set(fp, listedBit, true)
	}
	f.stage(l)
	f.superseded = append(f.superseded, found)
	return true
}

// Finish sets the state of an entry that Next handed out.
func (f *Frontier) Finish(e *Entry, s State, reason judge.Reason) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = append(f.done, finished{e: e, state: s, reason: f.reasons.number(reason)})
	f.release(e)
}

// Retry puts back an entry that Next handed out, to be handed out again when due.
func (f *Frontier) Retry(e *Entry, due time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.later = append(f.later, later{e, due})
	f.release(e)
}

// release removes e from its queue. It stays in flight until Publish, since its retry is on disk until
// then.
func (f *Frontier) release(e *Entry) {
	if e.retry == nil {
		f.queues[e.at.queueKey].settle(e.at)
	}
}
