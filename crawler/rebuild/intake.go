package rebuild

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"curtsy/crawler"
	"curtsy/crawler/revisit"
	"curtsy/crawler/visit"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
	"curtsy/storage"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// Intake adds captures made by other programs to an archive. Each capture becomes a visit, as in the
// first pass of a rebuild; Replay is the second pass. After a kill, committed captures remain, and notes
// in the archive say which of them are to be replayed.
type Intake struct {
	*rebuilder
	weight int64                   // of the batch
	labels map[string]crawllog.Ref // committed responses by Capture.Label, at most maxLabels

	encoding errgroup.Group // see encode; an error ends the intake
}

// Capture is a capture made by another program, with its records as they will be written.
type Capture struct {
	*crawllog.Recovered
	// RefersToDate is the date of the capture that a revisit refers to, zero if unknown. It is
	// used if RefersTo names no record.
	RefersToDate time.Time
	// Records writes the records with infoID as their WARC-Warcinfo-ID. v.Record.ID is the id of
	// the first. original is the response that a revisit refers to.
	Records func(w io.Writer, infoID string, original *crawllog.Visit) error
	Linked  *crawllog.Record // their place in a linked file; nil: they are written to the segment
	Label   string           // the payload digest in the source's form, by which revisits may refer to it
	Weight  int64            // octets of memory held by the capture
	Done    func()           // called when the capture has been written or dropped

	of       *met
	original *crawllog.Visit
	members  bytes.Buffer
	infoID   string
}

// Errors of Add.
var (
	ErrKnown      = errors.New("this capture is in the archive already")
	ErrNoOriginal = errors.New("the record that it refers to is not in the archive")
)

const (
	maxIntake   = storage.MaxGroup - 32 // captures in a batch
	heavyIntake = 24 << 20              // octets of a batch above which it is committed
	heavyRecord = 8 << 20               // octets of a capture above which it is compressed straight into the segment
	maxLabels   = 1 << 19               // digests in Intake.labels
)

// OpenIntake opens the archive in dir for adding captures, or creates one with the seed o.Seed.
func OpenIntake(dir string, o crawler.Options) (i *Intake, err error) {
	defer storage.Guard(&err)()
	o = offline(o)
	o.GuessSitemap, o.UsageFiles = false, false // the next crawl fetches these
	a, err := storage.Open(dir, o.Archive)
	if err != nil {
		return nil, err
	}
	b, err := newRebuilder(a, o)
	if err == nil {
		i = &Intake{rebuilder: b, labels: map[string]crawllog.Ref{}}
		i.encoding.SetLimit(runtime.GOMAXPROCS(0))
		err = i.begin()
	}
	if err != nil {
		a.Close()
		return nil, err
	}
	return i, nil
}

// begin loads the state of an existing archive, or sets up a new one.
func (i *Intake) begin() error {
	settings := i.state.Settings // the caller's; those of the archive must not be decoded into them
	i.state.Settings = nil
	known, err := i.a.Crawl(&i.state)
	if err != nil {
		return err
	}
	for _, origin := range i.state.Origins {
		i.reader.Learn(judge.Names{Alias: origin})
	}
	i.reader.Learn(judge.Names{Primary: i.state.Primary})
	i.frontier.OnPlaced(i.placedAt)
	if known {
		i.state.Finished = false
		return nil
	}
	i.state.Began, i.state.Settings = i.opts.Now().UTC(), settings
	return i.rebuilder.begin()
}

// Archive returns the archive that captures are added to. It belongs to the Intake.
func (i *Intake) Archive() *storage.Archive { return i.a }

// Known reports whether the archive has captures of a URL.
func (i *Intake) Known(u weburl.URL) bool {
	k, ok := i.find(u.String())
	return ok && k.visits > 0
}

// Glance examines a response for directives against archiving. The beginning of the payload is enough.
func (i *Intake) Glance(u weburl.URL, at time.Time, head, payload []byte) visit.Glance {
	x, err := i.client.Replay(u, at, head, payload)
	if err != nil {
		return visit.Glance{}
	}
	defer x.Release()
	return i.reader.Glance(u, x)
}

// Close closes the archive. Captures that were not committed are dropped.
func (i *Intake) Close() error {
	_ = i.encoding.Wait()
	i.client.Close()
	for _, c := range i.batch {
		c.Done()
	}
	return i.a.Close()
}

// Add adds a capture, which is durable when Commit has returned. ErrKnown and ErrNoOriginal say why a
// capture is not added; other errors concern the archive.
func (i *Intake) Add(c *Capture) (err error) {
	defer storage.Guard(&err)()
	u, err := weburl.ParsePage(c.Visit.URL)
	if err != nil {
		return err
	}
	k, known := i.find(u.String())
	if known && i.had(k, c) {
		return ErrKnown
	}
	if c.Visit.Kept == crawllog.KeptRevisit {
		if err := i.resolve(c); err != nil {
			return err
		}
	}
	class := i.classOf(u, c.Recovered)
	c.Visit.Class = class.String()
	if i.placed[u.String()] = k; !known {
		i.restore(u, class, c.Recovered)
	}
	k.visits++
	c.of, c.Visit.N, c.Visit.URLID = k, k.visits, k.id
	i.batch, i.weight = append(i.batch, c), i.weight+c.Weight
	i.encode(c)
	if len(i.batch) >= maxIntake || i.weight > heavyIntake {
		return i.Commit()
	}
	return nil
}

// placedAt is told the ids of new URLs during a commit, before their visits are written.
func (i *Intake) placedAt(id uint64, u weburl.URL) {
	k := i.placed[u.String()]
	if k == nil || k.id != 0 {
		return
	}
	k.id = id
	for _, c := range i.batch {
		if c.of == k {
			c.Visit.URLID = id
		}
	}
	for _, c := range i.batch {
		if c.original != nil && c.original.URLID == id {
			ref := c.original.Ref()
			c.Visit.Refers = &ref
		}
	}
	i.mark(id, u)
}

// had reports whether the archive or the batch has the same record already.
func (i *Intake) had(k *met, c *Capture) bool {
	visits, _ := i.a.VisitsOf(k.id)
	return i.hasRecord(k, visits, c.Visit.Record.ID)
}

// resolve finds the response that a revisit refers to: by record id, by URL and date, or by its
// digest among the captures of the URL.
func (i *Intake) resolve(c *Capture) error {
	at := c.RefersToURI
	if u, err := weburl.ParsePage(at); err == nil {
		at = u.String()
	}
	var list []*crawllog.Visit
	for _, url := range []string{at, c.Visit.URL} {
		if url == "" {
			continue
		}
		m, ok := i.find(url)
		if !ok {
			continue
		}
		for _, other := range i.batch {
			if other.of == m {
				list = append(list, other.Visit)
			}
		}
		if m.id != 0 {
			visits, err := i.a.VisitsOf(m.id)
			if err != nil {
				return err
			}
			list = append(list, visits...)
		}
	}
	if c.original = i.referred(c, list); c.original == nil {
		c.original = i.labelled(c.Visit.Digest)
	}
	if c.original == nil {
		return ErrNoOriginal
	}
	v := c.Visit
	v.Record.Label = c.original.Record.Label
	if v.Status == 0 { // the revisit record has no HTTP head
		v.Status, v.ContentType = c.original.Status, c.original.ContentType
	}
	c.refer()
	return nil
}

// referred chooses the original from list. If it is a revisit itself, its original is taken.
func (i *Intake) referred(c *Capture, list []*crawllog.Visit) *crawllog.Visit {
	for _, fits := range []func(*crawllog.Visit) bool{
		func(v *crawllog.Visit) bool { return c.RefersTo != "" && v.Record != nil && v.Record.ID == c.RefersTo },
		func(v *crawllog.Visit) bool { return !c.RefersToDate.IsZero() && v.At.Equal(c.RefersToDate) },
		func(v *crawllog.Visit) bool { return !v.At.After(c.Visit.At) && i.holds(v, c.Visit.Digest) },
	} {
		n := slices.IndexFunc(list, func(v *crawllog.Visit) bool { return v.HasBody() && fits(v) })
		if n < 0 {
			continue
		}
		v := list[n]
		if v.Refers != nil {
			v = i.original(*v.Refers)
		}
		if v != nil && v.Kept == crawllog.KeptResponse {
			return v
		}
	}
	return nil
}

// labelled returns a response of this import with that digest, whatever its URL; nil if there is none.
func (i *Intake) labelled(label string) *crawllog.Visit {
	if label == "" {
		return nil
	}
	for _, c := range i.batch {
		if c.Label == label && c.Visit.Kept == crawllog.KeptResponse {
			return c.Visit
		}
	}
	if ref, ok := i.labels[label]; ok {
		return i.original(ref)
	}
	return nil
}

func (i *Intake) original(ref crawllog.Ref) *crawllog.Visit {
	for _, c := range i.batch {
		if c.of.id == ref.URLID && c.Visit.N == ref.N && ref.URLID != 0 {
			return c.Visit
		}
	}
	v, _ := i.a.Visit(ref)
	return v
}

// holds reports whether the payload of a response has the digest. If its algorithm is not ours, the
// payload of a committed response is read to compute it.
func (i *Intake) holds(v *crawllog.Visit, digest string) bool {
	if v.Digest == digest {
		return true
	}
	if v.URLID == 0 || v.Kept != crawllog.KeptResponse || v.Length > heavyRecord || digest == "" {
		return false
	}
	r, err := i.a.Response(v)
	if err != nil {
		return false
	}
	defer r.Close()
	h := warc.NewLabelled(digest)
	_, err = io.Copy(h, r.Body)
	return err == nil && h.String() == digest
}

// Commit writes the batch and the archive's notes in one transaction.
func (i *Intake) Commit() (err error) {
	defer storage.Guard(&err)()
	for _, c := range i.batch {
		defer c.Done()
	}
	batch := i.batch
	defer func() { i.batch, i.weight = nil, 0; clear(i.placed) }()
	if err := i.encoding.Wait(); err != nil {
		return err
	}
	for _, c := range batch {
		if err := i.write(c); err != nil {
			return err
		}
		if c.of.id != 0 {
			i.mark(c.of.id, weburl.FromCanonical(c.Visit.URL))
		}
		i.state.Count(c.Visit, c.Visit.Class == frontier.Page.String() && c.Visit.Status > 0 && c.Visit.N == 1)
		i.state.Holds = nil // recounted by end
		if i.state.Began.After(c.Visit.At) {
			i.state.Began = c.Visit.At
		}
	}
	if err := i.commitFrontier(); err != nil {
		return err
	}
	for _, c := range batch {
		if c.Label != "" && len(i.labels) < maxLabels && c.Visit.Kept == crawllog.KeptResponse {
			i.labels[strings.Clone(c.Label)] = c.Visit.Ref() // the clone does not keep the record head in memory
		}
	}
	return nil
}

// encode starts to build the records of a capture, GOMAXPROCS at a time, while the next captures are
// read.
func (i *Intake) encode(c *Capture) {
	infoID := i.a.InfoID()
	if infoID == "" || c.Weight > heavyRecord || c.Linked != nil {
		return // there is no segment yet, or the capture is streamed or linked
	}
	i.encoding.Go(func() error {
		c.infoID = infoID
		return c.Records(&c.members, infoID, c.original)
	})
}

func (i *Intake) write(c *Capture) error {
	if r := c.Linked; r != nil {
		r.ID, r.Label = c.Visit.Record.ID, c.Visit.Record.Label
		c.Visit.Record = r
		return i.a.Append(c.Visit, nil)
	}
	return i.a.Append(c.Visit, func(w io.Writer, infoID string) error {
		if c.infoID == infoID {
			_, err := c.members.WriteTo(w)
			return err
		}
		return c.Records(w, infoID, c.original)
	})
}

// Prefixes of notes for replay: robots.txt URLs, which are replayed first, other URLs, and URLs whose
// links are still to be read.
const (
	noteRobots = "read/0/"
	noteURL    = "read/1/"
	noteLinks  = "read/2/"
)

// mark notes that the visits of a URL are to be replayed.
func (i *Intake) mark(id uint64, u weburl.URL) {
	name := noteURL
	if u.Target() == rules.Location {
		name = noteRobots
	}
	i.a.Note(noteName(name, id), true)
}

func noteName(prefix string, id uint64) string { return fmt.Sprintf("%s%016x", prefix, id) }

// Replay processes the responses of all added visits as a rebuild does, and recomputes the totals. Links
// are left to ReadLinks. progress gets the number of URLs done.
func (i *Intake) Replay(ctx context.Context, progress func(urls int)) error {
	i.linksLater = true
	return i.readNoted(ctx, progress, noteRobots, noteURL)
}

// ReadLinks reads the links of imported pages in the archive in dir, if that is still to be done, so
// that a crawl can follow them. urls is the number of URLs read.
func ReadLinks(ctx context.Context, dir string, o crawler.Options) (urls int, err error) {
	a, err := storage.OpenRead(dir)
	if err != nil {
		return 0, nil // the caller's own attempt to open it reports the error
	}
	unread, err := a.NotesFrom(noteLinks, "", 1)
	a.Close()
	if err != nil || len(unread) == 0 {
		return 0, err
	}
	i, err := OpenIntake(dir, o)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, i.Close()) }()
	err = i.readNoted(ctx, func(n int) { urls = n }, noteLinks)
	return urls, err
}

func (i *Intake) readNoted(ctx context.Context, progress func(urls int), prefixes ...string) (err error) {
	defer storage.Guard(&err)()
	n := 0
	for _, prefix := range prefixes {
		for {
			names, err := i.a.NotesFrom(prefix, "", rebuildBatch)
			if err != nil {
				return err
			}
			if len(names) == 0 {
				break
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := i.replayAll(prefix, names); err != nil {
				return err
			}
			n += len(names)
			progress(n)
		}
	}
	return i.end(n)
}

func (i *Intake) replayAll(prefix string, names []string) error {
	var all []*crawllog.Visit
	for _, name := range names {
		var id uint64
		if _, err := fmt.Sscanf(name[len(prefix):], "%x", &id); err != nil {
			return &storage.DamageError{File: "crawl.db", What: "a note of an import cannot be decoded"}
		}
		visits, err := i.a.VisitsOf(id)
		if err != nil {
			return err
		}
		all = append(all, visits...)
	}
	if err := i.visitAll(all); err != nil {
		return err
	}
	i.settle()
	if len(all) > len(names) {
		if err := i.doubt(all); err != nil {
			return err
		}
	}
	for _, name := range names {
		i.a.Note(name, nil)
	}
	for _, v := range all {
		if i.headOnly(v) {
			i.a.Note(noteName(noteLinks, v.URLID), true)
		}
	}
	return i.commit()
}

// doubt marks captures as suspect that a crawl would not accept as the page on a revisit. An import
// brings the captures of a URL in any order, so this is done when all of them are there.
func (i *Intake) doubt(all []*crawllog.Visit) error {
	if err := i.commit(); err != nil { // the loop below reads what this batch wrote
		return err
	}
	isSite := i.reader.Scope().Main
	for _, v := range all {
		if v.N != 1 {
			continue
		}
		visits, err := i.a.VisitsOf(v.URLID)
		if err != nil {
			return err
		}
		own := weburl.FromCanonical(v.URL).Hostname()
		for n, v := range visits {
			if v.Suspect != "" {
				continue
			}
			v.Suspect = revisit.Suspicion(revisit.Good(visits[:n]), v, func(u weburl.URL) bool {
				return u.Hostname() == own || isSite(u)
			})
			if v.Suspect == "" {
				continue
			}
			if err := i.a.Amend(v.Ref(), func(kept *crawllog.Visit) { kept.Suspect = v.Suspect }); err != nil {
				return err
			}
		}
	}
	return nil
}

// end recomputes the totals. urls is the number of URLs that were read.
func (i *Intake) end(urls int) error {
	if err := i.frontier.Advance(); err != nil {
		return err
	}
	if err := i.circles.Recall(i.a.Histories()); err != nil {
		return err
	}
	i.circles.Resolve(i.frontier, i.a.VisitsAt)
	i.frontier.DropOverruled()
	if err := i.state.Recount(i.a, nil); err != nil {
		return err
	}
	i.state.Finished = i.frontier.Counts().Queued() == 0
	if urls > 0 || i.state.Ended == "" { // if nothing was added, keep how the crawl ended
		i.state.Ended, i.state.Ending = "imported", ""
		if i.state.Finished {
			i.state.Ending = "finished"
		}
	}
	return i.commitFrontier()
}
