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
	"sync"
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

// Intake adds captures that others made to an archive: of each a visit, as a rebuild
// makes one of what the segments hold, and then, as a rebuild does, what the visits
// say (Replay). A kill leaves what was committed, and what is to be replayed is noted.
type Intake struct {
	*rebuilder
	group  []*Capture // taken, and not yet written
	weight int64
	notes  map[string]any
	fresh  map[uint64]bool         // URLs of the group whose visits are to be read
	labels map[string]crawllog.Ref // committed responses by Capture.Label, maxLabels of them

	encoding *errgroup.Group
}

// Capture is a capture of somebody else's, with its records as they will be written.
type Capture struct {
	*crawllog.Recovered
	// Refers names the response whose payload a revisit shares, if it is known so;
	// else it is looked for by RefersTo and RefersToURI.
	RefersToDate time.Time
	// Records writes the records, to name infoID: v.Record.ID is that of the first.
	// original is what a revisit refers to.
	Records func(w io.Writer, infoID string, original *crawllog.Visit) error
	Linked  *crawllog.Record // where they lie in a linked file; nil: they are to be written
	Label   string           // the payload's digest as others have it, by which revisits may name it
	Weight  int64            // octets of memory that it holds
	Done    func()           // it is written, or was refused

	of       *met
	original *crawllog.Visit
	members  *bytes.Buffer
	infoID   string
}

// Errors of Add.
var (
	ErrKnown      = errors.New("this capture is in the archive already")
	ErrNoOriginal = errors.New("the record that it refers to is not in the archive")
)

const (
	maxIntake   = storage.MaxGroup - 32 // captures of a group
	heavyIntake = 24 << 20              // octets of a group from which on it is written
	heavyRecord = 8 << 20               // octets of a capture that is compressed straight to the segment
	maxLabels   = 1 << 19               // digests that are remembered
)

// OpenIntake opens the archive in dir, or begins one whose seed is o.Seed, to add to it.
func OpenIntake(dir string, o crawler.Options) (i *Intake, err error) {
	defer storage.Guard(&err)()
	o = o.WithDefaults()
	o.Archive.Crawl = crawler.SegmentInfo{Seed: o.Seed.String(), Settings: o.Public}
	o.Traps.SoftNotFound = 0
	o.GuessSitemap, o.UsageFiles = false, false // the next visit to the site asks for these
	a, err := storage.Open(dir, o.Archive)
	if err != nil {
		return nil, err
	}
	b, err := newRebuilder(a, o)
	if err == nil {
		i = &Intake{rebuilder: b, notes: map[string]any{}, fresh: map[uint64]bool{}, labels: map[string]crawllog.Ref{},
			encoding: &errgroup.Group{}}
		_ = i.encoded()
		err = i.begin()
	}
	if err != nil {
		a.Close()
		return nil, err
	}
	return i, nil
}

// begin takes in what an archive that is there says of its crawl.
func (i *Intake) begin() error {
	settings := i.state.Settings // the caller's: those of an archive are not read into them
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

// Archive is what is added to.
func (i *Intake) Archive() *storage.Archive { return i.a }

// Known says whether the archive has captures of a URL.
func (i *Intake) Known(u weburl.URL) bool {
	k, ok := i.find(u.String())
	return ok && k.visits > 0
}

// Glance looks at a response. Of the payload the beginning is enough to learn what forbids
// keeping it.
func (i *Intake) Glance(u weburl.URL, at time.Time, head, payload []byte) visit.Glance {
	x, err := i.client.Replay(u, at, head, payload)
	if err != nil {
		return visit.Glance{}
	}
	defer x.Release()
	return i.reader.Glance(u, x)
}

// Close gives the archive free. What was not committed is dropped.
func (i *Intake) Close() error {
	_ = i.encoded()
	i.client.Close()
	for _, c := range i.group {
		c.Done()
	}
	return i.a.Close()
}

// Add takes a capture. It is kept once Commit has returned. ErrKnown and ErrNoOriginal
// say why it is not taken, and are no failure of the archive.
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
	i.group, i.weight = append(i.group, c), i.weight+c.Weight
	i.encode(c)
	if len(i.group) >= maxIntake || i.weight > heavyIntake {
		return i.Commit()
	}
	return nil
}

// placedAt hears of the ids of new URLs within a commit, before their visits are written.
func (i *Intake) placedAt(id uint64, u weburl.URL) {
	k := i.placed[u.String()]
	if k == nil || k.id != 0 {
		return
	}
	k.id = id
	for _, c := range i.group {
		if c.of == k {
			c.Visit.URLID = id
		}
	}
	for _, c := range i.group {
		if c.original != nil && c.original.URLID == id {
			ref := c.original.Ref()
			c.Visit.Refers = &ref
		}
	}
	i.mark(id, u)
}

// had says whether the same record was taken before.
func (i *Intake) had(k *met, c *Capture) bool {
	for _, other := range i.group {
		if other.of == k && other.Visit.Record.ID == c.Visit.Record.ID {
			return true
		}
	}
	visits, _ := i.a.VisitsOf(k.id)
	return slices.ContainsFunc(visits, func(v *crawllog.Visit) bool {
		return v.Record != nil &&
			v.Record.ID == c.Visit.Record.ID
	})
}

// resolve finds the response that holds the payload of a revisit: by the id of its
// record, by URL and date, or by its digest among the captures of its URL.
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
		for _, other := range i.group {
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
	v, ref := c.Visit, c.original.Ref()
	v.Refers, v.Digest, v.Record.Label = &ref, c.original.Digest, c.original.Record.Label
	if v.Status == 0 { // its record has no head
		v.Status, v.ContentType = c.original.Status, c.original.ContentType
	}
	if v.Status != 304 {
		v.Length = c.original.Length
	}
	return nil
}

// referred chooses among visits. A revisit of a revisit is one of its original.
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

// labelled is a response of this import with that digest, of any URL.
func (i *Intake) labelled(label string) *crawllog.Visit {
	if label == "" {
		return nil
	}
	for _, c := range i.group {
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
	for _, c := range i.group {
		if c.of.id == ref.URLID && c.Visit.N == ref.N && ref.URLID != 0 {
			return c.Visit
		}
	}
	v, _ := i.a.Visit(ref)
	return v
}

// holds says whether a committed response has the payload with a digest, which may be of
// an algorithm that a visit does not have.
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

// Note makes a note of the caller's part of the next commit.
func (i *Intake) Note(name string, value any) { i.notes[name] = value }

// Commit writes what was taken, with all that was noted, or nothing.
func (i *Intake) Commit() (err error) {
	defer storage.Guard(&err)()
	for _, c := range i.group {
		defer c.Done()
	}
	group := i.group
	defer func() { i.group, i.weight = nil, 0; clear(i.placed); clear(i.fresh) }()
	if err := i.encoded(); err != nil {
		return err
	}
	for _, c := range group {
		if err := i.write(c); err != nil {
			return err
		}
		if c.of.id != 0 {
			i.mark(c.of.id, weburl.FromCanonical(c.Visit.URL))
		}
		i.state.Count(c.Visit, c.Visit.Class == frontier.Page.String() && c.Visit.Status > 0 && c.Visit.N == 1)
		i.state.Holds = nil // until all is read
		if i.state.Began.After(c.Visit.At) {
			i.state.Began = c.Visit.At
		}
	}
	for name, value := range i.notes {
		if err := i.a.Note(name, value); err != nil {
			return err
		}
	}
	clear(i.notes)
	if err := i.commitFrontier(); err != nil {
		return err
	}
	for _, c := range group {
		if c.Label != "" && len(i.labels) < maxLabels && c.Visit.Kept == crawllog.KeptResponse {
			i.labels[strings.Clone(c.Label)] = c.Visit.Ref() // not the record head that it is of
		}
	}
	return nil
}

// encode begins to make the records of a capture, as many at a time as there are
// processors, while the next ones are read.
func (i *Intake) encode(c *Capture) {
	infoID := i.a.InfoID()
	if infoID == "" || c.Weight > heavyRecord || c.Linked != nil {
		return // the first segment is not there yet, or it is streamed
	}
	i.encoding.Go(func() error {
		b, _ := members.Get().(*bytes.Buffer)
		if b == nil {
			b = &bytes.Buffer{}
		}
		b.Reset()
		err := c.Records(b, infoID, c.original)
		c.members, c.infoID = b, infoID
		return err
	})
}

// encoded waits for what encode began.
func (i *Intake) encoded() error {
	err := i.encoding.Wait()
	i.encoding = &errgroup.Group{}
	i.encoding.SetLimit(runtime.GOMAXPROCS(0))
	return err
}

// members are buffers of records that were written.
var members sync.Pool

const mostPooled = 128 << 10 // a large one for a small record would be a waste

func (i *Intake) write(c *Capture) error {
	if r := c.Linked; r != nil {
		r.ID, r.Label = c.Visit.Record.ID, c.Visit.Record.Label
		c.Visit.Record = r
		return i.a.Append(c.Visit, nil)
	}
	return i.a.Append(c.Visit, func(w io.Writer, infoID string) error {
		if c.infoID == infoID {
			_, err := w.Write(c.members.Bytes())
			if c.members.Cap() <= mostPooled {
				members.Put(c.members)
			}
			c.members = nil
			return err
		}
		return c.Records(w, infoID, c.original)
	})
}

// Names of notes: of URLs whose visits are to be read, robots.txt before all others, and
// of those whose links are.
const (
	noteRobots = "read/0/"
	noteURL    = "read/1/"
	noteLinks  = "read/2/"
)

// mark notes that the visits of a URL are to be read.
func (i *Intake) mark(id uint64, u weburl.URL) {
	if i.fresh[id] {
		return
	}
	i.fresh[id] = true
	name := noteURL
	if u.Target() == rules.Location {
		name = noteRobots
	}
	_ = i.a.Note(noteName(name, id), true) // of a bool, which is no error
}

func noteName(prefix string, id uint64) string { return fmt.Sprintf("%s%016x", prefix, id) }

// Replay reads every visit that was added, as a rebuild does, and makes the totals right.
// Links are left to ReadLinks. progress is told how many URLs were read.
func (i *Intake) Replay(ctx context.Context, progress func(urls int)) error {
	i.linksLater = true
	return i.readNoted(ctx, progress, noteRobots, noteURL)
}

// ReadLinks reads the links of what was imported to the archive in dir, if that was not
// done, so that a crawl goes on with them. It says of how many URLs.
func ReadLinks(ctx context.Context, dir string, o crawler.Options) (urls int, err error) {
	a, err := storage.OpenRead(dir)
	if err != nil {
		return 0, nil // whoever opens it to write says why
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
		if err := i.a.Note(name, nil); err != nil {
			return err
		}
	}
	for _, v := range all {
		if i.headOnly(v) {
			_ = i.a.Note(noteName(noteLinks, v.URLID), true)
		}
	}
	return i.commit()
}

// doubt marks captures that are not taken for their page, as a crawl does that visits it again: the
// files of an import bring them in any order, so that it is known when all of a URL are there.
func (i *Intake) doubt(all []*crawllog.Visit) error {
	if err := i.commit(); err != nil { // so that what was read of them now is there
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

// end brings the totals up to date; urls are those of which something was read.
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
	if urls > 0 || i.state.Ended == "" { // a crawl to which nothing was added ended as it did
		i.state.Ended, i.state.Ending = "imported", ""
		if i.state.Finished {
			i.state.Ending = "finished"
		}
	}
	return i.commitFrontier()
}
