package crawler

import (
	"fmt"
	"path/filepath"
	"time"

	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
	"curtsy/storage"
)

// A rebuild makes crawl.db anew of the segments, as a crawl would have made
// it, in two passes:
//
//	captures  what the records say: a visit each, its URL known to the frontier
//	replay    every response read again, by the same steps 4 and 5 as when it
//	          came: states, the links that nobody has followed, robots history
//
// What was fetched comes first, so that its links to each other add nothing;
// what is left is what the crawl had found and not fetched.

// Rebuilt is what a rebuild did and what it could not do.
type Rebuilt struct {
	Visits   int
	Again    int               // URLs that are asked for again, though they were fetched
	Queued   int               // URLs that wait
	Problems []storage.Problem // what could not be read
	Said     []string          // what a person should know
}

// rebuilder is a crawl whose network is the archive.
type rebuilder struct {
	c      *Crawl
	r      *storage.Rebuild
	batch  []captured
	placed map[string]*storage.Met // of the batch: URLs that are not yet noted in r
	lost   []string                // URLs whose records are damaged
	began  time.Time
	guess  int // captures whose class no record tells
	copies int // records that lie in two segments

	past     map[string]*past // by origin
	last     replayed         // the URL being replayed
	again    []frontier.Found // to be fetched again
	withheld int
}

// captured is a capture and its URL.
type captured struct {
	*storage.Capture
	of *storage.Met
}

// rebuildBatch is how many visits are written at a time.
const rebuildBatch = 256

// maxLost bounds the list of URLs whose records are damaged. Those beyond it
// are queued only where a link leads to them.
const maxLost = 10_000

// Rebuild makes the crawl.db of the archive in dir anew. The old one is kept
// under another name. o is what the crawl was last run with.
func Rebuild(dir string, o Options) (done *Rebuilt, err error) {
	defer storage.Guard(&err)()
	o = o.WithDefaults()
	o.Archive.Crawl = Told{o.Seed.String(), o.Public}
	// Who looks alike is found out by asking the site, which is not there.
	o.Traps.SoftNotFound = 0
	o.Tell = func(text string) { o.Logger.Debug(text) }
	r, err := storage.OpenRebuild(dir, o.Archive)
	if err != nil {
		return nil, err
	}
	b, err := newRebuilder(r, o)
	if err != nil {
		r.Abandon()
		return nil, err
	}
	defer b.c.client.Close()
	if err := b.run(); err != nil {
		r.Abandon()
		return nil, err
	}
	return b.finish(dir)
}

func newRebuilder(r *storage.Rebuild, o Options) (*rebuilder, error) {
	c, err := begin(r.Archive, o)
	if err != nil {
		return nil, err
	}
	return &rebuilder{c: c, r: r, placed: map[string]*storage.Met{}, past: map[string]*past{}}, nil
}

func (b *rebuilder) run() error {
	if err := b.planted(); err != nil {
		return err
	}
	b.c.frontier.OnPlaced(func(id uint64, u weburl.URL) {
		if k := b.placed[u.String()]; k != nil {
			k.ID = id
		}
	})
	if err := b.r.Scan(b.take, b.lose); err != nil {
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
	if err := b.r.Advance(); err != nil {
		return err
	}
	var err error
	if b.c.frontier, err = b.r.Frontier(); err != nil {
		return err
	}
	st := b.c.State()
	st.Elapsed, st.Finished = 0, false
	if !b.began.IsZero() {
		st.Began = b.began
	}
	if err := st.Recount(b.r.Archive, nil); err != nil {
		return err
	}
	return b.r.Commit(st)
}

// requeueLost makes links of the URLs whose records are damaged, where no
// page that is left has one.
func (b *rebuilder) requeueLost() {
	seed := &job{entry: &frontier.Entry{}, url: b.c.opts.Seed, now: time.Now()}
	facts := &judge.Facts{Settings: b.c.scope.Load(), Now: seed.now}
	for _, href := range b.lost {
		if u, err := weburl.Parse(href); err == nil {
			l := frontier.Link{URL: u, Class: frontier.Page, Depth: 1, How: judge.HowDamaged}
			b.add(b.c.judge(nil, seed, l, facts), 0)
		}
	}
}

// finish puts the new index in place, and takes damage out of the segments.
func (b *rebuilder) finish(dir string) (*Rebuilt, error) {
	counts := b.c.Counts()
	d := &Rebuilt{Visits: b.r.Report.Visits - b.copies, Again: len(b.lost) + b.withheld, Queued: counts.Queued(), Problems: b.r.Report.Problems}
	said, err := b.r.Finish()
	if err != nil {
		return nil, err
	}
	d.Said = append(d.Said, fmt.Sprintf("%s is rebuilt from %d segments: %d visits of %d URLs, and %d URLs that wait",
		filepath.Join(dir, "crawl.db"), b.r.Report.Segments, d.Visits, counts.Discovered-counts.Queued()-counts.Disregarded, d.Queued))
	d.Said = append(d.Said, said...)
	d.Said = append(d.Said, b.shortcomings()...)
	if !b.r.Gaps() {
		return d, nil
	}
	mended, err := mendSegments(dir, b.c.opts.Archive)
	d.Said = append(d.Said, mended...)
	return d, err
}

// shortcomings is what was lost with the old index, honestly.
func (b *rebuilder) shortcomings() (said []string) {
	say := func(n int, format string) {
		if n > 0 {
			said = append(said, fmt.Sprintf(format, n))
		}
	}
	say(len(b.lost), "%d visits were damaged: their URLs are queued again")
	say(b.withheld, "%d pages asked not to be kept, and nobody knows their links any more: they are queued again")
	say(b.guess, "%d visits were kept by an older curtsy: how their URLs were found is a guess")
	say(b.copies, "%d visits lie in two segments: one copy is passed over")
	return append(said, "what only the old index knew is lost: visits that brought no response (their URLs are queued again where a link leads to them),"+
		" when to retry, and what the soft-404 rule had learned")
}

// mendSegments writes segments that hold what belongs to no visit anew.
func mendSegments(dir string, o storage.Options) ([]string, error) {
	a, err := storage.OpenSalvage(dir, o)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	return a.Salvage(nil, nil)
}
