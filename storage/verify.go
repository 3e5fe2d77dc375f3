package storage

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync/atomic"

	"go.etcd.io/bbolt"
	"golang.org/x/sync/errgroup"

	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// Report is the result of Verify.
type Report struct {
	Segments int           `json:"segments"`
	Records  int           `json:"records"`
	Visits   int           `json:"visits"`
	Bytes    int64         `json:"bytes"`
	Problems []DamageError `json:"problems"`            // at most maxProblems
	Live     bool          `json:"live,omitempty"`      // last commit of a running crawl; pages of crawl.db not checked
	InFlight int64         `json:"in_flight,omitempty"` // octets after the last commit, which the next crawl truncates
	Facts    int           `json:"facts,omitempty"`     // pages without stored facts, which are computed when needed
	SetAside []string      `json:"aside,omitempty"`     // files that Open or a rebuild renamed; not read any more
	// Damaged are the visits with problems, listed or not, and those that refer to them for their
	// payload.
	Damaged []crawllog.Ref `json:"-"`
}

// maxProblems bounds the list of a report.
const maxProblems = 10000

func (r *Report) add(p DamageError) {
	if p.Visit != nil {
		r.Damaged = append(r.Damaged, *p.Visit)
	}
	if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, p)
	}
}

// index adds a problem of crawl.db as a whole.
func (r *Report) index(what string) { r.add(DamageError{File: dbName, Offset: -1, What: what}) }

// extent is the location of the records of a visit.
type extent struct {
	offset, length int64
	ref            crawllog.Ref
}

// Verify compares crawl.db, records and digests: the records of every visit must be where crawl.db says, match
// it and their digests, and there must be nothing between them. progress, if not nil, is called with the
// octets read and their total.
func (a *Archive) Verify(progress func(read, of int64)) (r *Report, err error) {
	defer Guard(&err)()
	r = &Report{}
	r.Live = a.IsLive()
	if sound, err := a.verifyPages(r); err != nil || !sound {
		return r, err
	}
	if err := a.verifyDB(r); err != nil {
		return r, err
	}
	if err := a.verifyEntries(r); err != nil {
		return r, err
	}
	segments, extents, err := a.layout(r)
	if err != nil {
		return r, err
	}
	if !r.Live {
		err = a.behind(r, segments)
	}
	if err != nil {
		return r, err
	}
	v := &verifier{a: a, r: r, progress: progress}
	for _, e := range segments {
		v.of += e.Size
	}
	for _, name := range slices.Sorted(maps.Keys(segments)) {
		r.Segments++
		v.name = name
		if err := v.segment(segments[name], extents[name]); err != nil {
			return r, err
		}
		delete(extents, name)
	}
	for _, name := range slices.Sorted(maps.Keys(extents)) {
		if IsLink(name) {
			if err := v.verifyLink(name, extents[name]); err != nil {
				return r, err
			}
			delete(extents, name)
		}
	}
	r.SetAside = a.dir.asides()
	for name, lost := range extents {
		for _, e := range lost {
			r.add(DamageError{File: segmentFile(name), Offset: e.offset,
				What: "a visit is in a segment unknown to crawl.db", Visit: &e.ref})
		}
	}
	return r, a.verifyFurther(r)
}

// verifyFurther adds visits that refer to damaged ones to these, and counts the pages without stored facts.
func (a *Archive) verifyFurther(r *Report) error {
	bad := setOf(r.Damaged)
	err := a.eachVisit(func(_ crawllog.Ref, v *crawllog.Visit, err error) error {
		if err != nil {
			return nil // reported elsewhere
		}
		if v.Refers != nil && bad[*v.Refers] {
			bad[v.Ref()] = true
		}
		if v.Links == 0 || v.Status < 200 || v.Status > 299 {
			return nil
		}
		if k, ok := factKeyOf(v); ok && a.factsAt(k) == nil {
			r.Facts++
		}
		return nil
	})
	r.Damaged = slices.SortedFunc(maps.Keys(bad),
		func(x, y crawllog.Ref) int { return bytes.Compare(x.Key(), y.Key()) })
	return err
}

// behind reports data after the last commit: it was in flight, and the next crawl removes it; more than that
// is a problem.
func (a *Archive) behind(r *Report, known map[string]segmentEntry) error {
	var damage *DamageError
	if err := a.newest(known); errors.As(err, &damage) {
		r.index(damage.What)
	} else if err != nil {
		return err
	}
	names, err := a.dir.segmentNames()
	for _, name := range names {
		st, err := a.dir.stat(segmentFile(name))
		if err != nil {
			continue // it has been removed meanwhile
		}
		if _, ok := known[name]; !ok {
			r.InFlight += st.Size()
		}
	}
	return err
}

// verifyPages checks the file crawl.db, except while a crawl writes it.
func (a *Archive) verifyPages(r *Report) (sound bool, err error) {
	if r.Live {
		return true, nil
	}
	if err := a.dir.metas(); IsDisk(err) {
		return false, err
	} else if err != nil {
		r.index(err.Error())
	}
	if err := a.dir.checkStructure(dbName); IsDisk(err) {
		return false, err
	} else if err != nil {
		r.index(err.Error())
		return false, nil
	}
	return true, nil
}

func (a *Archive) verifyDB(r *Report) (err error) {
	defer Guard(&err)()
	return a.view(func(tx *bbolt.Tx) error {
		// Check reads in a goroutine of its own, which Guard does not cover.
		if err := tx.ForEach(func(_ []byte, b *bbolt.Bucket) error { return walk(b) }); err != nil {
			return err
		}
		if r.Live {
			return nil
		}
		for e := range tx.Check() {
			r.index(e.Error())
		}
		return nil
	})
}

// walk reads every key and value.
func walk(b *bbolt.Bucket) error {
	h := crc32.NewIEEE()
	return b.ForEach(func(k, v []byte) error {
		h.Write(k)
		h.Write(v)
		if v == nil {
			return walk(b.Bucket(k))
		}
		return nil
	})
}

// layout returns the segments, and for each the extents of its visits, sorted by offset.
func (a *Archive) layout(r *Report) (map[string]segmentEntry, map[string][]extent, error) {
	segments, err := a.segments()
	if err != nil {
		return nil, nil, err
	}
	extents := map[string][]extent{}
	err = a.eachVisit(func(ref crawllog.Ref, v *crawllog.Visit, err error) error {
		if err != nil {
			r.add(DamageError{File: dbName, Offset: -1, What: "a visit cannot be decoded", Visit: &ref})
			return nil
		}
		r.Visits++
		if v.Record != nil {
			extents[v.Record.Segment] = append(extents[v.Record.Segment],
				extent{v.Record.Offset, v.Record.Length, v.Ref()})
		}
		return nil
	})
	for _, list := range extents {
		slices.SortFunc(list, byOffset)
	}
	return segments, extents, err
}

// byOffset orders extents; the difference of offsets may overflow an int.
func byOffset(a, b extent) int { return cmp.Compare(a.offset, b.offset) }

// verifier checks one segment after another.
type verifier struct {
	a        *Archive
	r        *Report
	name     string // name of the segment
	file     *os.File
	progress func(read, of int64)
	read, of int64
}

func (v *verifier) problem(offset int64, visit *crawllog.Visit, what string) {
	p := DamageError{File: segmentFile(v.name), Offset: offset, What: what}
	if visit != nil {
		ref := visit.Ref()
		p.URL, p.Visit = visit.URL, &ref
	}
	v.r.add(p)
}

// segment checks one segment. If it cannot be opened or read at present, for lack of descriptors or
// permissions or because the disk fails, that is an error and not damage: a repair would discard intact
// data.
func (v *verifier) segment(e segmentEntry, list []extent) error {
	f, err := v.a.dir.open(segmentFile(v.name))
	if os.IsNotExist(err) {
		v.problem(-1, nil, err.Error())
		v.all(list, "its segment cannot be read")
		v.read += e.Size
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	v.file = f
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if st.Size() > e.Size && !v.r.Live {
		v.r.InFlight += st.Size() - e.Size
	} else if st.Size() < e.Size {
		v.problem(-1, nil, fmt.Sprintf("%d bytes, %d are committed", st.Size(), e.Size))
	}
	v.r.Bytes += e.Size
	end, err := v.info(list, e)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(list, 512) {
		shown, err := v.checkAll(some)
		if err != nil {
			return err
		}
		for i, x := range some {
			end = v.place(x, shown[i], end)
		}
		if v.progress != nil {
			v.progress(v.read+end, v.of)
		}
	}
	v.read += e.Size
	if end != e.Size {
		v.problem(end, nil, fmt.Sprintf("%d bytes at the end that belong to no visit", e.Size-end))
	}
	return nil
}

// checked is the result of reading the records of a visit.
type checked struct {
	visit   *crawllog.Visit // nil: its entry cannot be decoded
	records int
	err     error // what is wrong with its records
}

// checkAll reads the records of many visits, GOMAXPROCS at a time: decompression and digests are slower than
// the disk.
func (v *verifier) checkAll(list []extent) ([]checked, error) {
	shown := make([]checked, len(list))
	var next atomic.Int64
	var workers errgroup.Group
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() (err error) {
			defer Guard(&err)()
			for i := next.Add(1) - 1; i < int64(len(list)); i = next.Add(1) - 1 {
				shown[i] = v.check(list[i].ref)
				if IsDisk(shown[i].err) {
					return fmt.Errorf("%s: %w", v.name, shown[i].err)
				}
			}
			return nil
		})
	}
	return shown, workers.Wait()
}

func (v *verifier) check(ref crawllog.Ref) (c checked) {
	visit, err := v.a.Visit(ref)
	if err != nil || visit == nil {
		return c
	}
	c.visit = visit
	w, free := readerOf(v.file, visit.Record.Offset, visit.Record.Length, IsLink(v.name))
	defer free()
	c.records, c.err = checkVisit(w, visit)
	for _, x := range visit.Record.Beside {
		if c.err != nil {
			break
		}
		w.Reset(io.NewSectionReader(v.file, x.Offset, x.Length), x.Offset)
		h, err := w.Next()
		if c.err = err; err == nil {
			c.err = checkRecord(w, h, visit)
		}
		c.records++
	}
	return c
}

// place reports what is wrong with a visit and before it, where from is the end of the previous one, and
// returns where its records end.
func (v *verifier) place(x extent, c checked, from int64) (end int64) {
	v.r.Records += c.records
	if c.visit == nil {
		v.problem(x.offset, nil, "its visit cannot be decoded")
		return from
	}
	if x.offset > from {
		v.problem(from, nil, fmt.Sprintf("%d bytes that belong to no visit", x.offset-from))
	} else if x.offset < from {
		v.problem(x.offset, c.visit, fmt.Sprintf("%d bytes that belong to two visits", from-x.offset))
	}
	if c.err != nil {
		v.problem(x.offset, c.visit, c.err.Error())
	}
	return x.offset + x.length
}

func (v *verifier) all(list []extent, what string) {
	for _, x := range list {
		visit, _ := v.a.Visit(x.ref)
		v.problem(x.offset, visit, what)
	}
}

// info checks the warcinfo record and returns where it ends.
func (v *verifier) info(list []extent, e segmentEntry) (int64, error) {
	end := e.Size
	if len(list) > 0 {
		end = list[0].offset
	}
	w := warc.NewReader(io.NewSectionReader(v.file, 0, end), 0)
	h, err := w.Next()
	if err == nil {
		err = w.Finish()
	}
	if IsDisk(err) {
		return end, fmt.Errorf("%s: %w", v.name, err)
	}
	if err != nil || h.Type != warc.TypeInfo {
		v.problem(0, nil, fmt.Sprintf("does not begin with a warcinfo record: %v", err))
	} else if h.ID != e.InfoID {
		v.problem(0, nil, "begins with a different warcinfo record than crawl.db says")
	}
	v.r.Records++
	return end, nil
}

// checkVisit checks the records of one visit, and returns how many it read.
func checkVisit(w *warc.Reader, visit *crawllog.Visit) (n int, err error) {
	for ; ; n++ {
		h, err := w.Next()
		if err == io.EOF && n > 0 {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if n == 0 && h.ID != visit.Record.ID {
			return n + 1, fmt.Errorf("found record %s instead of %s", h.ID, visit.Record.ID)
		}
		if h.TargetURI != visit.URL && !IsLink(visit.Record.Segment) {
			return n + 1, fmt.Errorf("a record of %s", h.TargetURI)
		}
		if err := checkRecord(w, h, visit); err != nil {
			return n + 1, err
		}
	}
}

func checkRecord(w *warc.Reader, h *warc.Header, visit *crawllog.Visit) error {
	return readBlock(w, h, func(block io.Reader) error {
		if h.Type != warc.TypeResponse {
			return nil
		}
		return checkPayload(block, h, visit)
	})
}

// readBlock reads a record to its end, after read has read what it needs, and checks its block digest and
// checksum.
func readBlock(w *warc.Reader, h *warc.Header, read func(block io.Reader) error) error {
	block := warc.NewLabelled(h.BlockDigest)
	tee := io.TeeReader(w, block)
	if err := read(tee); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, tee); err != nil {
		return err
	}
	if err := w.Finish(); err != nil {
		return err
	}
	if got := block.String(); h.BlockDigest != "" && got != h.BlockDigest {
		return fmt.Errorf("%s record: block digest is %s, the record says %s", h.Type, got, h.BlockDigest)
	}
	return nil
}

var errPayload = errors.New("payload digest differs")

func checkPayload(block io.Reader, h *warc.Header, visit *crawllog.Visit) error {
	label := h.PayloadDigest
	if label == "" && IsLink(visit.Record.Segment) {
		label = visit.Digest
	}
	if label == "" {
		return nil
	}
	resp, err := readHTTP(block)
	if err != nil {
		return nil // a head that cannot be parsed; the block digest still protects it
	}
	own, labelled, n, err := warc.SumBoth(resp.Body, label)
	if err != nil && visit.Truncated == "" {
		return err
	}
	if n != visit.Length || labelled.String() != label {
		return fmt.Errorf("%w: %d bytes, %s; the record says %d bytes, %s", errPayload, n, labelled,
			visit.Length, label)
	}
	if own.String() != visit.Digest && label != visit.Digest { // archives of schema 5 may have only SHA-1
		return fmt.Errorf("%w: %s; crawl.db says %s", errPayload, own, visit.Digest)
	}
	return nil
}

// discard removes visits from crawl.db, in the caller's transaction. Their records stay until rewrite.
func discard(tx *bbolt.Tx, bad map[crawllog.Ref]bool) error {
	visits, digests := tx.Bucket(bucketVisits), tx.Bucket(bucketDigests)
	for ref := range bad {
		v, err := getVisit(tx, ref)
		if err == nil && v != nil {
			if d := digestKey(v.Digest); d != nil && bytes.Equal(digests.Get(d), ref.Key()) {
				if err := digests.Delete(d); err != nil {
					return err
				}
			}
		}
		if err := visits.Delete(ref.Key()); err != nil {
			return err
		}
	}
	return nil
}
