package htmlmeta

import (
	"bytes"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"curtsy/internal/weburl"
)

// TestHostilePages checks that time and memory are bounded for any input. The time limits are
// generous, for slow machines; they catch quadratic behaviour.
func TestHostilePages(t *testing.T) {
	mega := 1 << 19
	if testing.Short() {
		mega >>= 5
	}
	rep := strings.Repeat
	for _, c := range []struct {
		name, contentType, body string
	}{
		{"half a million nested tags", "text/html", rep("<div>", mega)},
		{"half a million nested svg", "text/html", rep("<svg>", mega)},
		{"half a million templates", "text/html", rep("<template>", mega)},
		{"half a million styled tags", "text/html", rep("<p style='a:url(b)'>", mega)},
		{"an attribute of 25 MB", "text/html", `<a href="` + rep("x", 50*mega) + `">`},
		{"a style of 2 MB", "text/html", `<a style="` + rep("url(x)", 5*mega/6) + `">`},
		{"an attribute that never ends", "text/html", rep(`<a href="`, mega)},
		{"a hundred thousand attributes", "text/html", "<a " + rep("b=c ", 100_000) + ">"},
		{"a hundred thousand candidates", "text/html", "<img srcset='" + rep("x?y 1x, ", 100_000) + "'>"},
		{"comments that never end", "text/html", rep("<!--", mega)},
		{"comments that nearly end", "text/html", "<!--" + rep("--", mega)},
		{"scripts that never end", "text/html", rep("<script>", mega)},
		{"escapes in a script", "text/html", "<script>" + rep("<!-- -->", mega)},
		{"half escapes in a script", "text/html", "<script>" + rep("<!--<script>", mega)},
		{"titles that nearly end", "text/html", "<title>" + rep("</titl", mega)},
		{"less-than signs", "text/html", rep("<", 10*mega)},
		{"entities", "text/html", "<a href='" + rep("&amp;", 10_000) + rep("&#x26", 10_000) + rep("&", 10_000) + "'>"},
		{"a long entity", "text/html", "<a style='&" + rep("a", 10*mega) + "('>"},
		{"srcdoc in srcdoc", "text/html", rep("<iframe srcdoc='", 10_000) + rep("&lt;iframe srcdoc=&quot;", 10_000) +
			"'>"},
		{"metas", "text/html", rep("<meta name=robots content=noindex,nofollow>", 300_000)},
		{"a long meta", "text/html", "<meta name=robots content='" + rep("unavailable_after:,", mega/4) + "'>"},
		{"broken dates in one piece", "text/html", "<meta name=robots content='" + rep("unavailable_after: x ",
			mega/8) + rep("noindex ", mega/8) + "'>"},
		{"directives behind a date", "text/html", "<meta name=robots content='unavailable_after: 25 Jun 2010 " +
			rep("noindex ", mega) + "'>"},
		{"different links", "text/html", differentLinks(300_000)},
		{"css that never ends", "text/css", rep("url(", mega)},
		{"css strings that never end", "text/css", rep("\"\n", mega)},
		{"css comments", "text/css", rep("/*", mega)},
		{"css functions", "text/css", rep("image-set(", mega)},
		{"css escapes", "text/css", rep(`\`, mega) + rep("url(\\", mega)},
		{"css bad urls", "text/css", rep("url(a b(", mega)},
		{"octets above ASCII", "text/html", rep("\xe0\xe1\xe2", 5*mega)},
		{"UTF-16 that is none", "text/html", "\xff\xfe" + rep("\x00\xd8", 5*mega)},
		{"CDATA", "application/xhtml+xml", rep("<![CDATA[", mega)},
	} {
		start := time.Now()
		before := heapAllocated()
		d := Read(Page{URL: weburl.MustParse("http://h/"), Header: map[string][]string{"Content-Type": {c.contentType}},
			Body: []byte(c.body)}, Options{})
		if took := time.Since(start); took > 2*time.Minute {
			t.Errorf("%s: took %v", c.name, took)
		}
		if used := heapAllocated() - before; used > 400<<20 {
			t.Errorf("%s: %d MiB", c.name, used>>20)
		}
		if len(d.Links) > MaxLinks || len(d.Directives.Sources) > maxSources {
			t.Errorf("%s: %d links, %d sources", c.name, len(d.Links), len(d.Directives.Sources))
		}
		if c.name == "different links" && !d.Capped {
			t.Errorf("%s: not said that there are more", c.name)
		}
		t.Logf("%-32s %v", c.name, time.Since(start).Round(time.Millisecond))
	}
}

func heapAllocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func differentLinks(n int) string {
	var b bytes.Buffer
	for i := range n {
		b.WriteString("<a href=/x")
		for j := i; j > 0; j /= 26 {
			b.WriteByte('a' + byte(j%26))
		}
		b.WriteString(">")
	}
	return b.String()
}

// TestReadTogether reads pages in many goroutines; each must get the links of its own page.
func TestReadTogether(t *testing.T) {
	greek := encoded(t, "windows-1253", "<title>Καλώς ήλθατε στην ιστοσελίδα μας</title>")
	times := 200
	if testing.Short() {
		times = 20
	}
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			path := "/" + string(rune('a'+g))
			for range times {
				d := Read(Page{URL: weburl.MustParse("http://h/"), Header: htmlHeader,
					Body: []byte("<title>" + path + "</title><a href=" + path + "><style>p{a:url(" + path +
						".png)}</style><iframe srcdoc='<a href=" + path + "in>'>")}, Options{})
				Read(Page{Header: htmlHeader, Body: greek}, Options{}) // through charset detection
				want := path + " a.href page\n" + path + ".png style.url() requisite\n" + path + "in a.href page"
				if got := linkLines(d); got != want || d.Title != path {
					t.Errorf("got %s %q, want %s", got, d.Title, want)
					return
				}
			}
		})
	}
	all.Wait()
}
