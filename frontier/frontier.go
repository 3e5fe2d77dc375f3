// Package frontier answers: which URL is next? It knows every URL ever
// discovered, with its state and the reason for it, and hands out those that
// wait, breadth first: robots.txt, sitemaps, requisites of fetched pages,
// pages. The queue lives in bbolt, not in memory; what stays in memory is a
// 64-bit keyed fingerprint of each URL and a few positions.
//
// On disk, below the top-level bucket "frontier":
//
//	blocks   host, class, first id → up to blockSize discovered URLs, in order
//	seen     the same key          → their fingerprints, eight octets each, then those of twins
//	finished id                    → state and reason of a URL that is done
//	queues   host, class           → where the first unfinished URL is, how many follow
//	retries  host, due time, id    → an URL to try again, where it stands, attempts
//	linked   sequence              → fingerprints of URLs of sitemaps that a link led to later
//	words    number                → a text used by many entries: where links stand
//	reasons  number                → a reason used by many entries: a rule and its parameters
//	hosts    number                → origin
//	tally    hash of a shape       → how many URLs of it there are (trap rules)
//	counts   one value             → totals by state and reason
//
// Keys grow at the ends of their ranges only, so that writes stay sequential
// however many URLs there are.
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

// What a link is, the rules say that judge it.
type (
	Link  = judge.Link
	Class = judge.Class
)

// Classes, in the order in which they are served.
const (
	Prerequisite = judge.Prerequisite
	Sitemap      = judge.Sitemap
	Requisite    = judge.Requisite
	Page         = judge.Page
	Speculative  = judge.Speculative
	Disregarded  = judge.Disregarded // decided against at discovery; never handed out
)

// State is what became of a URL.
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
	Attempts int // visits that failed so far

	at    position
	retry []byte // key in the retries bucket this was handed out from
}

// View reads crawl.db: bbolt's, or that of the archive around it. The frontier
// writes in the archive's transactions only (Flush).
type View func(func(*bbolt.Tx) error) error

// Frontier is the set of discovered URLs and the queues of those that wait.
// Known, Next and Counts may be called from any goroutine; Add, Finish,
// Retry, Flush and Publish belong to the one that commits.
type Frontier struct {
	view   View
	isRead bool // for looking things up only
	k0, k1 uint64
	seen   *seenSet
	mu     sync.RWMutex // guards what follows
	waiting
	numbered
	staging
	onPlaced func(id uint64, u weburl.URL)
	adding
}

// waiting is what Next hands out, and has handed out.
type waiting struct {
	queues   map[queueKey]*queue
	retries  map[uint32]int
	inFlight map[uint64]*Entry // handed out and not yet committed as done
	opened   uint64            // ids below it were there when the archive was opened
	longest  time.Duration     // that an entry is put off; 0 is any time
	putOff   map[uint64]bool   // retries behind the mark of their queue when the archive was opened
}

// numbered is what entries name by a number, the next number of an entry, and the totals.
type numbered struct {
	hosts   names[string]
	words   names[string]
	reasons names[judge.Reason]
	nextID  uint64
	counts  Counts
}

// staging is what has happened since the last Flush, which writes it.
type staging struct {
	staged  map[queueKey][]Link
	order   []queueKey // keys of staged, in order of first use
	done    []finished
	later   []later
	again   []again  // to be tried at once, though they were done
	settled []uint64 // in flight until Publish

	superseded []Found
	linked     []uint64       // listed URLs that a link led to
	left       judge.Tally    // URLs left out since there are too many
	overruled  int            // soft finds that a later find replaced
	dropping   bool           // their entries
	passed     map[string]int // by shape, what AddAgain let through
}

// adding is Add's own: what the rules that judge a link ask for.
type adding struct {
	settings *judge.Settings
	tally    tally
	tallied  map[uint64]int    // counts that changed since the last Flush
	shortest map[uint64]uint16 // see memory.Shortest
	twins    []uint64          // fingerprints of forms (judge.Form) that a second URL got since the last Flush
}

type queueKey struct {
	host  uint32
	class Class
}

type finished struct {
	e      *Entry
	state  State
	reason uint32
	was    Found // what it was before, where it was finished
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

// Open reads the frontier that view shows. key is the secret of the archive that
// fingerprints are keyed with, so that no site can choose URLs that collide.
func Open(view View, key [16]byte) (*Frontier, error) {
	f := newFrontier(view, key)
	if err := view(f.load); err != nil {
		return nil, fmt.Errorf("frontier: %w", err)
	}
	return f, nil
}

// OpenRead is Open for looking things up: what is known of URLs is read when it
// is asked for. Nothing can be added to such a frontier, or taken from it.
func OpenRead(view View, key [16]byte) (*Frontier, error) {
	f := newFrontier(view, key)
	f.isRead = true
	if err := view(f.loadTotals); err != nil {
		return nil, fmt.Errorf("frontier: %w", err)
	}
	return f, nil
}

func newFrontier(view View, key [16]byte) *Frontier {
	return &Frontier{
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
}

// Create makes the buckets of an empty frontier.
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

// fingerprint is the keyed name of a URL; its two lowest bits are free.
func (f *Frontier) fingerprint(href string) uint64 { return fingerprint(f.k0, f.k1, href) }

// twinsOf is the keyed name of all URLs that have one form in common. It is
// not the name of that form.
func (f *Frontier) twinsOf(form string) uint64 { return fingerprint(^f.k0, f.k1, form) }

func fingerprint(k0, k1 uint64, text string) uint64 {
	h := siphash.Hash(k0, k1, unsafe.Slice(unsafe.StringData(text), len(text))) &^ flagBits
	if h == 0 {
		return flagBits + 1
	}
	return h
}

// Known says whether the URL was discovered before, other than softly
// disregarded. It may miss what is staged and not yet published.
func (f *Frontier) Known(u weburl.URL) bool { return f.hard(f.fingerprint(u.String())) }

func (f *Frontier) hard(fp uint64) bool {
	found, flags := f.seen.find(fp)
	return found && flags&softBit == 0
}

// Orphan says whether a sitemap lists the URL and no link has led to it yet.
// Adding a link to it makes that known.
func (f *Frontier) Orphan(u weburl.URL) bool {
	if f.isRead {
		return f.isListed(f.fingerprint(u.String()))
	}
	_, flags := f.seen.find(f.fingerprint(u.String()))
	return flags&listedBit != 0
}

// News is one of the URLs that Unknown was asked for.
type News struct {
	Index  int
	Listed bool // it is known, but only from a sitemap
}

// Unknown appends to list those of n URLs that Known is false or Orphan true
// for: the ones that Add has something to do with. For a page of links it is
// several times as quick as asking for each.
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

// Add stages a link, unless its URL is known. It says whether it was new.
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

// full says whether there are as many URLs as may be, and this is one more.
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

// IsGuess says whether nothing but what a script may name has led to the URL in
// this run; an earlier one may have met a link.
func (f *Frontier) IsGuess(u weburl.URL) bool {
	_, flags := f.seen.find(f.fingerprint(u.String()))
	return flags&guessBit != 0
}

// Dismissed lets a later link lead to a URL that was queued and then disregarded.
func (f *Frontier) Dismissed(u weburl.URL) { f.seen.set(f.fingerprint(u.String()), softBit, true) }

// put stages a link that is not there yet.
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

// AddAgain stages a URL that was disregarded for a setting that has changed
// since. It is false where a rule that remembers what came before holds it
// back still, and where another link let the URL through before.
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

// Finish says what became of an entry that Next gave out.
func (f *Frontier) Finish(e *Entry, s State, reason judge.Reason) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = append(f.done, finished{e: e, state: s, reason: f.reasons.number(reason)})
	f.release(e)
}

// Retry puts an entry that Next gave out back, to be given out again when due.
func (f *Frontier) Retry(e *Entry, due time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.later = append(f.later, later{e, due})
	f.release(e)
}

// release takes e out of its queue. It stays in flight until Publish, since
// until then a retry of it is still on disk.
func (f *Frontier) release(e *Entry) {
	if e.retry == nil {
		f.queues[queueKey{e.at.host, e.at.class}].settle(e.at)
	}
}
