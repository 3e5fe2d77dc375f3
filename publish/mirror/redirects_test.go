package mirror_test

import (
	"fmt"
	"strings"
	"testing"

	"curtsy/publish/mirror"
)

// A redirect without a valid target is broken, and not a link to another site; a short link
// leads to its page.
func TestExportOfRedirectsThatLeadNowhere(t *testing.T) {
	t.Parallel()
	var hops strings.Builder
	for i := range 25 {
		fmt.Fprintf(&hops, "-- /hop%d --\nHTTP 302\nLocation: /hop%d\n\n", i, i+1)
	}
	s := serve(t, hops.String()+`
-- / --
<!DOCTYPE html><title>start</title><link rel=shortlink href="/?p=1"><link rel=canonical href="/a"><a href="/loop">l</a> <a href="/lost">g</a> <a href="/out">o</a> <a href="/hop0">h</a> <a href="/hop9">h</a> <a href="/a">a</a>
-- /a --
<title>a</title>
-- /?p=1 --
HTTP 301
Location: /a

-- /loop --
HTTP 302
Location: /loop2

-- /loop2 --
HTTP 302
Location: /loop

-- /lost --
HTTP 302
Location: /gone

-- /out --
HTTP 302
Location: http://other.invalid/

`)
	files := exported(t, s, crawl(t, s))
	if want := `<link rel=shortlink href="a.html"><link rel=canonical href="` + s.Origin +
		`/a">`; !strings.Contains(files["index.html"], want) {
		t.Errorf("index.html: %s", files["index.html"])
	}
	report := files[mirror.ReportFile]
	for _, c := range []struct{ section, target string }{{"Broken on the site", "/loop"}, {"Broken on the site",
		"/lost"}, {"Broken on the site", "/hop0"}, {"Broken on the site", "/hop9"}, {"Other sites", "/out"}} {
		_, section, _ := strings.Cut(report, ">"+c.section+" ")
		section, _, _ = strings.Cut(section, "</details>")
		if !strings.Contains(section, `href="`+s.Origin+c.target+`"`) ||
			!strings.Contains(section, `<th scope="col">URL`) {
			t.Errorf("%s does not stand under %s: %s", c.target, c.section, section)
		}
	}
}
