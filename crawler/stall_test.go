package crawler_test

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/revisit"
)

// A signal arrives while a body has stalled: the visit in flight is recorded as truncated or dropped. A
// resume requests the page again; while no response was complete, the page is failed and its reason
// says so. A complete response in a later round makes it fetched.
func TestASignalWhileABodyStalls(t *testing.T) {
	t.Parallel()
	for name, atOnce := range map[string]bool{"once": false, "twice": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stop, signal := context.WithCancel(t.Context())
			now, again := context.WithCancel(t.Context())
			var healed atomic.Bool
			whole := "<title>whole</title>" + strings.Repeat("octets ", 900)
			s := newSite(t, map[string]page{"/robots.txt": text(""), "/": links("/stalls", "/b"), "/b": links()})
			s.pages["/stalls"] = page{serve: func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				if healed.Load() {
					_, _ = io.WriteString(w, whole)
					return
				}
				w.Header().Set("Content-Length", "6320")
				_, _ = io.WriteString(w, whole[:3000])
				_ = http.NewResponseController(w).Flush()
				if signal(); atOnce {
					again()
				}
				<-r.Context().Done()
			}}
			dir, o := filepath.Join(t.TempDir(), "archive"), options(s.URL+"/")
			o.Fetch.IdleTimeout, o.Retries = 200*time.Millisecond, 1
			c, err := crawler.Open(dir, o)
			if err != nil {
				t.Fatal(err)
			}
			r, err := c.Run(now, stop)
			c.Close()
			if err != nil || r.Ending != crawler.Stopped {
				t.Fatalf("ended as %v, %v", r.Ending, err)
			}
			if row := rows(t, dir)["/stalls"]; row.State != "queued" && row.State != "failed" {
				t.Errorf("behind the signal it is %+v", row)
			}
			before := s.times("/stalls")
			crawl(t, dir, o)
			if row := rows(t, dir)["/stalls"]; row.State != "failed" ||
				!strings.Contains(row.Rule, "timed out before the end of the body") {
				t.Errorf("while none came whole it is %+v", row)
			}
			if s.times("/stalls") == before {
				t.Error("the resume does not ask for it again")
			}
			healed.Store(true)
			round(t, dir, o, revisit.Options{})
			if row := rows(t, dir)["/stalls"]; row.State != "fetched" {
				t.Errorf("with a whole copy it is %+v", row)
			}
		})
	}
}
