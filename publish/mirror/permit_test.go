package mirror_test

import (
	"path/filepath"
	"strings"
	"testing"

	"curtsy/publish/mirror"
)

const over = "unavailable_after: 25 Jun 2010 15:00:00 PST"

// TestRedirectsAskTheGate: a redirect that asks not to be kept, or whose time
// is over, is withheld like any page.
func TestRedirectsAskTheGate(t *testing.T) {
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
	if r.Files != 2 || r.Redirects != 1 || r.Withheld != 2 || len(r.Problems) > 0 {
		t.Errorf("result %+v", r)
	}
	files := tree(t, out)
	for _, name := range []string{"never.html", "over.html", "via.html"} {
		if _, ok := files[name]; ok {
			t.Errorf("%s is there", name)
		}
	}
	live := `<a href="` + s.Origin
	if want := live + `/never">1</a> ` + live + `/over">2</a> <a href="target.html">3</a> ` + live + `/via">4</a>`; !strings.Contains(files["index.html"], want) {
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
