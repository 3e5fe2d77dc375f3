package crawler_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"curtsy/crawler/revisit"
	"curtsy/publish"
	"curtsy/storage"
	"curtsy/storage/crawllog"
	"curtsy/usage"
)

// usageOf lists the usage preferences recorded with each visit of an archive, one line a visit:
// "target n: preferences; statements".
func usageOf(t *testing.T, dir, origin string) []string {
	t.Helper()
	a, err := storage.OpenRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var lines []string
	for visits, err := range a.Histories() {
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range visits {
			var by []string
			for _, s := range v.Usage {
				by = append(by, s.By+" "+s.Where())
			}
			line := fmt.Sprintf("%s %d: %s", strings.TrimPrefix(v.URL, origin), v.N, usage.Combine(v.Usage))
			if len(by) > 0 {
				line += "; " + strings.Join(by, ", ")
			}
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines
}

// shownUsage returns the usage preferences in the permit of each URL's current visit.
func shownUsage(t *testing.T, dir, origin string) map[string]string {
	t.Helper()
	a, err := storage.OpenRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	shown := map[string]string{}
	for visits, err := range a.Histories() {
		if err != nil {
			t.Fatal(err)
		}
		current := crawllog.Current(visits, nil)
		p := publish.Permits(visits, current.At, nil)[slices.Index(visits, current)]
		text := p.Usage.String()
		if !p.List {
			text += " unlisted"
		}
		shown[strings.TrimPrefix(current.URL, origin)] = text
	}
	return shown
}

// unchangedWith answers 304 if the request names its tag, and sends the header in use.
func unchangedWith(tag, body string, header *string) page {
	p := tagged(tag, html(body))
	return page{serve: func(w http.ResponseWriter, r *http.Request) {
		if *header != "" {
			w.Header().Set("Content-Usage", *header)
		}
		p.serve(w, r)
	}}
}

// TestUsageIsKept: each capture is kept with the usage preferences in force when it was fetched,
// through rounds, 304s and a rebuild.
func TestUsageIsKept(t *testing.T) {
	header := "search=y"
	robots := "User-agent: *\nAllow: /\nContent-Usage: train-ai=n\nContent-Usage: /ok/ train-ai=y\nContent-Signal: ai-input=no\nLicense: /license.xml\n"
	s := newSite(t, map[string]page{
		"/robots.txt": text(robots),
		"/.well-known/tdmrep.json": {header: []string{"Content-Type: application/json"},
			body: `[{"location":"/free","tdm-reservation":0},{"location":"/","tdm-reservation":1}]`},
		"/license.xml": {header: []string{"Content-Type: application/rsl+xml"}, body: "<rsl/>"},
		"/":            html("<title>home</title><a href=/ok/a><a href=/free><a href=/meta><a href=/same>"),
		"/ok/a":        html("<title>a</title>"),
		"/free":        html("<title>free</title>").with("tdm-reservation: 1"),
		"/meta":        html(`<title>meta</title><meta name=tdm-reservation content=0><meta name=robots content="noai, noimageai"><img src=/pic.png>`),
		"/pic.png":     {header: []string{"Content-Type: image/png"}, body: "picture"},
		"/same": unchangedWith(`"1"`, `<title>same</title><meta name=tdm-reservation content=0>`,
			&header),
	})
	dir, o := t.TempDir(), options(s.origin+"/")
	o.UsageFiles = true
	crawl(t, dir, o)
	if n := s.times("/.well-known/tdmrep.json"); n != 1 {
		t.Errorf("tdmrep.json was asked for %d times", n)
	}
	const group = "Content-Usage robots.txt, line 3, Content-Signal robots.txt, line 5, RSL robots.txt, line 6, TDMRep /.well-known/tdmrep.json"
	okay := strings.ReplaceAll(group, "line 3", "line 4")
	first := []string{
		"/ 1: ai-input=n, tdm=n, train-ai=n; " + group,
		"/.well-known/tdmrep.json 1: ",
		"/free 1: ai-input=n, tdm=n, train-ai=n; " + group + ", TDMRep header",
		"/license.xml 1: ai-input=n, tdm=n, train-ai=n; " + group,
		"/meta 1: ai-input=n, tdm=y, train-ai=n; " + group + ", TDMRep meta, noai meta, noai meta",
		"/ok/a 1: ai-input=n, tdm=n, train-ai=y; " + okay,
		"/pic.png 1: ai-input=n, tdm=n, train-ai=n; " + group + ", noai meta",
		"/robots.txt 1: ",
		"/same 1: ai-input=n, search=y, tdm=y, train-ai=n; " + group + ", Content-Usage header, TDMRep meta",
	}
	kept(t, "the first crawl", usageOf(t, dir, s.origin), first)

	// A later robots.txt affects only what is fetched after it; a 304 gets its own headers, the robots.txt
	// in force then, and the preferences in the stored document.
	s.set("/robots.txt", text("User-agent: *\nContent-Usage: search=n, train-ai=y\n"))
	s.set("/.well-known/tdmrep.json", answering(404))
	header = "ai-input=y"
	round(t, dir, o, revisit.Options{})
	second := append(slices.Clone(first),
		"/ 2: search=n, train-ai=y; Content-Usage robots.txt, line 2, Content-Usage robots.txt, line 2",
		"/.well-known/tdmrep.json 2: ",
		"/free 2: search=n, tdm=n, train-ai=y; Content-Usage robots.txt, line 2, Content-Usage robots.txt, line 2, TDMRep header",
		"/license.xml 2: search=n, train-ai=y; Content-Usage robots.txt, line 2, Content-Usage robots.txt, line 2",
		"/meta 2: search=n, tdm=y, train-ai=n; Content-Usage robots.txt, line 2, Content-Usage robots.txt, line 2, TDMRep meta, noai meta, noai meta",
		"/ok/a 2: search=n, train-ai=y; Content-Usage robots.txt, line 2, Content-Usage robots.txt, line 2",
		"/pic.png 2: search=n, train-ai=n; Content-Usage robots.txt, line 2, Content-Usage robots.txt, line 2, noai meta",
		"/robots.txt 2: ",
		"/same 2: ai-input=y, search=n, tdm=y, train-ai=y; Content-Usage robots.txt, line 2, Content-Usage robots.txt, line 2, Content-Usage header, TDMRep meta",
	)
	kept(t, "after a round", usageOf(t, dir, s.origin), second)
	shown := shownUsage(t, dir, s.origin)
	for target, want := range map[string]string{"/": "search=n, train-ai=y unlisted",
		"/same": "ai-input=y, search=n, tdm=y, train-ai=y unlisted", "/meta": "search=n, tdm=y, train-ai=n unlisted"} {
		if shown[target] != want {
			t.Errorf("%s is shown with %q, want %q", target, shown[target], want)
		}
	}

	rebuilt(t, dir, o)
	kept(t, "rebuilt", usageOf(t, dir, s.origin), second)
	if again := shownUsage(t, dir, s.origin); !maps.Equal(again, shown) {
		t.Errorf("rebuilt, shown with %v, want %v", again, shown)
	}

	// The owner withdraws search=n: the capture made before the 304 is listed again.
	s.set("/robots.txt", text("User-agent: *\nAllow: /\n"))
	round(t, dir, o, revisit.Options{})
	if got := shownUsage(t, dir, s.origin)["/same"]; got != "ai-input=y, tdm=y" {
		t.Errorf("/same is shown with %q", got)
	}
}

func kept(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestUsageFileOfItsOwn: what tdmrep.json may be answered with, and when it is not requested.
func TestUsageFileOfItsOwn(t *testing.T) {
	reserve := page{header: []string{"Content-Type: application/json"}, body: `[{"location":"/","tdm-reservation":1}]`}
	for _, c := range []struct {
		says, robots string
		file         page
		asked        int
		want         string
	}{
		{"a list", "", reserve, 1, "tdm=n"},
		{"robots.txt denies it", "User-agent: *\nDisallow: /.well-known/\n", reserve, 0, ""},
		{"a page in its place", "", html("<title>not here</title>"), 1, ""},
		{"a redirect", "", redirect("/"), 1, ""},
		{"gone", "", answering(410), 1, ""},
		{"an error of the server", "", answering(500), 3, ""},
	} {
		s := newSite(t, map[string]page{"/robots.txt": text(c.robots), "/.well-known/tdmrep.json": c.file,
			"/": html("<title>home</title>")})
		dir, o := t.TempDir(), options(s.origin+"/")
		o.UsageFiles = true
		r := crawl(t, dir, o)
		if n := s.times("/.well-known/tdmrep.json"); n != c.asked {
			t.Errorf("%s: asked for %d times, want %d", c.says, n, c.asked)
		}
		if got := shownUsage(t, dir, s.origin)["/"]; got != c.want {
			t.Errorf("%s: %q, want %q", c.says, got, c.want)
		}
		if r.Counts.Failed > 0 && c.asked < 3 {
			t.Errorf("%s: counts as a failure", c.says)
		}
	}
}

// TestUsageFilesAreFetchedAgain: they are fetched again after a day, as robots.txt is, also if the crawl
// was stopped in between.
func TestUsageFilesAreFetchedAgain(t *testing.T) {
	reserve := func(n int) page {
		return page{header: []string{"Content-Type: application/json"},
			body: fmt.Sprintf(`[{"location":"/","tdm-reservation":%d}]`, n)}
	}
	s := newSite(t, map[string]page{"/robots.txt": text(""), "/.well-known/tdmrep.json": reserve(0),
		"/": html("<title>home</title><a href=/a>"), "/a": html("<title>a</title>")})
	dir, o := t.TempDir(), options(s.origin+"/")
	o.UsageFiles, o.Limits.Pages = true, 1
	crawl(t, dir, o)
	s.set("/.well-known/tdmrep.json", reserve(1))
	o.Limits.Pages = 0
	o.Now = func() time.Time { return time.Now().Add(25 * time.Hour) }
	crawl(t, dir, o)
	if n := s.times("/.well-known/tdmrep.json"); n != 2 {
		t.Errorf("tdmrep.json was asked for %d times", n)
	}
	shown := shownUsage(t, dir, s.origin)
	if shown["/"] != "tdm=y" || shown["/a"] != "tdm=n" {
		t.Errorf("shown with %v", shown)
	}
}
