// Package rebuild answers: what was crawled, where crawl.db is lost? It makes
// crawl.db anew of the segments, as a crawl would have made it, in two passes:
//
//	captures  what the records say: a visit each, its URL known to the frontier
//	replay    every response read again, by the same steps 4 and 5 as when it
//	          came: states, the links that nobody has followed, robots history
//
// What was fetched comes first, so that its links to each other add nothing;
// what is left is what the crawl had found and not fetched.
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
	"curtsy/storage/crawllog"
)

// Done is what a rebuild did and what it could not do.
type Done struct {
	Visits   int
	Again    int                   // URLs that are asked for again, though they were fetched
	Queued   int                   // URLs that wait
	Problems []storage.DamageError // what could not be read
	Said     []string              // what a person should know
}

// rebuilder is a crawl whose network is the archive.
type rebuilder struct {
	opts     crawler.Options
	a        *storage.Archive
	read     *storage.Report // of the segments; nil: captures are added to an archive that is there
	frontier *frontier.Frontier
	reader   *visit.Reader
	client   *fetch.Client
	state    status.State
	planted  map[string]bool // origins whose robots.txt is in the frontier

	batch  []captured
	placed map[string]*met // of the batch: URLs that are not yet committed
	began  time.Time
	guess  int // captures whose class no record tells
	scanned

	linksLater bool // and not in this reading

	circles  visit.Circles
	past     map[string]*past // by origin
	last     replayed         // the URL being replayed
	again    []frontier.Found // to be fetched again
	withheld int
}

// scanned is what the segments have that is of no use.
type scanned struct {
	lost   []string // URLs whose records are damaged
	copies int      // records that lie in two segments
	gaps   bool     // records of the segments belong to no visit: they are to be written anew
}

// met is what is known of a URL that was visited.
type met struct {
	id     uint64
	visits int // so far
}

// captured is a capture and its URL.
type captured struct {
	*crawllog.Recovered
	of *met
}

// rebuildBatch is how many visits are written at a time.
const rebuildBatch = 256

// maxLost bounds the list of URLs whose records are damaged. Those beyond it
// are queued only where a link leads to them.
const maxLost = 10_000

// Archive makes the crawl.db of the archive in dir anew. The old one is kept
// under another name. o is what the crawl was last run with.
func Archive(dir string, o crawler.Options) (done *Done, err error) {
	defer storage.Guard(&err)()
	o = o.WithDefaults()
	o.Archive.Crawl = crawler.SegmentInfo{Seed: o.Seed.String(), Settings: o.Public}
	// Who looks alike is found out by asking the site, which is not there.
	o.Traps.SoftNotFound = 0
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

// end queues what is lost, and makes queues and totals right.
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

// requeueLost makes links of the URLs whose records are damaged, where no
// page that is left has one.
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

// finish takes damage out of the segments, when the new index is in place.
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

// shortcomings is what was lost with the old index, honestly.
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

// repairSegments writes segments that hold what belongs to no visit anew.
func repairSegments(dir string, o storage.Options) ([]string, error) {
	o.Mend = true
	a, err := storage.Open(dir, o)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	return a.Salvage(nil, nil)
}
