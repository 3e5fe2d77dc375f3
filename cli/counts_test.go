package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"curtsy/app"
	"curtsy/crawler/status"
	"curtsy/internal/testkit/sitetest"
)

// countedSite has the cases that outputs once counted differently: skips by robots.txt, type
// and limit, redirect loops and redirects off the site, other sites, frames, noindex,
// noarchive, 410 and failures.
const countedSite = `
-- /robots.txt --
User-agent: *
Disallow: /private/
Sitemap: {{origin}}/sitemap.xml
-- /sitemap.xml --
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{{origin}}/listed-and-gone</loc></url></urlset>
-- / --
<title>Home</title><a href="/a">1</a> <a href="/gone">2</a> <a href="/private/x">3</a> <a href="/circle">4</a> <a href="/moved">5</a>
<a href="/moved-to-gone">6</a> <a href="/out">7</a> <a href="http://elsewhere.invalid/">8</a> <a href="http://elsewhere.invalid/2">8</a>
<a href="/film.mp4">9</a> <a href="/secret">10</a> <a href="/hidden">11</a> <a href="/over">12</a> <a href="/late">13</a><iframe src="/frame"></iframe>
<a href="/note.txt">14</a> <a href="/gone">again</a>
-- /a --
<title>A</title><a href="/gone">2</a> <a href="/moved">5</a>
-- /gone --
HTTP 404

-- /listed-and-gone --
HTTP 410

-- /circle --
HTTP 302
Location: /circle2

-- /circle2 --
HTTP 302
Location: /circle

-- /moved --
HTTP 301
Location: /a

-- /moved-to-gone --
HTTP 302
Location: /gone

-- /out --
HTTP 302
Location: http://elsewhere.invalid/3

-- /film.mp4 --
Content-Type: video/mp4

film
-- /secret --
<meta name=robots content=noarchive><title>S</title><a href="/a">a</a>
-- /hidden --
<meta name=robots content=noindex><title>H</title>
-- /over --
<meta name=robots content="unavailable_after: 2020-01-01"><title>O</title>
-- /late --
<title>Late</title><p>as it was
-- /frame --
<title>Frame</title>
-- /note.txt --
Content-Type: text/plain

a note
`

// TestOutputsCountAlike checks that all commands print the same counts for one archive, as
// docs/words.md defines them.
func TestOutputsCountAlike(t *testing.T) {
	long(t)
	t.Setenv("CURTSY_DELAY", "0s")
	t.Setenv("CURTSY_FETCH_RETRIES", "0")
	t.Setenv("CURTSY_POLITENESS_USAGE_FILES", "false")
	t.Chdir(t.TempDir())
	s, err := sitetest.Parse([]byte(countedSite))
	if err == nil {
		err = s.Start("127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	run := func(args ...string) string { out, _ := said(t, args...); return out }
	run("crawl", s.Origin+"/", "--archive", "skips", "--skip-type", "video/", "--quiet")
	run("crawl", s.Origin+"/", "--archive", "limit", "--max-pages", "4", "--quiet")
	run("crawl", s.Origin+"/", "--archive", "rounds", "--quiet")
	for target, page := range map[string]string{
		"/late": "<meta name=robots content=noarchive><title>Late</title><p>as it is",
		"/a":    "HTTP 301\nLocation: /late\n\n", "/gone": "<title>Back</title>", "/film.mp4": "HTTP 404\n\n",
		"/frame": "HTTP 500\n\n",
	} {
		if err := s.Set(target, page); err != nil {
			t.Fatal(err)
		}
	}
	run("update", "rounds", "--quiet", "--max-time", "3s")
	run("update", "rounds", "--quiet", "--max-time", "3s")
	for _, dir := range []string{"skips", "limit", "rounds"} {
		t.Run(dir, func(t *testing.T) { countAlike(t, dir) })
	}
}

// said runs a command and returns what it prints.
func said(t *testing.T, args ...string) (out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := Main(args, strings.NewReader(""), &stdout, &stderr); code != exitDone && code != exitFailed &&
		code != exitStopped {
		t.Fatalf("curtsy %q: exit %d: %s", args, code, stderr.String())
	}
	return stdout.String(), stderr.String()
}

func countAlike(t *testing.T, dir string) {
	object := func(args ...string) map[string]any {
		t.Helper()
		var v map[string]any
		out, errs := said(t, args...)
		if err := json.Unmarshal([]byte(out), &v); err != nil {
			t.Fatalf("%q: %v: %s%s", args, err, out, errs)
		}
		return v
	}
	figure := func(v map[string]any, name string) int {
		n, _ := v[name].(float64)
		return int(n)
	}
	same := func(what string, want int, got map[string]int) {
		t.Helper()
		for where, n := range got {
			if n != want {
				t.Errorf("%s: %s has %d, not %d", what, where, n, want)
			}
		}
	}
	status := object("status", dir, "--json")
	text, _ := said(t, "status", dir)
	line := func(name string) (n int) {
		_, rest, _ := strings.Cut(text, "\n  "+name+" ")
		fmt.Sscan(rest, &n)
		return n
	}
	_, _ = said(t, "report", dir, "-o", dir+".html")
	report := read(t, dir+".html")
	number := func(name string) (n int) {
		_, rest, _ := strings.Cut(report, "<dt>"+name+"</dt><dd>")
		fmt.Sscan(rest, &n)
		return n
	}
	rows := func(args ...string) int {
		out, _ := said(t, append([]string{"list", dir, "--format", "json"}, args...)...)
		return strings.Count(out, "\n")
	}
	mirror := object("mirror", dir, dir+".mirror", "--json")
	pages := read(t, dir+".mirror/mirror-report.html")
	section := func(name string) (n int) {
		_, rest, _ := strings.Cut(pages, "<h2>"+name+" <small>")
		fmt.Sscan(rest, &n)
		return n
	}
	for state, words := range map[string]string{"fetched": "URLs fetched", "failed": "URLs failed",
		"disregarded": "URLs skipped by a rule", "queued": "URLs still queued"} {
		name := state
		if state == "disregarded" {
			name = "skipped"
		}
		same(state, figure(status, state), map[string]int{"status as text": line(name), "list": rows("--state", name),
			"report": number(words)})
	}
	same("other sites", figure(status, "other_sites"), map[string]int{"list": rows("--reason", "host"),
		"report": number("URLs of other sites")})
	same("kept", figure(status, "kept"), map[string]int{"status as text": line("kept"), "report": number("URLs kept")})
	same("withheld", figure(status, "withheld"), map[string]int{"status as text": line("withheld"),
		"report": number("URLs withheld"), "mirror": figure(mirror, "withheld")})
	same("withheld and expired", figure(mirror, "withheld")+figure(mirror, "expired"),
		map[string]int{"the mirror's report": section("Withheld")})
	same("pages", figure(status, "pages"), map[string]int{"status as text": line("pages"), "report": number("pages"),
		"mirror, with what it leaves out": figure(mirror, "pages") + figure(mirror, "withheld") + figure(mirror,
			"expired")})
	broken := map[string]bool{}
	out, errs := said(t, "links", dir, "--broken", "--json")
	for _, l := range strings.Split(strings.TrimSpace(out), "\n") {
		var link struct{ To string }
		if json.Unmarshal([]byte(l), &link) == nil {
			broken[link.To] = true
		}
	}
	same("broken", len(broken), map[string]int{"report": number("broken URLs"), "mirror": figure(mirror, "broken"),
		"the mirror's report": section("Broken on the site"),
		"the error":           lead(errs[strings.Index(errs, "curtsy: ")+1:])})
	if strings.Contains(fmt.Sprint(broken), "film") && dir == "skips" {
		t.Error("what --skip-type skipped is broken")
	}
	var start string
	_, errs = said(t, "search", dir, "xyzzy")
	_, errs, _ = strings.Cut(errs, "nothing found among ")
	indexed := lead(errs)
	served := func(name string) int {
		_, rest, _ := strings.Cut(start, "<dt>"+name+"</dt><dd>")
		return lead(rest)
	}
	start = servedStart(t, dir)
	same("documents", indexed, map[string]int{"serve": served("Searched")})
	same("pages", figure(status, "pages"), map[string]int{"serve": served("Pages")})
	same("kept", figure(status, "kept"), map[string]int{"serve": served("Kept")})
	same("withheld", figure(status, "withheld"), map[string]int{"serve": served("Withheld")})
	for state, n := range measured(t, dir) {
		same(state, figure(status, state), map[string]int{"metrics": n})
	}
	plain, _ := said(t, "list", dir)
	same("skipped", figure(status, "disregarded"), map[string]int{"list of all": strings.Count(plain, "\nskipped ")})
	same("pages", figure(status, "pages"), map[string]int{"app": shelved(t, dir)})
	exported := func(name, field string, more ...string) int {
		return figure(object(append([]string{"export", dir, dir + name, "--json"}, more...)...), field)
	}
	texts := rows("--where", "url=/note.txt", "--status", "200")
	same("documents that are no files of text", indexed-texts,
		map[string]int{"pages.parquet": exported(".pages.parquet", "rows"),
			"pages.jsonl.zst": exported(".pages.jsonl.zst", "rows"), "Markdown": exported(".md", "pages"),
			"text": exported(".txt", "pages")})
	same("captures", exported(".captures.parquet", "rows", "--table", "captures"),
		map[string]int{"WARC": exported(".warc.gz", "captures"), "WACZ": exported(".wacz", "captures")})
}

// shelved returns the number of pages that the start page of app shows for an archive.
func shelved(t *testing.T, dir string) int {
	t.Helper()
	page := httptest.NewUnstartedServer(nil)
	defer page.Close()
	s, err := app.New(app.Options{Folder: ".", Page: page.Listener.Addr().String(), Files: "127.0.0.1:1",
		Version: "test",
		Formats: []string{"wacz"}, Command: runHosted, Quote: quoted})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	page.Config.Handler = s.Page()
	page.Start()
	jar, _ := cookiejar.New(nil)
	resp, err := (&http.Client{Jar: jar}).Get(s.First("127.0.0.1"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	shelf, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	_, card, _ := strings.Cut(string(shelf), `<a href="/a/`+dir+`">`)
	_, card, ok := strings.Cut(card, "Pages: ")
	if !ok {
		t.Fatalf("the shelf has no %s: %s", dir, shelf)
	}
	return lead(card)
}

// servedStart returns the start page of serve.
func servedStart(t *testing.T, dir string) string {
	t.Helper()
	r, w := io.Pipe()
	defer r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- serve(ctx, &ui{out: &dataWriter{w: w}, err: io.Discard}, &serveFlags{listen: "127.0.0.1:0"},
			[]string{dir})
	}()
	line, err := bufio.NewReader(r).ReadString('\n')
	_, at, _ := strings.Cut(strings.TrimSpace(line), " at ")
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	cancel()
	if err := cmp.Or(err, <-ended); err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// measured returns the URL counts by state from the metrics.
func measured(t *testing.T, dir string) map[string]int {
	t.Helper()
	s, err := status.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	m := newMetrics(dir, func() string { return "" }, func() any { return s })
	m.registry.MustRegister(newCrawlMetrics(func() []status.Status { return []status.Status{s} }))
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]int{}
	for _, f := range families {
		for _, one := range f.GetMetric() {
			if f.GetName() == "curtsy_urls" {
				states[one.GetLabel()[0].GetValue()] = int(one.GetGauge().GetValue())
			}
		}
	}
	if len(states) == 0 {
		t.Fatal("no metrics")
	}
	return states
}

// lead returns the first number in a text.
func lead(text string) (n int) {
	i := strings.IndexAny(text, "0123456789")
	if i >= 0 {
		fmt.Sscan(text[i:], &n)
	}
	return n
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
