package htmlmeta

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"curtsy/internal/weburl"
)

// TestRewriteHostile checks that rewriting any page takes linear time.
func TestRewriteHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("takes too long for -short")
	}
	const n = 100_000
	for says, src := range map[string]string{
		"nested tags":           strings.Repeat("<div>", 5*n),
		"attributes of one tag": "<a " + strings.Repeat("href=/x ", n) + ">",
		"odd attributes":        "<link " + strings.Repeat("a=b ", n) + "rel=icon href=/x>",
		"bases":                 strings.Repeat("<base href=/b/>", n),
		"candidates":            "<img srcset='" + strings.Repeat("/x 1x,", n) + "'>",
		"a huge attribute":      "<a href='" + strings.Repeat("x", 20<<20) + "'>",
		"a huge style":          "<p style='" + strings.Repeat("a:url(/x);", n) + "'>",
		"unclosed urls":         "<style>" + strings.Repeat("a{b:url(/x", n),
		"srcdoc in srcdoc": strings.Repeat("<iframe srcdoc='", 1000) + strings.Repeat("&lt;iframe srcdoc=&quot;",
			n/10),
		"uses":                   "<svg>" + strings.Repeat("<use href='/s.svg#a'/>", n),
		"svg in svg":             strings.Repeat("<svg><style>", n/2),
		"comments without ends":  strings.Repeat("<!--", n),
		"refreshes":              strings.Repeat("<meta http-equiv=refresh content='0;url=/x'>", n/4),
		"character references":   "<a href='" + strings.Repeat("&amp;", n) + "'>",
		"escapes of other texts": "<a href='/" + strings.Repeat("%D1%8F", 1300) + "'>",
	} {
		for _, typ := range []string{"text/html", "application/xhtml+xml"} {
			begin := time.Now()
			Rewrite(Page{URL: weburl.MustParse("http://h/"), Header: http.Header{"Content-Type": {typ}},
				Body: []byte(src)},
				Rewriting{Ref: testRef, NoTranslate: true, Inline: func(u weburl.URL, _ string) (string,
					weburl.URL) {
					return "<svg/>", u
				}})
			if took := time.Since(begin); took > 2*time.Minute {
				t.Errorf("%s as %s: %v for %d octets", says, typ, took, len(src))
			} else if took > time.Second {
				t.Logf("%s as %s: %v for %d octets", says, typ, took, len(src))
			}
		}
	}
}
