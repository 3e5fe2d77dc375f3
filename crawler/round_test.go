package crawler_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"go.etcd.io/bbolt"

	"curtsy/crawler"
	"curtsy/crawler/revisit"
	"curtsy/crawler/status"
	"curtsy/crawler/verify"
	"curtsy/frontier"
	seal "curtsy/internal/sum"
	"curtsy/internal/testkit/crawltest"
	"curtsy/publish"
	"curtsy/publish/changes"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// article is a page with distinct text.
func article(name string) page {
	return html("<!DOCTYPE html><title>" + name + "</title><p>All that there is to say about " + name +
		", in a sentence.</p>")
}

// tagged is a page with an ETag, answered with 304 if the request names it.
func tagged(tag string, p page) page {
	return page{serve: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", tag)
		w.Header().Set("Content-Type", "text/html")
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, p.body)
	}}
}

// cutOff is a page whose connection breaks after a few octets.
func cutOff(body string) page {
	return page{serve: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		fmt.Fprint(w, body[:len(body)/2])
		panic(http.ErrAbortHandler)
	}}
}

// hangUp is a page for which the connection is closed without a response.
func hangUp() page {
	return page{serve: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }}
}

// round runs one round over an archive.
func round(t *testing.T, dir string, o crawler.Options, r revisit.Options) crawler.Result {
	t.Helper()
	o.Round = &r
	result := crawl(t, dir, o)
	for result.Ending == crawler.Done && !result.State.Round.Planned {
		result = crawl(t, dir, o)
	}
	return result
}

// found returns the changes since the last round began, by target.
func found(t *testing.T, dir string) map[string]*changes.Change {
	t.Helper()
	a, err := storage.OpenRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var st status.State
	if _, err := a.Crawl(&st); err != nil {
		t.Fatal(err)
	}
	m := map[string]*changes.Change{}
	for c, err := range changes.Of(t.Context(), a, changes.Options{Since: st.Rounds[len(st.Rounds)-1]}) {
		if err != nil {
			t.Fatal(err)
		}
		_, target, _ := strings.Cut(strings.TrimPrefix(c.URL, "http://"), "/")
		m["/"+target] = c
	}
	return m
}

// TestGoneBad revisits pages each of which has gone bad in its own way: the good capture is still the
// one shown, and each change is classified correctly.
func TestGoneBad(t *testing.T) {
	long(t)
	t.Parallel()
	long := strings.Repeat("a sentence of the page that is cut off. ", 50)
	maintenance := html("<title>Maintenance</title><p>We will be back soon.</p>")
	ways := []struct {
		name  string
		again page
		kind  changes.Kind // "" is none
		why   string
	}{
		{"server-error", answering(500), changes.Unreachable, "HTTP 500"},
		{"unavailable", answering(503), changes.Unreachable, "HTTP 503"},
		{"bad-gateway", answering(502), changes.Unreachable, "HTTP 502"},
		{"too-many", answering(429), changes.Unreachable, "too many requests"},
		{"forbidden", answering(403), changes.Unreachable, "HTTP 403"},
		{"unauthorized", answering(401), changes.Unreachable, "HTTP 401"},
		{"teapot", answering(418), changes.Unreachable, "HTTP 418"},
		{"missing", answering(404), changes.Suspect, "404, once"},
		{"gone", answering(410), changes.Gone, ""},
		{"empty", html(""), changes.Suspect, "empty"},
		{"blank", html(" \n\t \n"), changes.Suspect, "empty"},
		{"no-content", answering(204), changes.Suspect, "empty"},
		{"cut-off", cutOff(long), changes.Unreachable, "closed by the server"},
		{"hang-up", hangUp(), changes.Unreachable, "closed by the server"},
		{"home", redirect("/"), changes.Suspect, "to-home"},
		{"login", redirect("/login?next=/login"), changes.Suspect, "to-login"},
		{"wp-login", redirect("/wp-login.php"), changes.Suspect, "to-login"},
		{"maintenance-1", maintenance, changes.Suspect, "same-answer"},
		{"maintenance-2", maintenance, changes.Suspect, "same-answer"},
		{"maintenance-3", maintenance, changes.Suspect, "same-answer"},
		{"maintenance-4", maintenance, changes.Suspect, "same-answer"},
		{"challenge", page{status: 403, header: []string{"Content-Type: text/html", "Cf-Mitigated: challenge"},
			body: "<title>Just a moment...</title>"}, changes.Unreachable, "challenge"},
		{"loop", redirect("/loop"), changes.Unreachable, ""},
		{"broken-gzip", html("no gzip at all, whatever the header says").with("Content-Encoding: gzip"),
			changes.Changed, ""},
	}
	pages := map[string]page{"/robots.txt": text("")}
	var targets []string
	for _, w := range ways {
		pages["/"+w.name] = article(w.name)
		targets = append(targets, "/"+w.name)
	}
	pages["/login"] = article("login") // a redirect to itself is no login
	pages["/"] = links(targets...)
	s := newSite(t, pages)
	dir, o := t.TempDir(), options(s.origin+"/")
	crawl(t, dir, o)
	for _, w := range ways {
		s.set("/"+w.name, w.again)
	}
	for i := range 2 {
		round(t, dir, o, revisit.Options{})
		got := found(t, dir)
		for _, w := range ways {
			c := got["/"+w.name]
			if i == 1 && w.name == "missing" {
				w.kind, w.why = changes.Gone, ""
			} else if i == 1 && w.kind == changes.Gone { // since the round before
				continue
			}
			switch {
			case w.kind == changes.Changed || w.name == "loop":
				continue // tested elsewhere; here it matters that nothing good is hidden
			case c == nil:
				t.Errorf("round %d: %s: no change is told, want %s", i+1, w.name, w.kind)
			case c.Kind != w.kind || !strings.Contains(c.Reason, w.why):
				t.Errorf("round %d: %s: %s (%s), want %s (%s)", i+1, w.name, c.Kind, c.Reason, w.kind, w.why)
			}
			visits := visitsOf(t, dir, s.origin+"/"+w.name)
			if v := crawllog.Current(visits, nil); v != visits[0] && w.kind != changes.Changed {
				t.Errorf("round %d: %s: visit %d (%d) is shown in place of the good one", i+1, w.name, v.N, v.Status)
			}
		}
	}
}

func TestRoundAsksConditionally(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{
		"/robots.txt": text(""),
		"/":           links("/tagged", "/dated", "/plain", "/edited"),
		"/tagged":     tagged(`W/"strange, "`, article("tagged")),
		"/dated":      article("dated").with("Last-Modified: Mon, 02 Jan 2006 15:04:05 GMT"),
		"/plain":      article("plain"),
		"/edited":     article("edited"),
	})
	dir, o := t.TempDir(), options(s.origin+"/")
	crawl(t, dir, o)
	s.forget()
	s.set("/edited", html(strings.Replace(article("edited").body, "in a sentence", "in two sentences", 1)))
	s.set("/", links("/tagged", "/dated", "/plain", "/edited", "/new"))
	s.set("/new", article("new"))
	round(t, dir, o, revisit.Options{})
	for _, a := range s.asked() {
		switch a.target {
		case "/tagged":
			if got := a.header.Get("If-None-Match"); got != `W/"strange, "` {
				t.Errorf("the ETag is sent as %q", got)
			}
		case "/dated":
			if got := a.header.Get("If-Modified-Since"); got != "Mon, 02 Jan 2006 15:04:05 GMT" {
				t.Errorf("Last-Modified is sent as %q", got)
			}
		}
	}
	same(t, "asked, each once, robots.txt first", s.requests()[:1], []string{"/robots.txt"})
	for _, target := range []string{"/", "/tagged", "/dated", "/plain", "/edited", "/new"} {
		if n := s.times(target); n != 1 {
			t.Errorf("%s was asked for %d times in the round", target, n)
		}
	}
	for target, kept := range map[string]string{"/tagged": crawllog.KeptRevisit, "/plain": crawllog.KeptRevisit,
		"/edited": crawllog.KeptResponse} {
		visits := visitsOf(t, dir, s.origin+target)
		if len(visits) != 2 || visits[1].Kept != kept {
			t.Errorf("%s: %d visits, the last kept as %q, want %q", target, len(visits), visits[len(visits)-1].Kept,
				kept)
		}
	}
	has(t, warcText(t, dir), "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified")
	got := found(t, dir)
	same(t, "changes", slices.Sorted(maps.Keys(got)), []string{"/", "/edited", "/new"})
	if p := got["/edited"].Passages; len(p) != 1 ||
		!slices.Contains(p[0].Words, changes.Word{Op: "+", Text: "two sentences."}) {
		t.Errorf("the passage that changed: %+v", p)
	}
}

func TestRoundChooses(t *testing.T) {
	long(t)
	t.Parallel()
	s := newSite(t, map[string]page{
		"/robots.txt": text("Sitemap: ORIGIN/map.xml"),
		"/map.xml": page{header: []string{"Content-Type: application/xml"},
			body: "<urlset><url><loc>ORIGIN/a</loc></url><url><loc>ORIGIN/b</loc></url></urlset>"},
		"/": links("/a", "/b"), "/a": article("a"), "/b": article("b"),
	})
	dir, o := t.TempDir(), options(s.origin+"/")
	crawl(t, dir, o)
	asked := func(says string, r revisit.Options, want ...string) {
		t.Helper()
		s.forget()
		round(t, dir, o, r)
		got := s.requests()
		slices.Sort(got)
		same(t, says, slices.Compact(got), want)
	}
	asked("what is older than an hour, where nothing is", revisit.Options{OlderThan: time.Hour},
		"/map.xml", "/robots.txt")
	asked("what matches", revisit.Options{Only: regexp.MustCompile(`/b$`)}, "/b", "/map.xml", "/robots.txt")
	asked("what is due, where nothing is", revisit.Options{Auto: true}, "/map.xml", "/robots.txt")
	due := func(target string, at time.Time, reason string) {
		t.Helper()
		d := why(t, dir, s.origin+target, o).Due
		if d == nil || d.At.Sub(at).Abs() > time.Minute || !strings.Contains(d.Why, reason) {
			t.Errorf("%s is due %+v, want %v, %s", target, d, at, reason)
		}
	}
	visits := visitsOf(t, dir, s.origin+"/a")
	due("/a", visits[len(visits)-1].At.Add(revisit.Unknown), "visited once")
	changed := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	s.set("/map.xml", page{header: []string{"Content-Type: application/xml"},
		body: "<urlset><url><loc>ORIGIN/a</loc><lastmod>" + changed.Format(time.RFC3339) + "</lastmod></url></urlset>"})
	asked("what is due, where that is to come", revisit.Options{Auto: true}, "/map.xml", "/robots.txt")
	due("/a", changed, "the sitemap gives a change")
	due("/map.xml", time.Time{}, "first in every round")
	s.set("/map.xml", page{header: []string{"Content-Type: application/xml"},
		body: "<urlset><url><loc>ORIGIN/a</loc><lastmod>" + time.Now().UTC().Format(time.RFC3339Nano) +
			"</lastmod></url></urlset>"})
	asked("what a sitemap says has changed", revisit.Options{Auto: true}, "/a", "/map.xml", "/robots.txt")
}

func TestRoundObeysWhatIsAskedNow(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{
		"/robots.txt": text(""), "/": links("/denied", "/withheld", "/unchanged"),
		"/denied": article("denied"), "/withheld": article("withheld"),
		"/unchanged": tagged(`"1"`, article("unchanged")),
	})
	dir, o := t.TempDir(), options(s.origin+"/")
	crawl(t, dir, o)
	s.forget()
	s.set("/robots.txt", text("User-agent: *\nDisallow: /denied"))
	s.set("/withheld", html(unkept).with("X-Robots-Tag: noarchive"))
	withdrawn := tagged(`"1"`, article("unchanged"))
	s.set("/unchanged", page{serve: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Robots-Tag", "noarchive")
		withdrawn.serve(w, r)
	}})
	round(t, dir, o, revisit.Options{})
	if n := s.times("/denied"); n != 0 {
		t.Errorf("a page that robots.txt denies now was asked for %d times", n)
	}
	now := time.Now()
	show := func(target string) bool {
		visits := visitsOf(t, dir, s.origin+target)
		return publish.Permits(visits, now, nil)[0].Show
	}
	if !show("/denied") {
		t.Error("what was kept of a page that robots.txt denies now is not shown")
	}
	if show("/withheld") {
		t.Error("an earlier copy of a page that asks for noarchive now is shown")
	}
	if show("/unchanged") {
		t.Error("a copy is shown that a 304 asks not to archive")
	}
	if c := found(t, dir)["/unchanged"]; c != nil && c.Kind == changes.Suspect {
		t.Errorf("a 304 with noarchive is suspect: %+v", c)
	}
	s.set("/unchanged", withdrawn)
	round(t, dir, o, revisit.Options{})
	if !show("/unchanged") {
		t.Error("a copy is not shown although the last 304 allows it again")
	}
}

func TestRoundIsResumed(t *testing.T) {
	t.Parallel()
	pages := map[string]page{"/robots.txt": text("")}
	var targets []string
	for i := range 40 {
		target := fmt.Sprintf("/p%d", i)
		pages[target], targets = article(target), append(targets, target)
	}
	pages["/"] = links(targets...)
	s := newSite(t, pages)
	dir, o := t.TempDir(), options(s.origin+"/")
	crawl(t, dir, o)
	s.forget()
	stop, cancel := context.WithCancel(t.Context())
	s.set("/p10", page{serve: func(w http.ResponseWriter, _ *http.Request) { cancel(); fmt.Fprint(w, "changed") }})
	o.Round = &revisit.Options{}
	if r := run(t, stop, dir, o); r.Ending != crawler.Stopped {
		t.Fatalf("the round ended with %v", r.Ending)
	}
	check(t, dir)
	var said []string
	o.Tell = collect(&said)
	o.Round = &revisit.Options{Only: regexp.MustCompile("/p3$")}
	if r := crawl(t, dir, o); r.Ending != crawler.Done || len(r.State.Rounds) != 1 {
		t.Fatalf("the resumed round ended with %v, %d rounds", r.Ending, len(r.State.Rounds))
	}
	if text := strings.Join(said, "\n"); !strings.Contains(text, "round 1 is not finished: it goes on with the ") {
		t.Errorf("nothing tells that the round keeps what it had chosen: %q", text)
	}
	for _, target := range targets {
		if n := s.times(target); n != 1 {
			t.Errorf("%s was asked for %d times in one round", target, n)
		}
	}
}

// What a limit left queued is visited first in the next round, and the crawl says so.
func TestRoundTellsWhatWasLeft(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{"/robots.txt": text(""), "/": links("/a", "/b"), "/a": article("a"),
		"/b": article("b")})
	dir, o := t.TempDir(), options(s.origin+"/")
	o.Limits.Pages = 2
	crawl(t, dir, o)
	var said []string
	o.Tell = collect(&said)
	round(t, dir, o, revisit.Options{Only: regexp.MustCompile("/none$")})
	if text := strings.Join(said, "\n"); !strings.Contains(text, "earlier runs left 1 URL queued") {
		t.Errorf("it says %q", text)
	}
}

func TestRoundWantsAFinishedCrawl(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{"/robots.txt": text(""), "/": links("/a", "/b"), "/a": article("a"),
		"/b": article("b")})
	dir, o := t.TempDir(), options(s.origin+"/")
	o.Limits.Pages = 1
	crawl(t, dir, o)
	o.Round = &revisit.Options{}
	o.Limits.Pages = 2
	if c, err := crawler.Open(dir, o); !errors.Is(err, crawler.ErrUnfinished) {
		if err == nil {
			c.Close()
		}
		t.Errorf("a round over an unfinished crawl: %v", err)
	}
	if _, err := crawler.Open(t.TempDir(), o); !errors.Is(err, storage.ErrNone) {
		t.Errorf("a round over nothing: %v", err)
	}
	o.Limits.Pages = 1 // a crawl that its limit ended counts as complete
	if r := crawl(t, dir, o); len(r.State.Rounds) != 1 || s.times("/") != 2 {
		t.Errorf("a round over a crawl at its limit: %d rounds, %d requests for the seed",
			len(r.State.Rounds), s.times("/"))
	}
}

// TestRoundIsRebuilt: the results of rounds are in the segments, too.
func TestRoundIsRebuilt(t *testing.T) {
	long(t)
	t.Parallel()
	s := newSite(t, map[string]page{
		"/robots.txt": text(""), "/": links("/unchanged", "/empty", "/changed", "/m1", "/m2", "/m3", "/m4", "/m5"),
		"/unchanged": tagged(`"1"`, article("unchanged")), "/empty": article("empty"), "/changed": article("changed"),
	})
	maintained := []string{"/m1", "/m2", "/m3", "/m4", "/m5"}
	for _, target := range maintained {
		s.set(target, article("page "+target))
	}
	dir, o := t.TempDir(), options(s.origin+"/")
	crawl(t, dir, o)
	s.set("/empty", html(""))
	s.set("/changed", article("changed, and how"))
	for _, target := range maintained {
		s.set(target, html("<p>Down for maintenance"))
	}
	round(t, dir, o, revisit.Options{})
	s.set("/m5", article("page /m5, which is there again"))
	round(t, dir, o, revisit.Options{})
	want := map[string]int{"/unchanged": 1, "/empty": 1, "/changed": 3, "/m1": 1, "/m4": 1, "/m5": 3}
	shown := func(when string) (state status.State) {
		t.Helper()
		for target, n := range want {
			if v := crawllog.Current(visitsOf(t, dir, s.origin+target), nil); v.N != n {
				t.Errorf("%s: visit %d of %s is shown, want %d", when, v.N, target, n)
			}
		}
		a, err := storage.OpenRead(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		if _, err := a.Crawl(&state); err != nil {
			t.Fatal(err)
		}
		return state
	}
	before := shown("after the rounds")
	if err := os.Remove(filepath.Join(dir, "crawl.db")); err != nil {
		t.Fatal(err)
	}
	rebuilt(t, dir, o)
	after := shown("rebuilt")
	if fmt.Sprint(after.Rounds) != fmt.Sprint(before.Rounds) || len(after.Rounds) != 2 || after.Round.N != 2 {
		t.Errorf("rounds %v, %+v after the rebuild; they were %v", after.Rounds, after.Round, before.Rounds)
	}
	if after.Round.Bytes != before.Round.Bytes {
		t.Errorf("%d octets before the last round, there were %d", after.Round.Bytes, before.Round.Bytes)
	}
	for target, r := range rows(t, dir) {
		if r.State != "fetched" && target != "/robots.txt" {
			t.Errorf("%s is %s (%s) after the rebuild", target, r.State, r.Rule)
		}
	}
	crawl(t, dir, o) // fetch what the rebuild queued
	round(t, dir, o, revisit.Options{})
	want["/changed"], want["/m5"] = 4, 4 // the same again
	if after = shown("after a third round"); len(after.Rounds) != 3 || after.Round.N != 3 {
		t.Errorf("the round after a rebuild is number %d of %d", after.Round.N, len(after.Rounds))
	}
}

// TestSuspectIsAskedOnceMore: a response not taken for the page is requested again in the next round,
// whatever that round selects, and after that like other pages.
func TestSuspectIsAskedOnceMore(t *testing.T) {
	long(t)
	t.Parallel()
	pages := map[string]page{"/robots.txt": text(""), "/": links("/m1", "/m2", "/m3", "/m4", "/once", "/other"),
		"/once": article("once"), "/other": article("other")}
	maintained := []string{"/m1", "/m2", "/m3", "/m4", "/once"}
	for _, target := range maintained {
		pages[target] = article("page " + target)
	}
	s := newSite(t, pages)
	dir, o := t.TempDir(), options(s.origin+"/")
	crawl(t, dir, o)
	for _, target := range maintained[:4] {
		s.set(target, html("<p>Down for maintenance"))
	}
	s.set("/once", page{status: 404, body: "not now"})
	round(t, dir, o, revisit.Options{})
	for i, r := range []revisit.Options{{OlderThan: time.Hour}, {OlderThan: time.Hour}, {Auto: true}} {
		s.forget()
		round(t, dir, o, r)
		got := s.requests()
		slices.Sort(got)
		want := []string{"/robots.txt"}
		if i == 0 {
			want = slices.Concat(maintained[:4], []string{"/once"}, want)
		}
		same(t, fmt.Sprintf("round %d", i+2), slices.Compact(got), want)
	}
	if v := crawllog.Current(visitsOf(t, dir, s.origin+"/m1"), nil); v.N != 1 {
		t.Errorf("visit %d of a page in maintenance is shown", v.N)
	}
}

// Captures are compared after decoding: another time stamp in a gzip header is no change. One that
// cannot be decoded is reported in a line, and the others are still compared.
func TestChangesCompareDecodedBodies(t *testing.T) {
	t.Parallel()
	zipped := func(body string, at int64) page {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.ModTime = time.Unix(at, 0)
		_, _ = io.WriteString(w, body)
		w.Close()
		return page{header: []string{"Content-Type: text/html", "Content-Encoding: gzip"}, body: b.String()}
	}
	torn := func(at int64) page {
		p := zipped(strings.Repeat("torn ", 100), at)
		p.body = p.body[:len(p.body)-6]
		return p
	}
	s := newSite(t, map[string]page{"/robots.txt": text(""), "/": links("/same", "/other", "/torn", "/tears"),
		"/same":  zipped("<p>the very same text", 1000),
		"/other": zipped("<p>some text", 1000), "/torn": torn(1000),
		"/tears": zipped(strings.Repeat("torn ", 100), 1000)})
	dir, o := filepath.Join(t.TempDir(), "archive"), options(s.URL+"/")
	crawl(t, dir, o)
	s.set("/same", zipped("<p>the very same text", 2000))
	s.set("/other", zipped("<p>quite another text", 2000))
	s.set("/torn", torn(2000))
	s.set("/tears", torn(2000))
	round(t, dir, o, revisit.Options{})
	told := map[string]string{}
	for target, c := range found(t, dir) {
		told[target] = string(c.Kind)
	}
	if want := map[string]string{"/other": "changed", "/torn": "unreachable",
		"/tears": "unreachable"}; !maps.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}

// State that stays the same during a run is not written with each commit. An archive of schema 7, which
// has it in the same row, is read and continued; one that lost it is damaged.
func TestRoundsAreARowOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{"/": links("/a"), "/a": article("a")})
	dir, o := t.TempDir(), options(s.origin+"/")
	crawl(t, dir, o)
	round(t, dir, o, revisit.Options{})
	edit := func(change func(meta *bbolt.Bucket, often, lasting map[string]any) error) {
		t.Helper()
		db, err := bbolt.Open(filepath.Join(dir, "crawl.db"), 0o644, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.Update(func(tx *bbolt.Tx) error {
			meta, rows := tx.Bucket([]byte("meta")), [2]map[string]any{}
			for i, key := range []string{"crawl", "crawl-lasting"} {
				if b, ok := seal.Open([]byte(key), meta.Get([]byte(key))); !ok {
					t.Errorf("%s has no sum", key)
				} else if err := json.Unmarshal(b, &rows[i]); err != nil {
					return err
				}
			}
			return change(meta, rows[0], rows[1])
		}); err != nil {
			t.Fatal(err)
		}
	}
	edit(func(meta *bbolt.Bucket, often, lasting map[string]any) error {
		if often["rounds"] != nil || often["settings"] != nil || len(lasting["rounds"].([]any)) != 1 {
			t.Errorf("each commit writes %v, seldom is %v", often, lasting)
		}
		maps.Copy(often, lasting)
		b, err := json.Marshal(often)
		return errors.Join(err, meta.Put([]byte("crawl"), seal.Seal([]byte("crawl"), b)),
			meta.Delete([]byte("crawl-lasting")),
			meta.Put([]byte("schema"), []byte{0, 0, 0, 7}))
	})
	check(t, dir)
	if r := round(t, dir, o, revisit.Options{}); len(r.State.Rounds) != 2 || r.State.Round.N != 2 {
		t.Errorf("rounds %v", r.State.Rounds)
	}
	edit(func(meta *bbolt.Bucket, often, lasting map[string]any) error {
		if often["rounds"] != nil || len(lasting["rounds"].([]any)) != 2 {
			t.Errorf("each commit writes %v, seldom is %v", often, lasting)
		}
		return meta.Delete([]byte("crawl-lasting"))
	})
	var damage *storage.DamageError
	if c, err := crawler.Open(dir, o); !errors.As(err, &damage) {
		if err == nil {
			c.Close()
		}
		t.Errorf("without its rounds: %v", err)
	}
	if r, err := verify.Archive(dir, nil); err != nil || len(r.Problems) != 1 {
		t.Errorf("verify: %v, %v", r, err)
	}
}

// A plan that was interrupted by a kill and is made again counts each URL once.
func TestAPlanThatIsMadeAgain(t *testing.T) {
	t.Parallel()
	_, seed := crawltest.Site(t, "-- / --\n<title>A</title><a href=/b>b</a><a href=/c>c</a>\n-- /b --\n<title>B</title>\n"+
		"-- /c --\n<title>C</title>\n")
	dir := filepath.Join(t.TempDir(), "archive")
	crawltest.Archive(t, dir, seed)
	a := crawltest.Open(t, dir)
	now := time.Now()
	killed := errors.New("killed")
	state := &status.Round{Began: now}
	for _, end := range []error{killed, killed, nil} {
		queued := 0
		r := revisit.Round{State: state, Now: now, Queue: func(again ...frontier.Found) error {
			queued += len(again)
			return end
		}}
		if err := r.Plan(a); err != end || state.Queued != queued || queued < 3 {
			t.Errorf("%v: %d are counted, %d were queued", err, state.Queued, queued)
		}
	}
}

// Four URLs of one page that change together are not taken for one response that replaced four pages:
// the page has changed.
func TestAPageOfManyNamesMayChange(t *testing.T) {
	t.Parallel()
	names := []string{"/a", "/a?by=name", "/a?by=age", "/a?by=size"}
	pages := map[string]page{"/robots.txt": text(""), "/": links(names...)}
	for _, name := range names {
		pages[name] = article("list")
	}
	s := newSite(t, pages)
	dir, o := t.TempDir(), options(s.origin+"/")
	crawl(t, dir, o)
	for _, name := range names {
		s.set(name, article("other"))
	}
	round(t, dir, o, revisit.Options{})
	got := found(t, dir)
	for _, name := range names {
		if c := got[name]; c == nil || c.Kind != changes.Changed {
			t.Errorf("%s: %+v, want that it has changed", name, c)
		}
	}
}
