package crawler_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"curtsy/crawler"
)

// gallery is a site whose one page shows one picture from each of n other hosts.
func gallery(t *testing.T, n int) (*site, crawler.Options) {
	t.Helper()
	s := newSite(t, nil)
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<img src=http://h%d.example/i.png>\n", i)
	}
	s.pages = map[string]page{
		"site.example/": html(b.String()),
		"/i.png":        {header: []string{"Content-Type: image/png"}, body: "png"},
	}
	o := options("http://site.example/")
	o.Scope.AnyRequisites, o.Pace.Concurrency = true, 4
	s.reaches(t, &o)
	return s, o
}

// The schedule's work grows linearly with the number of hosts. (It once took 0.4, 1.8, 10 and 95 s for
// 300, 600, 1,200 and 2,400 hosts.) HOSTS=4800 measures that number of hosts.
func TestScheduleIsLinearInHosts(t *testing.T) {
	t.Parallel()
	sizes := []int{40, 80}
	if n, err := strconv.Atoi(os.Getenv("HOSTS")); err == nil {
		sizes = []int{n}
	}
	for _, n := range sizes {
		s, o := gallery(t, n)
		c, err := crawler.Open(t.TempDir(), o)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		r, err := c.Run(t.Context(), t.Context())
		took := time.Since(began)
		if err != nil || r.Counts.Fetched != 2*n+2 {
			t.Errorf("%d hosts: %d fetched, %v", n, r.Counts.Fetched, err)
		}
		if got := len(s.requests()); got != 2*n+2 {
			t.Errorf("%d hosts: %d requests, want a robots.txt and a picture of each", n, got)
		}
		if most := 12 * (n + 1); c.Turns() > most {
			t.Errorf("%d hosts: looked at %d times, want %d at most", n, c.Turns(), most)
		}
		t.Logf("%d hosts: looked at %d times, %v", n, c.Turns(), took.Round(time.Millisecond))
		c.Close()
	}
}
