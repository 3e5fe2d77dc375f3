package mirror_test

import (
	"path/filepath"
	"strings"
	"testing"

	"curtsy/publish/mirror"
)

const over = "unavailable_after: 25 Jun 2010 15:00:00 PST"

// TestRedirectsAskTheGate checks that a redirect with noarchive, or after its
// unavailable_after, is withheld like a page.
func TestRedirectsAskTheGate(t *testing.T) {
	t.Parallel()
	s := serve(t, `-- / --
Content-Type: text/html

<a href=/never>1</a> <a href=/over>2</a> <a href=/soon>3</a> <a href=/via>4</a>
-- /never --
HTTP 301
Location: /target
X-Robots-Tag: noarchive

-- /over --
HTTP 301
Location: /target
X-Robots-Tag: `+over+`

-- /soon --
HTTP 301
Location: /target
X-Robots-Tag: unavailable_after: 25 Jun 2110 15:00:00 PST

-- /via --
HTTP 302
Location: /never

-- /target --
Content-Type: text/html

target
`)
	out := filepath.Join(t.TempDir(), "out")
	r, err := export(t, s, crawl(t, s), out)
	if err != nil {
		t.Fatal(err)
	}
	if r.Files != 2 || r.Redirects != 1 || r.Withheld != 1 || r.Expired != 1 || len(r.Problems) > 0 {
		t.Errorf("result %+v", r)
	}
	files := tree(t, out)
	for _, name := range []string{"never.html", "over.html", "via.html"} {
		if _, ok := files[name]; ok {
			t.Errorf("%s is there", name)
		}
	}
	live := `<a href="` + s.Origin
	if want := live + `/never">1</a> ` + live + `/over">2</a> <a href="target.html">3</a> ` + live +
		`/via">4</a>`; !strings.Contains(files["index.html"], want) {
		t.Errorf("links: got %q, want %q", files["index.html"], want)
	}
	_, redirects, _ := strings.Cut(files[mirror.ReportFile], ">Redirects ")
	for _, path := range []string{"/never", "/over"} {
		if strings.Contains(redirects, `<tr><td><a rel="noreferrer" href="`+s.Origin+path+`"`) {
			t.Errorf("the report leads from %s on", path)
		}
	}
	if !strings.Contains(files[mirror.ReportFile], s.Origin+`/never</a><td>noarchive`) {
		t.Error("the report does not say why /never is withheld")
	}
}

// TestReportListsNoUnlistedPage checks that no section of the report, which is published with
// the tree, names a noindex page or one after its unavailable_after; it says only how many
// there are.
func TestReportListsNoUnlistedPage(t *testing.T) {
	t.Parallel()
	const module = `<script type=module src=/m.js></script>`
	s := serve(t, `-- / --
HTTP 200
Content-Type: text/html

<a href=/secret-page>1</a><a href=/secret-old>2</a><a href=/secret-moved>3</a><a href=/to-secret>4</a><a href=/to-old>5</a><a href=/open>6</a>
<a href=/nope>7</a><a href=/secret-gone>8</a>
-- /secret-page --
HTTP 200
Content-Type: text/html
X-Robots-Tag: noindex

<a href=/nope>n</a><a href="/nope#again">n</a><a href=/nope-too>t</a><a href=http://elsewhere.invalid/>e</a><a href=/to-old>o</a>`+module+`
-- /secret-meta --
HTTP 200
Content-Type: text/html

<meta name=robots content=noindex><a href=/nope>n</a>
-- /secret-old --
HTTP 200
Content-Type: text/html
X-Robots-Tag: `+over+`

old
-- /secret-gone --
HTTP 404
Content-Type: text/html
X-Robots-Tag: noindex

gone
-- /secret-moved --
HTTP 301
Location: /open
X-Robots-Tag: noindex

-- /to-secret --
HTTP 301
Location: /secret-page

-- /to-old --
HTTP 301
Location: /secret-old

-- /open --
HTTP 200
Content-Type: text/html

<a href=/secret-meta>m</a><a href=/fine>f</a>`+module+`
-- /fine --
HTTP 301
Location: /open

-- /m.js --
HTTP 200
Content-Type: text/javascript

export default 1
`)
	out := filepath.Join(t.TempDir(), "out")
	r, err := export(t, s, crawl(t, s), out)
	if err != nil || len(r.Problems) > 0 {
		t.Fatal(r, err)
	}
	files := tree(t, out)
	report := files[mirror.ReportFile]
	for line := range strings.Lines(report) {
		if strings.Contains(line, "secret-") {
			t.Errorf("the report has %q", line)
		}
	}
	for _, want := range []string{
		"5 of the URLs visited must not be listed",
		">Withheld <small>1</small></h2></summary><p>fetched, and left out as their pages ask; links to these lead to the live site</p>\n<p>1 not named, because",
		">Redirects <small>4</small></h2></summary><p>links to the URL on the left go straight to the page on the right</p>\n<p>3 not named",
		`<a href="index.html">` + s.Origin + "/</a><br>and on 2 not named\n",
		s.Origin + "/nope-too</a><td>http: 404<td>on 1 not named\n",
		"http://elsewhere.invalid/</a><td><td>on 1 not named\n",
		s.Origin + "/to-old</a><td>redirect<td>",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("the report has no %q", want)
		}
	}
	// The pages themselves are there, and the map, which the check needs, names them.
	for _, name := range []string{"secret-page.html", "secret-meta.html", "secret-moved.html"} {
		if files[name] == "" || !strings.Contains(files[mirror.MapFile], `"file":"`+name+`"`) {
			t.Errorf("%s is not there, or not in the map", name)
		}
	}
	if strings.Contains(files[mirror.MapFile], "secret-old") {
		t.Error("the map names what has no file")
	}
	if t.Failed() {
		t.Log(report)
	}
}
