// Package rebuild makes a new crawl.db from the segments when the old one is lost, in two passes:
//
//	captures  every record becomes a visit, and its URL is added to the frontier
//	replay    every response goes through steps 4 and 5 again, which restores states, links that
//	          were not followed, and the history of robots.txt
//
// The captures come first, so that links between captured URLs queue nothing. What is queued at the end
// is what the crawl had discovered and not fetched.
package rebuild

import (
	"fmt"
	"path/filepath"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/fetch"
	"curtsy/crawler/status"
	"curtsy/crawler/visit"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/storage"
)

// Done is the result of a rebuild.
type Done struct {
	Visits   int
	Again    int                   // URLs queued again although they had been fetched
	Queued   int                   // URLs queued
	Problems []storage.DamageError // what could not be read
	Said     []string              // messages for the user
}

// rebuilder takes the place of a crawl, with the archive instead of the network.
type rebuilder struct {
	opts     crawler.Options
	a        *storage.Archive
	read     *storage.Report // the report on the segments; nil for an Intake
	frontier *frontier.Frontier
	reader   *visit.Reader
	client   *fetch.Client
	state    status.State
	planted  map[string]bool // origins whose robots.txt is in the frontier

	batch  []*Capture      // added, not yet committed
	placed map[string]*met // URLs of the batch
	began  time.Time
	guess  int // captures whose records do not state their class
	scanned

	linksLater bool // links are not read in this replay

	circles  visit.Circles
	past     map[string]*past  // by origin
	last     replayed          // the URL being replayed
	again    []*frontier.Entry // URLs to be queued again
	withheld int
}

// scanned counts what the segments have that is of no use.
type scanned struct {
	lost   []string // URLs whose records are damaged
	copies int      // records that are in two segments
	gaps   bool     // some records belong to no visit: the segments must be rewritten
}

// met is a visited URL.
type met struct {
	id     uint64
	visits int // number of its visits so far
}

// rebuildBatch is how many visits are written per transaction.
const rebuildBatch = 256

// maxLost bounds the list of URLs whose records are damaged. URLs beyond it are queued again only if a
// link leads to them.
const maxLost = 10_000

// Archive rebuilds the crawl.db of the archive in dir. The old one is kept under another name. o are
// the options of the last run.
func Archive(dir string, o crawler.Options) (done *Done, err error) {
	defer storage.Guard(&err)()
	o = offline(o)
	var b *rebuilder
	said, err := storage.Rebuild(dir, o.Archive, func(a *storage.Archive) (err error) {
		if b, err = newRebuilder(a, o); err != nil {
			return err
		}
		defer b.client.Close()
		return b.run()
	})
	if err != nil {
		return nil, err
	}
	return b.finish(dir, said)
}

// offline returns the options for work without the site.
func offline(o crawler.Options) crawler.Options {
	o = o.WithDefaults()
	o.Archive.Crawl = crawler.SegmentInfo{Seed: o.Seed.String(), Settings: o.Public}
	o.Traps.SoftNotFound = 0 // the rule sends requests
	return o
}

func newRebuilder(a *storage.Archive, o crawler.Options) (*rebuilder, error) {
	f, err := a.Frontier()
	if err != nil {
		return nil, err
	}
	b := &rebuilder{opts: o, a: a, frontier: f, client: fetch.New(o.Fetch), planted: map[string]bool{},
		placed: map[string]*met{}, past: map[string]*past{}}
	b.state = status.State{Seed: o.Seed.String(), Settings: o.Settings, Began: o.Now().UTC()}
	settings := o.Judging()
	f.Judge(settings)
	b.reader = visit.NewReader(a, f, o.Visiting(settings, b.state.Admit))
	return b, nil
}

func (b *rebuilder) run() error {
	if err := b.begin(); err != nil {
		return err
	}
	b.frontier.OnPlaced(func(id uint64, u weburl.URL) {
		if k := b.placed[u.String()]; k != nil {
			k.id = id
		}
	})
	var err error
	if b.read, err = b.a.Scan(b.take, b.lose); err != nil {
		return err
	}
	if err := b.flush(); err != nil {
		return err
	}
	if err := b.replay(); err != nil {
		return err
	}
	return b.end()
}

// end queues the lost URLs, and completes queues and totals.
func (b *rebuilder) end() error {
	b.requeueLost()
	if err := b.commit(); err != nil {
		return err
	}
	if err := b.frontier.Advance(); err != nil {
		return err
	}
	b.circles.Resolve(b.frontier, nil)
	b.frontier.DropOverruled()
	if !b.began.IsZero() {
		b.state.Began = b.began
	}
	if err := b.rounds(); err != nil {
		return err
	}
	if err := b.state.Recount(b.a, nil); err != nil {
		return err
	}
	return b.commitFrontier()
}

// requeueLost adds the URLs whose records are damaged as links of the seed, in case no remaining page
// links to them.
func (b *rebuilder) requeueLost() {
	seed := &visit.Attempt{Entry: &frontier.Entry{}, URL: b.opts.Seed}
	facts := b.reader.Facts()
	for _, href := range b.lost {
		if u, err := weburl.ParsePage(href); err == nil {
			l := frontier.Link{URL: u, Class: frontier.Page, Depth: 1, How: judge.HowDamaged}
			b.add(b.reader.Judge(nil, seed, l, facts), 0)
		}
	}
}

// finish removes damaged records from the segments after the new crawl.db is in place.
func (b *rebuilder) finish(dir string, said []string) (*Done, error) {
	counts := b.frontier.Counts()
	d := &Done{Visits: b.read.Visits - b.copies, Again: len(b.lost) + b.withheld, Queued: counts.Queued(),
		Problems: b.read.Problems}
	d.Said = append(d.Said, fmt.Sprintf("%s rebuilt from %s: %s of %s, %s queued", filepath.Join(dir, "crawl.db"),
		legible.Count(b.read.Segments, "segment"), legible.Count(d.Visits, "visit"),
		legible.Count(counts.Discovered-counts.Queued()-counts.Disregarded, "URL"), legible.Count(d.Queued, "URL")))
	d.Said = append(d.Said, said...)
	d.Said = append(d.Said, b.shortcomings()...)
	if !b.gaps && len(d.Problems) == 0 {
		return d, nil
	}
	repaired, err := repairSegments(dir, b.opts.Archive)
	d.Said = append(d.Said, repaired...)
	return d, err
}

// shortcomings lists what was lost with the old crawl.db.
func (b *rebuilder) shortcomings() (said []string) {
	say := func(n int, thing, what string) {
		if n > 0 {
			said = append(said, legible.Count(n, thing)+" "+what)
		}
	}
	say(len(b.lost), "visit", "damaged, queued again")
	say(b.withheld, "page", "not kept, as the site asks or because another archive has it: "+
		"links of it are no longer known, and it is queued again")
	say(b.guess, "visit", "recorded by an older version of curtsy: how the URL was found is a guess")
	say(b.copies, "visit", "in two segments: one copy is ignored")
	return append(said, "what only the old index held is lost: "+
		"visits without a response (their URLs are queued again if a link leads to them),"+
		" when to retry, and what the soft-404 rule had learned")
}

// repairSegments rewrites segments that contain records of no visit.
func repairSegments(dir string, o storage.Options) ([]string, error) {
	o.Mend = true
	a, err := storage.Open(dir, o)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	return a.Salvage(nil, nil)
}
