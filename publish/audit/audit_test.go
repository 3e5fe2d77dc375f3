package audit_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"curtsy/facts"
	"curtsy/htmlmeta"
	"curtsy/internal/testkit/crawltest"
	"curtsy/internal/weburl"
	"curtsy/publish/audit"
	"curtsy/publish/inventory"
)

// sound returns the head of a page without faults, with its own title and description.
func sound(name string) string {
	return fmt.Sprintf(`<html lang=en><meta name=viewport content="width=device-width"><title>All about %s</title><meta name=description content="What there is to say of %s"><h1>%s</h1>`, name, name, name)
}

// head returns sound with additional elements.
func head(name, more string) string { return strings.Replace(sound(name), "<h1>", more+"<h1>", 1) }

// planted is a site most of whose pages have one fault.
var planted = `
-- /robots.txt --
User-agent: *
Disallow: /denied
Disallow: /hidden.css
Sitemap: {{origin}}/sitemap.xml
Sitemap: {{origin}}/cut.xml
Sitemap: {{origin}}/none.xml
-- /sitemap.xml --
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{{origin}}/</loc></url><url><loc>{{origin}}/map-gone</loc></url>
<url><loc>{{origin}}/map-moved</loc></url><url><loc>{{origin}}/map-noindex</loc></url><url><loc>{{origin}}/denied-map</loc></url>
<url><loc>{{origin}}/map-orphan</loc></url><url><loc>{{origin}}/map-copy</loc></url><url><loc>mailto:x</loc></url><url><loc>https://elsewhere.invalid/</loc></url></urlset>
-- /cut.xml --
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{{origin}}/</loc></url><url><lo
-- /none.xml --
<html><title>x</title>
-- / --
` + sound("home") + `<link rel=stylesheet href=/hidden.css>{{links}}
-- /sound --
` + head("sound", `<link rel=canonical href="/sound">`) + `<img src="/p.png" alt="">
-- /p.png --
PNG 4x4
-- /map-gone --
HTTP 410

-- /map-moved --
HTTP 301
Location: /sound

-- /map-noindex --
` + sound("map-noindex") + `<meta name=robots content=noindex>
-- /map-orphan --
` + sound("map-orphan") + `
-- /map-copy --
` + head("map-copy", `<link rel=canonical href=/sound>
`)

// faults lists the pages with a fault: path, finding and detail.
var faults = []struct{ path, finding, page string }{
	{"/gone", "broken-link", "HTTP 404\n\n"},
	{"/circle", "redirect-nowhere", "HTTP 302\nLocation: /circle\n\n"},
	{"/to-gone", "redirect-nowhere", "HTTP 302\nLocation: /gone\n\n"},
	{"/chain", "redirect-chain", "HTTP 301\nLocation: /moved\n\n"},
	{"/moved", "link-to-redirect", "HTTP 301\nLocation: /sound\n\n"},
	{"/bad-link", "bad-link", sound("bad link") + `<a href="http://[bad">x</a>`},
	{"/typo", "bad-link", sound("typo") + `<a href="htp://typo.example/">x</a>`},
	{"/mail", "bad-link", sound("mail") + `<a href="mailto:nobody at example">x</a>`},
	{"/no-title", "title-missing", `<html lang=en><meta name=description content="no title"><h1>x</h1>`},
	{"/two-titles", "title-several", sound("two titles") + `<title>another</title>`},
	{"/long-title", "title-long", strings.Replace(sound("long title"), "All about", strings.Repeat("all about ", 9),
		1)},
	{"/same-title-1", "title-duplicate", strings.Replace(sound("first of two"), "<title>All about first of two",
		"<title>Same", 1)},
	{"/same-title-2", "title-duplicate", strings.Replace(sound("second of two"), "<title>All about second of two",
		"<title>Same", 1)},
	{"/no-description", "description-missing", `<html lang=en><title>No description</title><h1>x</h1>`},
	{"/two-descriptions", "description-several", sound("two descriptions") +
		`<meta name=description content="once more">`},
	{"/long-description", "description-long", strings.Replace(sound("long description"), "What",
		strings.Repeat("What ", 80), 1)},
	{"/same-description-1", "description-duplicate",
		`<html lang=en><title>one of them</title><meta name=description content=same><h1>1</h1>`},
	{"/same-description-2", "description-duplicate",
		`<html lang=en><title>other of them</title><meta name=description content=same><h1>2</h1>`},
	{"/no-h1", "h1-missing", `<html lang=en><title>No heading</title><meta name=description content="no h1">`},
	{"/two-h1", "h1-several", sound("two headings") + `<h1>again</h1>`},
	{"/two-canonicals", "canonical-several",
		head("two canonicals", `<link rel=canonical href=/sound><link rel=canonical href=/>`)},
	{"/bad-canonical", "canonical-bad", head("bad canonical", `<link rel=canonical href="http://[x">`)},
	{"/canonical-moved", "canonical-to-redirect", head("canonical moved", `<link rel=canonical href=/moved>`)},
	{"/canonical-gone", "canonical-broken", head("canonical gone", `<link rel=canonical href=/gone>`)},
	{"/canonical-hidden", "canonical-noindex", head("canonical hidden", `<link rel=canonical href=/map-noindex>`)},
	{"/canonical-denied", "canonical-disallowed",
		head("canonical denied", `<link rel=canonical href=/denied-canonical>`)},
	{"/canonical-chain", "canonical-chain", head("canonical chain", `<link rel=canonical href=/canonical-elsewhere>`)},
	{"/canonical-elsewhere", "canonical-elsewhere",
		head("canonical elsewhere", `<link rel=canonical href="http://elsewhere.invalid/">`)},
	{"/noindex-canonical", "noindex-canonical",
		head("noindex canonical", `<meta name=robots content=noindex><link rel=canonical href=/sound>`)},
	{"/bad-hreflang", "hreflang-code", head("bad hreflang", `<link rel=alternate hreflang=en_UK href=/bad-hreflang>`)},
	{"/uk", "hreflang-code", head("the kingdom", `<link rel=alternate hreflang=en-UK href=/uk>`)},
	{"/no-self", "hreflang-no-self", head("no self", `<link rel=alternate hreflang=de href=/no-self-de>`)},
	{"/no-self-de", "hreflang-no-return", head("no self, de",
		`<link rel=alternate hreflang=de href=/no-self-de><link rel=alternate hreflang=en href=/no-self><link rel=alternate hreflang=fr href=/sound>`)},
	{"/hreflang-copy", "hreflang-not-canonical",
		head("hreflang copy", `<link rel=canonical href=/sound><link rel=alternate hreflang=en href=/hreflang-copy>`)},
	{"/header", "canonical-several", "HTTP 200\nContent-Type: text/html\nLink: </>; rel=canonical\n\n" +
		head("header", "<link rel=canonical href=/sound>")},
	{"/in-body", "canonical-in-body", sound("in body") + `<p><link rel=canonical href=/sound>`},
	{"/refresh", "meta-refresh", sound("refresh") + `<meta http-equiv=refresh content="5; url=/sound">`},
	{"/no-viewport", "viewport-missing", strings.Replace(sound("no viewport"), "name=viewport", "name=view", 1)},
	{"/no-zoom", "zoom-forbidden", sound("no zoom") +
		`<meta name=viewport content="width=device-width, user-scalable=no">`},
	{"/frame", "frame-untitled", sound("frame") + `<iframe src=/sound></iframe>`},
	{"/skips", "heading-skips", sound("skips") + `<h4>deep</h4>`},
	{"/ids", "id-twice", sound("ids") + `<p id=a><p id=a>`},
	{"/area", "alt-missing", sound("area") + `<map><area href=/sound></map>`},
	{"/button", "alt-missing", sound("button") + `<form><input type=image src=/p.png></form>`},
	{"/one-way", "hreflang-no-return", head("one way",
		`<link rel=alternate hreflang=en href=/one-way><link rel=alternate hreflang=de href=/sound>`)},
	{"/hreflang-gone", "hreflang-broken", head("hreflang gone",
		`<link rel=alternate hreflang=en href=/hreflang-gone><link rel=alternate hreflang=de href=/gone>`)},
	{"/hreflang-twice", "hreflang-twice", head("hreflang twice",
		`<link rel=alternate hreflang=de href=/hreflang-twice><link rel=alternate hreflang=de href=/sound>`)},
	{"/no-lang", "lang-missing", strings.Replace(sound("no lang"), " lang=en", "", 1)},
	{"/bad-lang", "lang-bad", strings.Replace(sound("bad lang"), "lang=en", "lang=english", 1)},
	{"/misspelt", "robots-misspelt", sound("misspelt") + `<meta name=robots content="noarchiv">`},
	{"/bad-value", "robots-misspelt", sound("bad value") + `<meta name=robots content="max-snippet:abc">`},
	{"/no-alt", "alt-missing", sound("no alt") + `<img src="/p.png">`},
	{"/copy-1", "content-duplicate", `<html lang=en><title>Copy</title><meta name=description content="copied"><h1>c</h1>`},
	{"/copy-2", "content-duplicate", `<html lang=en><title>Copy</title><meta name=description content="copied"><h1>c</h1>`},
	{"/large", "page-large", sound("large") + strings.Repeat("so much to read ", 150_000)},
	{"/fails", "server-error", "HTTP 501\n\n"},
	{"/contradicts", "usage-contradicts", "HTTP 200\nContent-Type: text/html\nContent-Usage: train-ai=y\n\n" +
		sound("contradicts") + "<meta name=robots content=noai>"},
}

// elsewhere lists the findings for pages that stand for other faults of the site.
var elsewhere = []struct{ path, finding string }{
	{"/map-gone", "sitemap-broken"}, {"/map-moved", "sitemap-redirect"}, {"/map-noindex", "noindex-in-sitemap"},
	{"/denied-map", "sitemap-disallowed"},
	{"/map-orphan", "sitemap-orphan"}, {"/map-copy", "sitemap-not-canonical"}, {"/sound", "sitemap-lacks"},
	{"/sitemap.xml", "sitemap-bad"}, {"/cut.xml", "sitemap-bad"},
	{"/hidden.css", "requisite-disallowed"}, {"/sitemap.xml", "sitemap-elsewhere"},
}

func TestFaultsThatWerePlanted(t *testing.T) {
	links := `<a href=/sound>s</a><a href=/denied-canonical>d</a>`
	var site strings.Builder
	for _, f := range faults {
		links += fmt.Sprintf("<a href=%s>x</a>", f.path)
		fmt.Fprintf(&site, "-- %s --\n%s\n", f.path, f.page)
	}
	s, seed := crawltest.Site(t, strings.Replace(planted, "{{links}}", links, 1)+site.String())
	dir := filepath.Join(t.TempDir(), "archive")
	crawltest.Archive(t, dir, seed)
	a := crawltest.Open(t, dir)
	f, err := a.Frontier()
	if err != nil {
		t.Fatal(err)
	}
	found, _, err := audit.Find(t.Context(), a, audit.Options{Known: inventory.KnownOf(f), Origins: []string{s.Origin},
		Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{} // findings by path
	for _, f := range found {
		if f.Says == "" || f.Level == "" {
			t.Errorf("%s has no sentence, or no level", f.Name)
		}
		for _, h := range f.Hits {
			path := strings.TrimPrefix(h.URL, s.Origin)
			got[path] = append(got[path], f.Name)
		}
	}
	// Findings that follow from others.
	usual := []string{"sitemap-lacks", "link-to-redirect", "title-duplicate", "description-duplicate",
		"redirect-nowhere", "broken-link", "hreflang-no-return", "viewport-missing"}
	for _, f := range faults {
		if !slices.Contains(got[f.path], f.finding) {
			t.Errorf("%s: found %q, want %s", f.path, got[f.path], f.finding)
		}
		for _, name := range got[f.path] {
			if name != f.finding && !slices.Contains(usual, name) {
				t.Errorf("%s: found %s, which was not planted", f.path, name)
			}
		}
	}
	for _, f := range elsewhere {
		if !slices.Contains(got[f.path], f.finding) {
			t.Errorf("%s: found %q, want %s", f.path, got[f.path], f.finding)
		}
	}
	if list := got["/sound"]; len(list) != 1 {
		t.Errorf("of the page without a fault: %q", list)
	}
	if n := len(faults) + len(elsewhere); n < 40 {
		t.Errorf("only %d faults", n)
	}
}

// read reads a page as a crawl does.
func read(t *testing.T, at, contentType, body string) *audit.Page {
	url := weburl.MustParse(at)
	doc := htmlmeta.Read(htmlmeta.Page{URL: url, Header: http.Header{"Content-Type": {contentType}}, Body: []byte(body)},
		htmlmeta.Options{})
	var said facts.Facts
	if err := said.Read(facts.Of(url, &doc, len(body))); err != nil {
		t.Fatal(err)
	}
	return audit.Read(&said)
}

func TestAPageAsItsAuthorWroteIt(t *testing.T) {
	p := read(t, "https://h/dir/", "text/html; charset=windows-1251",
		"<html lang=bg><title>\xcf\xf0\xee\xe1\xe0 &amp; x</title><svg><title>no</title></svg>"+
			`<template><h1>no</h1><img></template><h1> <a name=x></a>`+"\n"+`</h1><H3><b>3</b></H3><img src=//h/x.png>`+
			`<img alt="" src=1><img aria-hidden=true src=2><link rel=Canonical href=" /c ">`+
			`<a href="mailto:a@b.example,c@d.example?subject=x">m</a>`)
	for name, want := range map[htmlmeta.NoteName][]string{htmlmeta.NoteTitle: {"Проба & x"}, htmlmeta.NoteLang: {"bg"},
		htmlmeta.NoteNoAlt: {"//h/x.png"}, htmlmeta.NoteHeading: {""}, htmlmeta.NoteMisplaced: {"/c"},
		htmlmeta.NoteSkips: {"h3 after h1"}} {
		if !slices.Equal(p.Notes[name], want) {
			t.Errorf("note %d: %q, want %q", name, p.Notes[name], want)
		}
	}
	if len(p.Odd) > 0 {
		t.Errorf("odd: %v", p.Odd)
	}
	for fragment, want := range map[string]bool{"one": true, "two": true, "three": false, "top": true, "/route": true,
		":~:text=quick%20brown": true, ":~:text=The,fox": true,
		":~:text=slow": false, "one:~:text=fox": true, "%6Fne": true} {
		if audit.Leads(fragment, func(id string) bool { return id == "one" || id == "two" },
			func() string { return "The quick brown fox." }) != want {
			t.Errorf("#%s: %v", fragment, !want)
		}
	}
}

// Insecure references of a page that came by https.
func TestWhatIsAskedForByHTTP(t *testing.T) {
	const body = `<form action="http://h/send"></form><img src=http://h/i alt=""><a href=http://h/a>`
	for at, want := range map[string]int{"https://h/": 1, "http://h/": 0} {
		if p := read(t, at, "text/html", body); len(p.Forms) != want || len(p.ByHTTP) != want {
			t.Errorf("%s: %+v", at, p)
		}
	}
}
