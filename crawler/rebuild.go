package crawler

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"curtsy/frontier"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
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
	urls   *knownURLs
	batch  []captured
	placed map[string]*known // of the batch: URLs that are known and not yet in urls
	lost   []string          // URLs whose records are damaged
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
	of *known
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
	o.defaults()
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
		r.Close()
		return nil, err
	}
	defer b.c.client.Close()
	if err := b.run(dir); err != nil {
		r.Close()
		return nil, err
	}
	return b.finish(dir)
}

func newRebuilder(r *storage.Rebuild, o Options) (*rebuilder, error) {
	c, err := begin(r.Archive, o)
	if err != nil {
		return nil, err
	}
	return &rebuilder{c: c, r: r, placed: map[string]*known{}, past: map[string]*past{}}, nil
}

func (b *rebuilder) run(dir string) (err error) {
	if b.urls, err = openKnownURLs(dir); err != nil {
		return err
	}
	defer b.urls.close()
	if err := b.planted(); err != nil {
		return err
	}
	b.c.frontier.OnPlaced(func(id uint64, u weburl.URL) {
		if k := b.placed[u.String()]; k != nil {
			k.id = id
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

// planted makes known what every frontier begins with.
func (b *rebuilder) planted() error {
	for _, u := range []weburl.URL{b.c.opts.Seed, robotsURL(b.c.opts.Seed.Origin())} {
		found, err := b.c.frontier.Find(u)
		if err != nil {
			return err
		}
		for _, f := range found {
			if err := b.urls.put(u.String(), known{id: f.ID}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *rebuilder) lose(url string) {
	if len(b.lost) < maxLost {
		b.lost = append(b.lost, url)
	}
}

// take takes in what the records of one visit say.
func (b *rebuilder) take(c *storage.Capture) error {
	v := c.Visit
	href := v.URL
	if c.Note.Of != "" {
		href = c.Note.Of
	}
	u, err := weburl.Parse(href)
	if err != nil {
		b.r.Passed()
		return nil
	}
	if p := b.placed[c.Via]; p != nil && p.id == 0 || len(b.batch) >= rebuildBatch {
		if err := b.flush(); err != nil {
			return err
		}
	}
	k, err := b.known(u, c)
	if err != nil {
		return err
	}
	if k.n > 0 && b.isCopy(k, v) {
		b.copies++
		b.r.Passed()
		return nil
	}
	k.n++
	v.N = k.n
	if b.began.IsZero() || v.At.Before(b.began) {
		b.began = v.At
	}
	b.batch = append(b.batch, captured{c, k})
	return nil
}

// known finds a capture's URL, or makes it known to the frontier.
func (b *rebuilder) known(u weburl.URL, c *storage.Capture) (*known, error) {
	if k := b.placed[u.String()]; k != nil {
		return k, nil
	}
	had, ok := b.urls.get(u.String())
	k := &had
	b.placed[u.String()] = k
	if ok {
		return k, nil
	}
	via, _ := b.urls.get(c.Via)
	if p := b.placed[c.Via]; p != nil {
		via = *p
	}
	class := b.classOf(u, c)
	b.c.frontier.Restore(frontier.Link{URL: u, Class: class, Needed: class == frontier.Requisite, Via: via.id,
		Depth: c.Depth, Redirects: c.Note.Redirects, How: howOf(c)})
	return k, nil
}

// howOf is how a capture's URL was found.
func howOf(c *storage.Capture) string {
	if c.Noted {
		return c.Note.How
	}
	return "in the archive"
}

// classOf is the class that a capture's URL was queued in; of a record that
// does not say, one that suits what came.
func (b *rebuilder) classOf(u weburl.URL, c *storage.Capture) frontier.Class {
	for class := frontier.Prerequisite; class < frontier.Disregarded && c.Noted; class++ {
		if class.String() == c.Note.Class {
			return class
		}
	}
	b.guess++
	kind, _, _ := strings.Cut(strings.ToLower(c.Visit.ContentType), ";")
	switch {
	case u.Target() == rules.Location:
		return frontier.Prerequisite
	case strings.Contains(u.Path(), "sitemap") && !strings.Contains(kind, "html"):
		return frontier.Sitemap
	case !readable(kind), strings.Contains(kind, "css"), strings.Contains(kind, "javascript"):
		return frontier.Requisite
	}
	return frontier.Page
}

// isCopy says whether the records of a visit were read before: a repair that
// was killed leaves them in two segments.
func (b *rebuilder) isCopy(k *known, v *storage.Visit) bool {
	for _, c := range b.batch {
		if c.of == k && c.Visit.Record.ID == v.Record.ID {
			return true
		}
	}
	visits, _ := b.r.VisitsOf(k.id)
	for _, had := range visits {
		if had.Record.ID == v.Record.ID {
			return true
		}
	}
	return false
}

// flush writes the batch: first the URLs, which gives them their ids.
func (b *rebuilder) flush() error {
	if err := b.c.commitFrontier(); err != nil {
		return err
	}
	for _, c := range b.batch {
		v := c.Visit
		v.URLID = c.of.id
		if v.Kept == storage.KeptRevisit && !b.refer(v) {
			b.lose(v.URL)
			b.r.Passed()
			continue
		}
		b.r.AddVisit(v)
	}
	if err := b.c.commitFrontier(); err != nil {
		return err
	}
	for url, k := range b.placed {
		if err := b.urls.put(url, *k); err != nil {
			return err
		}
	}
	clear(b.placed)
	b.batch = b.batch[:0]
	return nil
}

// refer finds the response that holds the payload of a revisit.
func (b *rebuilder) refer(v *storage.Visit) bool {
	original, err := b.r.OriginalOf(v.Digest)
	if err != nil || original == nil {
		return false
	}
	ref := original.Ref()
	v.Refers = &ref
	if v.Status != 304 {
		v.Length = original.Length
	}
	return true
}

// end queues what is lost, and makes queues and totals right.
func (b *rebuilder) end() error {
	b.requeueLost()
	if err := b.commit(); err != nil {
		return err
	}
	f, err := frontier.Open(b.r.DB(), b.r.Key())
	if err != nil {
		return err
	}
	b.c.frontier = f
	if err := f.Advance(); err != nil {
		return err
	}
	return b.r.Commit(func(tx *bbolt.Tx) error {
		if err := f.Flush(tx); err != nil {
			return err
		}
		st := b.c.snapshot()
		st.Elapsed, st.Finished = 0, false
		if !b.began.IsZero() {
			st.Began = b.began
		}
		if err := st.recount(tx); err != nil {
			return err
		}
		return storage.PutCrawl(tx, st)
	})
}

// requeueLost makes links of the URLs whose records are damaged, where no
// page that is left has one.
func (b *rebuilder) requeueLost() {
	seed := &job{entry: &frontier.Entry{}, url: b.c.opts.Seed, now: time.Now()}
	for _, href := range b.lost {
		if u, err := weburl.Parse(href); err == nil {
			l := frontier.Link{Class: frontier.Page, Depth: 1, How: "a damaged record"}
			b.add(b.c.judge(nil, seed, u, l, ""), 0)
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
	return a.Salvage(nil, func(*bbolt.Tx) error { return nil })
}
