package report

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/status"
	"curtsy/frontier/judge"
	"curtsy/internal/testkit/crawltest"
	"curtsy/publish/audit"
	"curtsy/publish/inventory"
)

const site = `
-- /robots.txt --
User-agent: *
Disallow: /private/
Sitemap: {{origin}}/sitemap.xml
-- /sitemap.xml --
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{{origin}}/orphan</loc></url></urlset>
-- / --
<html lang="en"><title>Home</title><a href="/gone">1</a><a href="/private/x">2</a><a href="/moved">3</a><a href="/secret">4</a>
<a href="/copy1">5</a><a href="/copy2">6</a><a href="/secret-gone">7</a><a href="/xss">8</a><a href="http://elsewhere.example/">9</a><a href="/round">10</a>
-- /orphan --
<title>Orphan</title>
-- /moved --
HTTP 301
Location: /moved2

-- /moved2 --
HTTP 301
Location: /

-- /round --
HTTP 302
Location: /about

-- /about --
HTTP 302
Location: /round

-- /gone --
HTTP 404

-- /secret --
<meta name=robots content=noindex><title>Hush</title><a href="/gone">x</a>
-- /secret-gone --
HTTP 404
X-Robots-Tag: noindex

-- /copy1 --
<p>same
-- /copy2 --
<p>same
-- /xss --
<title></title><a href="/%22%3E%3Cscript%3Ealert(1)%3C/script%3E">x</a><a href="/'onclick='x">y</a>
`

// written crawls the site and returns its report.
func written(t *testing.T) string {
	t.Helper()
	long := strings.Replace(site, "/sitemap.xml\n", "/sitemap.xml\n"+strings.Repeat(strings.Repeat("#", 99)+"\n",
		5<<10)+"Disallow: /\n", 1)
	s, seed := crawltest.Site(t, long)
	dir := filepath.Join(t.TempDir(), "archive")
	var log bytes.Buffer
	crawltest.Archive(t, dir, seed, func(o *crawler.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	if n := strings.Count(log.String(), "over 500 KiB"); n != 1 {
		t.Errorf("the crawl said %d times that its robots.txt is too long", n)
	}
	a := crawltest.Open(t, dir)
	f, err := a.Frontier()
	if err != nil {
		t.Fatal(err)
	}
	var st status.State
	if _, err := a.Crawl(&st); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	o := Options{Dir: "site", Seed: seed, Origins: []string{seed.Origin()}, Now: time.Now(), Version: "1",
		Known: inventory.KnownOf(f), URLs: f.Counts().OfSite(), Holds: *st.Holds}
	o.Findings = []audit.Finding{{Name: "canonical-noindex", Level: audit.Error, Says: "The canonical URL asks not to be found.",
		Hits: []audit.Hit{{URL: s.Origin + "/copy1", Detail: "see " + s.Origin + "/secret."},
			{URL: s.Origin + "/secret", Detail: "Hush"}, {URL: s.Origin + "/copy2", Detail: "plain"}}}}
	found, err := Write(context.Background(), &b, a, o)
	if err != nil {
		t.Fatal(err)
	}
	if found.Nowhere != 2 {
		t.Errorf("%d redirects lead nowhere, want 2", found.Nowhere)
	}
	if !strings.Contains(b.String(), "over 500 KiB: the rules behind that were not read") {
		t.Error("the report does not say that the robots.txt is too long")
	}
	return strings.ReplaceAll(b.String(), s.Origin, "")
}

// Redirects in a loop, those that lead into it, and all of a chain that is cut off.
func TestRedirectsThatLeadNowhereAreCounted(t *testing.T) {
	g := &gatherer{r: &Report{}, moved: map[string]string{"a": "b", "b": "c", "c": "b", "self": "self", "ok": "page"},
		cutOff: map[string]bool{"hop21": true}}
	for i := range 21 {
		g.moved[fmt.Sprint("hop", i)] = fmt.Sprint("hop", i+1)
	}
	for i := range 20 {
		g.moved[fmt.Sprint("far", i)] = fmt.Sprint("far", i+1)
	}
	for from, want := range map[string]string{"a": inCircle, "b": inCircle, "self": inCircle, "ok": "", "hop0": tooMany,
		"hop20": tooMany, "far0": ""} {
		if got := g.chainOf(from).nowhere; got != want {
			t.Errorf("%s: %q, want %q", from, got, want)
		}
	}
	if !strings.Contains(tooMany, fmt.Sprint(" ", judge.MaxRedirects, " ")) {
		t.Errorf("%q is not the limit of %d", tooMany, judge.MaxRedirects)
	}
	if g.redirects(); g.r.Nowhere != 4+21 || g.r.Redirects.Total != 4+21+1+20 ||
		g.r.Redirects.Lines[0].Text != tooMany {
		t.Errorf("%d of %d lead nowhere, %q first", g.r.Nowhere, g.r.Redirects.Total, g.r.Redirects.Lines[0].Text)
	}
}

// section returns the text of one section of the report.
func section(t *testing.T, page, id string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, `<section id="`+id+`">`)
	if !ok {
		t.Fatalf("no section %s", id)
	}
	text, _, _ := strings.Cut(rest, "</section>")
	return text
}

func TestTheReportNamesWhatIsWrong(t *testing.T) {
	page := written(t)
	for _, c := range []struct{ section, want string }{
		{"broken", `<a href="/gone"`},
		{"redirects", "2 steps"},
		{"redirects", "2 that lead nowhere"},
		{"redirects", "in a circle"},
		{"broken", "redirect: in a circle"},
		{"orphans", `<a href="/orphan"`},
		{"duplicates", `<a href="/copy2"`},
		{"titles", `<a href="/copy1"`},
		{"repair", "error: canonical-noindex"},
		{"repair", `<a href="/copy1" rel="noreferrer">/copy1</a></th><td></td>`},
		{"repair", "<td>plain</td>"},
		{"skipped", "robots.txt: line 2: Disallow: /private/"},
		{"politeness", "median"},
		{"politeness", "status 200, version"},
		{"plots", "<svg"},
		{"next", "curtsy links site --broken"},
	} {
		if !strings.Contains(section(t, page, c.section), c.want) {
			t.Errorf("section %s has no %q:\n%s", c.section, c.want, section(t, page, c.section))
		}
	}
}

func TestTheReportNamesNothingThatMustNotBeListed(t *testing.T) {
	page := written(t)
	for _, word := range []string{"/secret", "Hush", "<script"} {
		if strings.Contains(page, word) {
			t.Errorf("the report has %q", word)
		}
	}
	if !strings.Contains(page, "URLs not named here") {
		t.Error("it does not say that there are such")
	}
}

func TestThePlotsAreXML(t *testing.T) {
	bars := []Bar{{`a<b>"'&`, 3, "3"}, {"", 0, "0"}, {strings.Repeat("ж", 50), 1e9, "many"}}
	for _, p := range []Plot{{Title: `x"<`, Bars: bars}, {Title: "y", Bars: bars, Upright: true},
		{Title: "one", Bars: bars[:1], Upright: true}} {
		d := xml.NewDecoder(strings.NewReader(string(p.SVG())))
		for {
			_, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", p.SVG(), err)
			}
		}
	}
	if (Plot{}).SVG() != "" {
		t.Error("a plot of nothing is drawn")
	}
}

func TestPausesAreMeasuredFromTheEndOfAnAnswer(t *testing.T) {
	sec := int64(time.Second)
	all := []request{{at: 0, took: sec}, {at: 2 * sec, took: sec}, {at: 5 * sec, took: sec, host: 0},
		{at: 5 * sec, host: 1}, {at: 8000 * sec, took: 1}}
	h := pace("h", 0, all)
	if h.Requests != 4 || h.Least != time.Second || h.Mean != 1500*time.Millisecond || h.PerHour != 3 ||
		h.Overlapped != 0 {
		t.Errorf("%+v", h)
	}
}

func TestAThousandRowsAreFolded(t *testing.T) {
	var table Table
	for i := range 1000 {
		table.add(i%10 > 0, Line{URL: fmt.Sprint(i)})
	}
	if len(table.Lines) != maxRows || table.Hidden != 100 || table.Left() != 1000-100-maxRows {
		t.Errorf("%d lines, %d hidden, %d left", len(table.Lines), table.Hidden, table.Left())
	}
}

// A link to another site does not count as a URL that was skipped.
func TestTheReportCountsTheSite(t *testing.T) {
	if page := written(t); !strings.Contains(page, "<dt>URLs skipped by a rule</dt><dd>1</dd>") {
		t.Error("more than /private/x is counted as skipped")
	}
}
