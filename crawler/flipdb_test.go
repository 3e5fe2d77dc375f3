package crawler_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"curtsy/crawler"
	"curtsy/crawler/explain"
	"curtsy/crawler/rebuild"
	"curtsy/crawler/verify"
	"curtsy/internal/testkit/sitetest"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// pages parses the pages of a bbolt file by its documented format.
type pages struct {
	b     []byte
	kinds map[string][]int64 // offsets by the kind of datum there
	used  map[uint64]bool
}

const dbPage = 4096

func (p *pages) add(kind string, at int64) { p.kinds[kind] = append(p.kinds[kind], at) }

func (p *pages) u64(at int64) uint64 { return binary.LittleEndian.Uint64(p.b[at:]) }
func (p *pages) u32(at int64) int64  { return int64(binary.LittleEndian.Uint32(p.b[at:])) }
func (p *pages) u16(at int64) int64  { return int64(binary.LittleEndian.Uint16(p.b[at:])) }

// offsets returns offsets in crawl.db by kind.
func offsets(t *testing.T, path string) map[string][]int64 {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := &pages{b: b, kinds: map[string][]int64{}, used: map[uint64]bool{0: true, 1: true}}
	newest := int64(0)
	if p.u64(dbPage+64) > p.u64(64) { // the transaction id
		newest = 1
	}
	for name, at := range map[string]int64{"magic": 16, "version": 20, "page size": 24, "root": 32, "freelist": 48,
		"size": 56, "transaction": 64, "sum": 72} {
		p.add("newest meta page, "+name, newest*dbPage+at)
		p.add("other meta page, "+name, (1-newest)*dbPage+at)
	}
	meta := newest * dbPage
	free := p.u64(meta + 48)
	p.used[free] = true
	p.header("freelist page", int64(free))
	p.add("freelist page, entry", int64(free)*dbPage+16)
	p.tree("root", p.u64(meta+32))
	for id := uint64(2); int64(id) < int64(p.u64(meta+56)); id++ {
		if !p.used[id] && len(p.kinds["free page"]) < 2 {
			p.add("free page", int64(id)*dbPage+100)
		}
	}
	return p.kinds
}

func (p *pages) header(kind string, id int64) {
	for name, at := range map[string]int64{"id": 0, "kind": 8, "count": 10, "overflow": 12} {
		p.add(kind+", "+name, id*dbPage+at)
	}
}

// tree walks the pages of a bucket.
func (p *pages) tree(bucket string, id uint64) {
	at := int64(id) * dbPage
	for i := range uint64(p.u32(at+12)) + 1 {
		p.used[id+i] = true
	}
	if p.u16(at+8) == 2 {
		p.header("leaf page of "+bucket, int64(id))
		p.leaf(bucket, at)
		return
	}
	p.header("branch page of "+bucket, int64(id))
	for i := range p.u16(at + 10) {
		e := at + 16 + 16*i
		for name, off := range map[string]int64{"position": 0, "key size": 4, "page": 8} {
			p.add("branch element of "+bucket+", "+name, e+off)
		}
		p.add("branch key of "+bucket, e+p.u32(e)+p.u32(e+4)-1)
		p.tree(bucket, p.u64(e+8))
	}
}

func (p *pages) leaf(bucket string, at int64) {
	for i := range p.u16(at + 10) {
		e := at + 16 + 16*i
		for name, off := range map[string]int64{"flags": 0, "position": 4, "key size": 8, "value size": 12} {
			p.add("leaf element of "+bucket+", "+name, e+off)
		}
		key := e + p.u32(e+4)
		value := key + p.u32(e+8)
		name := string(p.b[key:value])
		size := p.u32(e + 12)
		p.add("key in "+bucket, value-1)
		switch {
		case p.u32(e) == 0: // not a bucket
			if size > 0 {
				p.add("value in "+bucket+", first octet", value)
				p.add("value in "+bucket+", middle", value+size/2)
				p.add("value in "+bucket+", last octet", value+size-1)
			}
		case p.u64(value) == 0:
			p.add("inline bucket "+name+", root", value)
			p.add("inline bucket "+name+", count", value+16+10)
			p.leaf(name, value+16)
		default:
			p.add("bucket "+name+", root", value)
			p.tree(name, p.u64(value))
		}
	}
}

// some returns the middle offset of a list; with CURTSY_TEST_FLIPS=more the first and the last too.
func some(list []int64) []int64 {
	if os.Getenv("CURTSY_TEST_FLIPS") != "more" {
		return list[len(list)/2:][:1]
	}
	if len(list) <= 3 {
		return list
	}
	return []int64{list[0], list[len(list)/2], list[len(list)-1]}
}

// everythingTold reads all visits and URL rows of an archive.
func everythingTold(dir string) (visits []crawllog.Visit, rows []explain.Row, err error) {
	defer storage.Guard(&err)()
	a, err := storage.OpenRead(dir)
	if err != nil {
		return nil, nil, err
	}
	err = sitetest.Each(a.Visits(nil), func(v *crawllog.Visit) error { visits = append(visits, *v); return nil })
	a.Close()
	if err == nil {
		rows, err = explain.List(dir)
	}
	return visits, rows, err
}

// One flipped octet of every kind in crawl.db. Either verify reports it; then no segment is changed,
// the index is rebuilt from the segments, and resume requests nothing that they hold. Or the archive
// reads exactly as before, and the crawl is as finished as before.
func TestFlippedOctetsInTheDatabase(t *testing.T) {
	t.Parallel()
	long(t)
	s := small(t)
	s.pages["/late"] = failing(2, 500, "", html("late"))
	s.pages["/"] = links(append([]string{"/late", "/private"}, pagesOf(s)...)...)
	base := crawled(t, s)
	was, wasRows, err := everythingTold(base)
	if err != nil {
		t.Fatal(err)
	}
	named, repaired, silent := 0, 0, map[string]int{}
	for kind, list := range offsets(t, filepath.Join(base, "crawl.db")) {
		for i, at := range some(list) {
			if !chosen(fmt.Sprint(kind, i)) {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", kind, i), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "archive")
				if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
					t.Fatal(err)
				}
				flip(t, filepath.Join(dir, "crawl.db"), at)
				before := sum(t, dir)
				report, err := verify.Archive(dir, nil)
				if err == nil && len(report.Problems) == 0 {
					silent[kind]++
					unchanged(t, dir, s, was, wasRows)
					return
				}
				named++
				if sum(t, dir) != before {
					t.Error("verify changed segments of a damaged archive")
				}
				if restored(t, dir, s) {
					repaired++
				}
			})
		}
	}
	t.Logf("%d flips were named, %d of them repaired; those that do not matter: %v", named, repaired, silent)
}

func pagesOf(s *site) (list []string) {
	for target := range s.pages {
		if target != "/" && target != "/robots.txt" {
			list = append(list, target)
		}
	}
	return list
}

// unchanged checks that an archive reads as it did before.
func unchanged(t *testing.T, dir string, s *site, was []crawllog.Visit, wasRows []explain.Row) {
	t.Helper()
	visits, rows, err := everythingTold(dir)
	if err != nil || !reflect.DeepEqual(visits, was) || !reflect.DeepEqual(rows, wasRows) {
		t.Errorf("verify finds nothing, and the archive tells otherwise: %v", err)
	}
	asked := len(s.requests())
	if r := crawl(t, dir, options(s.URL+"/")); r.Ending != crawler.Done || len(s.requests()) != asked {
		t.Errorf("resume: %v, asked for %q", r.Ending, s.requests()[asked:])
	}
}

// restored reports whether an archive could be restored; it then checks that the archive is valid and
// that nothing kept is requested again.
func restored(t *testing.T, dir string, s *site) bool {
	t.Helper()
	before := sum(t, dir)
	_, err := verify.Repair(dir, slog.New(slog.DiscardHandler))
	if errors.Is(err, storage.ErrSchema) {
		return false // the octet changed the schema number
	}
	var damage *storage.DamageError
	if !errors.As(err, &damage) || !damage.Index() {
		t.Fatalf("repair: %v, want that the index is damaged", err)
	}
	if sum(t, dir) != before {
		t.Error("repair gave up, and segments were changed")
	}
	if _, err := rebuild.Archive(dir, options(s.URL+"/")); err != nil {
		t.Fatalf("rebuild: %v", err)
	}
	check(t, dir)
	asked := len(s.requests())
	if r := crawl(t, dir, options(s.URL+"/")); r.Ending != crawler.Done {
		t.Errorf("resume: %v, %s", r.Ending, r.Why)
	}
	check(t, dir)
	now := rows(t, dir)
	for target := range s.pages {
		if target != "/private" && now[target].Kept == "" {
			t.Errorf("%s is not kept: %+v", target, now[target])
		}
	}
	for _, again := range s.requests()[asked:] {
		if again != "/robots.txt" {
			t.Errorf("%s was kept and is asked for again", again)
		}
	}
	return true
}

// A page that points back to itself, as after a lost write: verify terminates and names it.
func TestVerifyEndsWherePagesLeadInACircle(t *testing.T) {
	t.Parallel()
	dir := crawled(t, small(t))
	path := filepath.Join(dir, "crawl.db")
	kinds := offsets(t, path)
	head, child := kinds["branch page of visits, id"], kinds["branch element of visits, page"]
	if len(head) == 0 || len(child) == 0 {
		t.Fatal("no branch page")
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(head[0]/dbPage)), child[0]); err != nil {
		t.Fatal(err)
	}
	var damage *storage.DamageError
	if _, err := verify.Archive(dir, nil); !errors.As(err, &damage) {
		t.Errorf("verify says %v, want that crawl.db is damaged", err)
	}
	if _, err := verify.Repair(dir, slog.New(slog.DiscardHandler)); !errors.As(err, &damage) {
		t.Errorf("repair says %v, want that crawl.db is damaged", err)
	}
}
