package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"curtsy/internal/testkit/sitetest"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// writer writes an archive without a crawl.
type writer struct {
	t *testing.T
	a *Archive
	e *warc.Encoder
	n uint64
}

func begun(t *testing.T, dir string, o Options) *writer {
	t.Helper()
	a, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return &writer{t: t, a: a, e: warc.NewEncoder()}
}

// namesIn lists the segments of an archive, oldest first.
func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	d, err := openDirectory(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	names, err := d.segmentNames()
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// page stores a response as a crawl does.
func (w *writer) page(url, body string) {
	w.t.Helper()
	w.n++
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: " + fmt.Sprint(len(body)) + "\r\n\r\n"
	v := &crawllog.Visit{Asked: crawllog.Asked{URLID: w.n, N: 1, URL: url, Class: "page", At: time.Now().UTC()}, Answer: crawllog.Answer{Status: 200}, Stored: crawllog.Stored{Kept: crawllog.KeptResponse, Record: &crawllog.Record{ID: warc.NewID()}}, Payload: crawllog.Payload{Length: int64(len(body)), Digest: warc.Sum("", []byte(body))}}
	err := w.a.Append(v, func(to io.Writer, infoID string) error {
		e := w.e
		block := []byte(head + body)
		h := warc.Header{Type: warc.TypeResponse, ID: v.Record.ID, Date: v.At, TargetURI: url, WarcinfoID: infoID,
			PayloadDigest: v.Digest, BlockDigest: warc.Sum("", block)}
		b := e.Append(nil, &h, warc.Small, block)
		asked := []byte("GET / HTTP/1.1\r\n\r\n")
		b = e.Append(b, &warc.Header{Type: warc.TypeRequest, ID: warc.NewID(), Date: v.At, TargetURI: url,
			WarcinfoID:   infoID,
			ConcurrentTo: v.Record.ID, BlockDigest: warc.Sum("", asked)}, warc.Small, asked)
		fields := []byte("via: http://h/\r\nhopsFromSeed: 3\r\nfetchTimeMs: 17\r\n" +
			`curtsy-visit: {"class":"page","how":"a href"}` + "\r\n")
		_, err := to.Write(e.Append(b, &warc.Header{Type: warc.TypeMetadata, ID: warc.NewID(), Date: v.At,
			TargetURI: url, WarcinfoID: infoID,
			ConcurrentTo: v.Record.ID, BlockDigest: warc.Sum("", fields)}, warc.Small, fields))
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *writer) commit() {
	w.t.Helper()
	if err := w.a.Commit(nil); err != nil {
		w.t.Fatal(err)
	}
}

func (w *writer) close() {
	w.t.Helper()
	if err := w.a.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// five makes an archive of five pages; places are where their records are.
func five(t *testing.T) (dir string, places []crawllog.Record) {
	t.Helper()
	dir = t.TempDir()
	w := begun(t, dir, Options{})
	for i := range 5 {
		w.page(fmt.Sprintf("http://h/%d", i), strings.Repeat(fmt.Sprint("page ", i, " "), 50))
	}
	w.commit()
	if err := sitetest.Each(w.a.Visits(nil),
		func(v *crawllog.Visit) error { places = append(places, *v.Record); return nil }); err != nil {
		t.Fatal(err)
	}
	w.close()
	return dir, places
}

// scanned returns what a rebuild finds in the segments; then may make it fail.
func scanned(t *testing.T, dir string, then func() error) (found []*crawllog.Recovered, lost []string, r *Report) {
	t.Helper()
	var failed error
	_, err := Rebuild(dir, Options{}, func(a *Archive) (err error) {
		r, err = a.Scan(func(c *crawllog.Recovered) error { found = append(found, c); return nil },
			func(url string) { lost = append(lost, url) })
		if err != nil {
			return err
		}
		failed = then()
		return failed
	})
	if err != failed {
		t.Fatal(err)
	}
	return found, lost, r
}

var errKilled = errors.New("killed")

func killed() error { return errKilled }

func TestScanFindsEveryVisitWithWhatItsRecordsSay(t *testing.T) {
	dir, places := five(t)
	if err := os.Remove(filepath.Join(dir, dbName)); err != nil {
		t.Fatal(err)
	}
	found, lost, r := scanned(t, dir, killed)
	if len(found) != 5 || len(lost) != 0 || len(r.Problems) != 0 {
		t.Fatalf("found %d, lost %q, problems %v", len(found), lost, r.Problems)
	}
	for i, c := range found {
		v := c.Visit
		if !reflect.DeepEqual(*v.Record, places[i]) {
			t.Errorf("page %d lies at %+v, want %+v", i, *v.Record, places[i])
		}
		if v.URL != fmt.Sprintf("http://h/%d", i) || v.Status != 200 || v.Kept != crawllog.KeptResponse ||
			v.Length != 350 || v.Took != 17*time.Millisecond {
			t.Errorf("page %d: %+v", i, v)
		}
		if c.Via != "http://h/" || c.Depth != 3 || !c.Noted || c.Note.How != "a href" {
			t.Errorf("page %d was found %+v", i, c)
		}
	}
}

func TestScanPassesOverDamage(t *testing.T) {
	t.Parallel()
	flip := func(at func(p []crawllog.Record) int64) func([]byte, []crawllog.Record) []byte {
		return func(b []byte, p []crawllog.Record) []byte { b[at(p)] ^= 0x55; return b }
	}
	for name, h := range map[string]struct {
		do   func(b []byte, places []crawllog.Record) []byte
		want []string // the pages found
		lost []string // the pages known to be lost
		gaps bool
	}{
		"an octet of a response": {do: flip(func(p []crawllog.Record) int64 { return p[2].Offset + 40 }),
			want: []string{"0", "1", "3", "4"}, gaps: true},
		"the end of a response's member": {do: func(b []byte, p []crawllog.Record) []byte {
			end := bytes.Index(b[p[2].Offset+2:], []byte{0x1f, 0x8b, 8}) + int(p[2].Offset) + 2
			b[end-6] ^= 1 // in the CRC
			return b
		}, want: []string{"0", "1", "3", "4"}, lost: []string{"http://h/2"}, gaps: true},
		"the first octet of a visit": {do: flip(func(p []crawllog.Record) int64 { return p[2].Offset }),
			want: []string{"0", "1", "3", "4"}, gaps: true},
		"the metadata of a visit": {do: flip(func(p []crawllog.Record) int64 { return p[2].Offset + p[2].Length - 3 }),
			want: []string{"0", "1", "2", "3", "4"}, gaps: true},
		"the warcinfo": {do: flip(func([]crawllog.Record) int64 { return 30 }),
			want: []string{"0", "1", "2", "3", "4"}, gaps: true},
		"junk between two visits": {do: func(b []byte, p []crawllog.Record) []byte {
			return slices.Insert(b, int(p[3].Offset), bytes.Repeat([]byte{0x1f, 0x8b, 8, 0}, 1000)...)
		}, want: []string{"0", "1", "2", "3", "4"}, gaps: true},
		"a page of zeros": {do: func(b []byte, p []crawllog.Record) []byte {
			clear(b[p[1].Offset+5 : p[3].Offset+5])
			return b
		}, want: []string{"0", "4"}, gaps: true},
		"a record within what a site sent": {do: func(b []byte, p []crawllog.Record) []byte {
			foreign := b[p[4].Offset : p[4].Offset+p[4].Length]
			h := &warc.Header{Type: warc.TypeResponse, ID: warc.NewID(), WarcinfoID: warc.NewID(),
				TargetURI:     "http://h/forged",
				PayloadDigest: warc.Sum("", nil)}
			forged := warc.NewEncoder().Append(nil, h, warc.Small, []byte("HTTP/1.1 200 OK\r\n\r\n"))
			return slices.Concat(b[:p[4].Offset], []byte("damaged"), forged, []byte("damaged"), foreign)
		}, want: []string{"0", "1", "2", "3", "4"}, gaps: true},
		"a torn end": {do: func(b []byte, p []crawllog.Record) []byte { return b[:p[4].Offset+20] },
			want: []string{"0", "1", "2", "3"}},
		"junk at the end": {do: func(b []byte, p []crawllog.Record) []byte {
			return append(b,
				"what a kill left"...)
		}, want: []string{"0", "1", "2", "3", "4"}},
		"nothing but junk": {do: func(b []byte, p []crawllog.Record) []byte {
			return bytes.Repeat([]byte("junk"),
				1000)
		}},
		"nothing at all":     {do: func(b []byte, p []crawllog.Record) []byte { return nil }},
		"the warcinfo alone": {do: func(b []byte, p []crawllog.Record) []byte { return b[:p[0].Offset] }},
	} {
		t.Run(name, func(t *testing.T) {
			dir, places := five(t)
			path := filepath.Join(dir, warcDir, places[0].Segment)
			b, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, h.do(b, places), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			found, lost, r := scanned(t, dir, killed)
			var got []string
			for _, c := range found {
				got = append(got, strings.TrimPrefix(c.Visit.URL, "http://h/"))
			}
			if !slices.Equal(got, h.want) || h.lost != nil && !slices.Equal(lost, h.lost) {
				t.Errorf("found %q, lost %q, want %q and %q; problems %v", got, lost, h.want, h.lost, r.Problems)
			}
			if h.gaps && len(r.Problems) == 0 {
				t.Errorf("no gap is told; problems %v", r.Problems)
			}
		})
	}
}

func TestRebuildIsInPlaceOnlyWhenItIsFinished(t *testing.T) {
	t.Parallel()
	dir, _ := five(t)
	db := filepath.Join(dir, dbName)
	if err := os.WriteFile(db, []byte("destroyed"), 0o644); err != nil {
		t.Fatal(err)
	}
	scanned(t, dir, killed)
	if b, err := os.ReadFile(db); err != nil || string(b) != "destroyed" {
		t.Fatalf("crawl.db before the end: %q, %v", b, err)
	}
	for n := range 3 {
		scanned(t, dir, func() error { return nil })
		if err := os.WriteFile(db, fmt.Appendf(nil, "again %d", n), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{".damaged": "destroyed", ".damaged-1": "again 0",
		".damaged-2": "again 1"} {
		if b, err := os.ReadFile(db + name); err != nil || string(b) != want {
			t.Errorf("%s is %q, %v, want %q", name, b, err, want)
		}
	}
}

func TestRebuildOfAnArchiveInUseIsRefused(t *testing.T) {
	t.Parallel()
	dir, _ := five(t)
	w := begun(t, dir, Options{})
	defer w.close()
	if _, err := Rebuild(dir, Options{}, nil); !errors.Is(err, ErrInUse) {
		t.Errorf("rebuild beside a crawl: %v, want %v", err, ErrInUse)
	}
}

func TestRebuildThatMeetsDamageGivesTheArchiveBack(t *testing.T) {
	t.Parallel()
	dir, _ := five(t)
	db := filepath.Join(dir, dbName)
	before, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	damage := &DamageError{File: dbName, What: "damaged"}
	var got *DamageError
	if _, err := Rebuild(dir, Options{}, func(*Archive) error { panic(damage) }); !errors.As(err, &got) {
		t.Fatalf("damage met while it fills: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, rebuildName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the new index is left: %v", err)
	}
	if after, err := os.ReadFile(db); err != nil || !bytes.Equal(after, before) {
		t.Errorf("crawl.db is another: %v", err)
	}
	begun(t, dir, Options{}).close() // what only the owner of the lock can do
}

func TestSegmentsTellOfTheirCrawl(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(crawl any, url string) {
		w := begun(t, dir, Options{Crawl: crawl, Operator: "me@example.org"})
		w.page(url, url)
		w.commit()
		w.close()
	}
	says := func(want string, segments int) {
		t.Helper()
		info, ok := LastInfo(dir)
		if !ok || string(info.Crawl) != want || info.Operator != "me@example.org" {
			t.Errorf("the newest segment says %q of %+v, want %q", info.Crawl, info, want)
		}
		if n := len(namesIn(t, dir)); n != segments {
			t.Errorf("%d segments, want %d", n, segments)
		}
	}
	write(map[string]string{"seed": "http://h/"}, "http://h/1")
	says(`{"seed":"http://h/"}`, 1)
	write(map[string]string{"seed": "http://h/"}, "http://h/2") // unchanged: no new segment
	says(`{"seed":"http://h/"}`, 1)
	write(map[string]string{"seed": "http://h/\r\noperator: you"}, "http://h/3") // the line break does not add a field
	says(`{"seed":"http://h/\r\noperator: you"}`, 2)
}

func TestUnknownSegmentsAreRemovedOnlyIfAKillCanHaveLeftThem(t *testing.T) {
	t.Parallel()
	for visits, kept := range map[int]bool{1: false, MaxGroup: false, MaxGroup + 1: true} {
		t.Run(fmt.Sprint(visits), func(t *testing.T) {
			dir, _ := five(t)
			older, err := os.ReadFile(filepath.Join(dir, dbName))
			if err != nil {
				t.Fatal(err)
			}
			w := begun(t, dir, Options{SegmentSize: 1})
			w.n = 5
			w.a.opts.SegmentSize = 1 << 30
			w.a.seg = nil // the next record begins a segment
			for i := range visits {
				w.page(fmt.Sprintf("http://h/new/%d", i), fmt.Sprint(i))
			}
			w.commit()
			w.close()
			names := namesIn(t, dir)
			if err := os.WriteFile(filepath.Join(dir, dbName), older, 0o644); err != nil {
				t.Fatal(err)
			}
			begun(t, dir, Options{}).close()
			_, err = os.Stat(filepath.Join(dir, warcDir, names[1]+".unknown"))
			if len(names) != 2 || kept != (err == nil) || !slices.Equal(namesIn(t, dir), names[:1]) {
				t.Errorf("%v; segments are now %q, they were %q", err, namesIn(t, dir), names)
			}
		})
	}
}

func TestNamesOfSegments(t *testing.T) {
	for name, want := range map[string]string{
		"a-20260101000000-00001.warc.gz":       "a-20260101000000-00001.warc.gz",
		"a-20260101000000-00001-r1.warc.gz":    "a-20260101000000-00001.warc.gz",
		"a-b-20260101000000-00001-r12.warc.gz": "a-b-20260101000000-00001.warc.gz",
		"theirs-r1.warc.gz":                    "theirs-r1.warc.gz",
	} {
		if got := stem(name); got != want {
			t.Errorf("stem of %s is %s, want %s", name, got, want)
		}
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, warcDir), 0o755); err != nil {
		t.Fatal(err)
	}
	want := []string{"z-20250101000000-00000.warc.gz", "a-20260101000000-00000-r1.warc.gz",
		"a-20260101000000-00001.warc.gz", "b-20260201000000-00002.warc.gz"}
	for _, name := range append(want, "theirs.warc.gz", want[0]+".unknown") {
		if err := os.WriteFile(filepath.Join(dir, warcDir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := namesIn(t, dir); !slices.Equal(got, want) {
		t.Errorf("segments %q, want %q", got, want)
	}
}

// A repair also fixes damage beyond what a report lists.
func TestRepairIsNotBoundByTheReport(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes too long for -short")
	}
	dir := t.TempDir()
	w := begun(t, dir, Options{})
	const visits = maxProblems + 50
	for i := range visits {
		w.page(fmt.Sprintf("http://h/%d", i), fmt.Sprint("page ", i))
	}
	w.commit()
	w.close()
	if err := os.Remove(filepath.Join(dir, warcDir, namesIn(t, dir)[0])); err != nil {
		t.Fatal(err)
	}
	a, err := Open(dir, Options{Mend: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	r, err := a.Verify(nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Damaged) != visits || len(r.Problems) != maxProblems {
		t.Fatalf("%d visits are damaged, %d problems listed", len(r.Damaged), len(r.Problems))
	}
	if _, err := a.Salvage(r.Damaged, nil); err != nil {
		t.Fatal(err)
	}
	if r, err = a.Verify(nil); err != nil || len(r.Problems) > 0 || r.Visits > 0 {
		t.Errorf("%v: %d visits, problems %v", err, r.Visits, r.Problems)
	}
}

func TestVisitsHaveKeysOfTheirOwn(t *testing.T) {
	for _, r := range []crawllog.Ref{{URLID: 7, N: 1}, {URLID: 7, N: 1 << 16}, {URLID: 7, N: 1<<16 + 1},
		{URLID: 1 << 40, N: 1}} {
		if got := crawllog.RefOf(r.Key()); got != r {
			t.Errorf("%v is read back as %v", r, got)
		}
	}
}
