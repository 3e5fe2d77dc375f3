package crawler_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"curtsy/crawler"
	"curtsy/crawler/rebuild"
	"curtsy/crawler/verify"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// harm is a way to damage an archive of small, and what is then fetched again.
type harm struct {
	do    func(t *testing.T, dir string)
	cut   bool     // cut from the last visit on; again lists what was there
	says  string   // what verify says
	again []string // nil: every page
	fine  bool     // opening the archive repairs it
}

// at returns where the records of a visit are.
func at(t *testing.T, dir, target string) (path string, r crawllog.Record) {
	t.Helper()
	row := rows(t, dir)[target]
	v := visitsOf(t, dir, row.URL)
	return filepath.Join(dir, "warc", v[len(v)-1].Record.Segment), *v[len(v)-1].Record
}

// lastOn returns the page whose records come last.
func lastOn(t *testing.T, dir string) (target string) {
	t.Helper()
	var most int64
	for candidate := range rows(t, dir) {
		if candidate == "/private" {
			continue
		}
		if _, r := at(t, dir, candidate); r.Offset > most {
			target, most = candidate, r.Offset
		}
	}
	return target
}

func flip(t *testing.T, path string, offset int64) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[offset] ^= 0x55
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestVerifyNamesDamageRepairMendsItAndResumeFetchesWhatIsMissing(t *testing.T) {
	flipIn := func(target string, where func(crawllog.Record) int64) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			path, r := at(t, dir, target)
			flip(t, path, where(r))
		}
	}
	middle := func(r crawllog.Record) int64 { return r.Offset + 40 } // after the gzip header
	for name, h := range map[string]harm{
		"an octet of a response": {do: flipIn("/page/c", middle), says: "/page/c", again: []string{"/page/c"}},
		"the first octet of a record": {do: flipIn("/page/d", func(r crawllog.Record) int64 { return r.Offset }),
			says: "/page/d", again: []string{"/page/d"}},
		"the last octet of a visit": {do: flipIn("/page/e",
			func(r crawllog.Record) int64 { return r.Offset + r.Length - 1 }), says: "/page/e",
			again: []string{"/page/e"}},
		"an octet of the robots.txt": {do: flipIn("/robots.txt", middle), says: "/robots.txt",
			again: []string{"/robots.txt"}},
		"an octet of the warcinfo": {do: func(t *testing.T, dir string) { flip(t, segments(t, dir)[0], 30) },
			says: "warcinfo", again: []string{}},
		"the end is missing": {do: func(t *testing.T, dir string) {
			path, r := at(t, dir, lastOn(t, dir))
			if err := os.Truncate(path, r.Offset+7); err != nil {
				t.Fatal(err)
			}
		}, says: "committed", cut: true},
		"a segment is missing": {do: func(t *testing.T, dir string) {
			if err := os.Remove(segments(t, dir)[0]); err != nil {
				t.Fatal(err)
			}
		}, says: "no such file"},
		"a segment is empty": {do: func(t *testing.T, dir string) {
			if err := os.Truncate(segments(t, dir)[0], 0); err != nil {
				t.Fatal(err)
			}
		}, says: "0 bytes"},
		"octets behind the end": {do: func(t *testing.T, dir string) {
			f, err := os.OpenFile(segments(t, dir)[0], os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			fmt.Fprint(f, "what a killed crawl left behind")
		}, fine: true, again: []string{}},
		"a segment begun and never committed": {do: func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "warc", "curtsy-20990101000000-00009.warc.gz"), []byte("begun"),
				0o644); err != nil {
				t.Fatal(err)
			}
		}, fine: true, again: []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mend(t, h)
		})
	}
}

func mend(t *testing.T, h harm) {
	s := small(t)
	dir := crawled(t, s)
	o := options(s.URL + "/")
	discovered := len(rows(t, dir))
	if h.cut {
		h.again = []string{lastOn(t, dir)}
	}
	h.do(t, dir)
	s.forget()

	report, err := verify.Archive(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if h.fine != (len(report.Problems) == 0) || !strings.Contains(fmt.Sprint(report.Problems), h.says) {
		t.Fatalf("verify says %+v, want %q", report.Problems, h.says)
	}
	did, err := verify.Repair(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("repair: %q", did)
	check(t, dir)
	if r := crawl(t, dir, o); r.Ending != crawler.Done {
		t.Errorf("after repair it ended as %v: %s", r.Ending, r.Why)
	}
	got := s.requests()
	slices.Sort(got)
	got = slices.DeleteFunc(slices.Compact(got), func(s string) bool {
		return s == "/robots.txt" &&
			!slices.Contains(h.again, s)
	})
	if h.again == nil {
		if len(got) < 21 {
			t.Errorf("fetched again: %q, want every page", got)
		}
	} else {
		same(t, "fetched again", got, h.again)
	}
	for target, row := range rows(t, dir) {
		if target != "/private" && (row.State != "fetched" || row.Kept == "") {
			t.Errorf("%s is %s, kept %q", target, row.State, row.Kept)
		}
	}
	if n := len(rows(t, dir)); n != discovered {
		t.Errorf("%d URLs are known, there were %d", n, discovered)
	}
	checkRecords(t, records(t, dir))
}

// A page that failed twice before it was fetched, and whose last visit is damaged.
func TestRepairLeavesEarlierVisitsAlone(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{"/robots.txt": text(""), "/": links("/late"),
		"/late": failing(2, 500, "", html(strings.Repeat("late ", 500)))})
	dir := filepath.Join(t.TempDir(), "archive")
	o := options(s.URL + "/")
	crawl(t, dir, o)
	path, r := at(t, dir, "/late")
	flip(t, path, r.Offset+r.Length/3)
	if _, err := verify.Repair(dir, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	check(t, dir)
	crawl(t, dir, o)
	v := visitsOf(t, dir, s.URL+"/late")
	if len(v) != 3 || v[0].Status != 500 || v[1].Status != 500 || v[2].Status != 200 {
		t.Errorf("visits %+v", v)
	}
}

// If the original of a revisit is damaged, both are fetched again.
func TestRepairOfAnOriginalTakesItsRevisitsAlong(t *testing.T) {
	t.Parallel()
	same := html(strings.Repeat("the same ", 500))
	s := newSite(t, map[string]page{"/robots.txt": text(""), "/": links("/a", "/b", "/c"), "/a": same, "/b": same,
		"/c": html("c")})
	dir := filepath.Join(t.TempDir(), "archive")
	o := options(s.URL + "/")
	crawl(t, dir, o)
	original := "/a"
	if rows(t, dir)["/b"].Kept == "response" {
		original = "/b" // it was written first
	}
	path, r := at(t, dir, original)
	flip(t, path, r.Offset+r.Length/3)
	if _, err := verify.Repair(dir, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	check(t, dir)
	s.forget()
	crawl(t, dir, o)
	if s.times("/a") != 1 || s.times("/b") != 1 || s.times("/c") != 0 {
		t.Errorf("requests %q", s.requests())
	}
	checkRecords(t, records(t, dir))
}

// An early visit is damaged and a later one is not: the later outcome stands and is not overwritten.
func TestRepairOfAnEarlyVisitKeepsTheLaterOne(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{"/robots.txt": text(""), "/": links("/late"),
		"/late": failing(1, 500, "", html(strings.Repeat("late ", 500)))})
	dir := filepath.Join(t.TempDir(), "archive")
	o := options(s.URL + "/")
	crawl(t, dir, o)
	early := visitsOf(t, dir, s.URL+"/late")[0]
	flip(t, filepath.Join(dir, "warc", early.Record.Segment), early.Record.Offset+40)
	if _, err := verify.Repair(dir, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	check(t, dir)
	s.forget()
	crawl(t, dir, o)
	if v := visitsOf(t, dir, s.URL+"/late"); len(v) != 1 || v[0].N != 2 || v[0].Status != 200 {
		t.Errorf("visits %+v", v)
	}
	if s.times("/late") > 0 {
		t.Error("it was fetched again")
	}
}

// A crawl.db restored from a backup knows less than its segments hold: nothing is cut off from them,
// and a rebuild restores everything.
func TestOlderDatabaseCutsNothingOff(t *testing.T) {
	long(t)
	t.Parallel()
	pages := map[string]page{"/robots.txt": text("")}
	var all []string
	for i := range 300 {
		all = append(all, fmt.Sprintf("/p/%d", i))
		pages[all[i]] = html(strings.Repeat(all[i]+" ", 50))
	}
	pages["/"] = links(all...)
	s := newSite(t, pages)
	dir := filepath.Join(t.TempDir(), "archive")
	o := options(s.URL + "/")
	o.Limits.Pages = 30
	crawl(t, dir, o)
	db := filepath.Join(dir, "crawl.db")
	old, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	o.Limits.Pages = 0
	crawl(t, dir, o)
	want := len(rows(t, dir))
	if err := os.WriteFile(db, old, 0o644); err != nil {
		t.Fatal(err)
	}
	before := sum(t, dir)
	var damage *storage.DamageError
	if _, err := crawler.Open(dir, o); !errors.As(err, &damage) || !damage.Index() ||
		!strings.Contains(err.Error(), "older") {
		t.Errorf("open: %v", err)
	}
	if r, err := verify.Archive(dir, nil); err == nil && len(r.Problems) == 0 {
		t.Error("verify finds nothing")
	}
	if sum(t, dir) != before {
		t.Fatal("the segments are not what they were")
	}
	if _, err := verify.Repair(dir, slog.New(slog.DiscardHandler)); !errors.As(err, &damage) || !damage.Index() ||
		sum(t, dir) != before {
		t.Fatalf("repair: %v, and the segments are the same: %v", err, sum(t, dir) == before)
	}
	if _, err := rebuild.Archive(dir, o); err != nil {
		t.Fatal(err)
	}
	s.forget()
	crawl(t, dir, o)
	if got := len(rows(t, dir)); got != want || len(s.requests()) > 1 { // robots.txt may be asked for again
		t.Errorf("%d rows, want %d; requests %q", got, want, s.requests())
	}
}
