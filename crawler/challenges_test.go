package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"curtsy/storage/crawllog"
)

// copyKilled copies an archive from within OnVisit: the copy is what a kill after that commit leaves.
func copyKilled(dir, to string) error {
	db, err := os.ReadFile(filepath.Join(dir, "crawl.db"))
	return errors.Join(err, os.CopyFS(filepath.Join(to, "warc"), os.DirFS(filepath.Join(dir, "warc"))),
		os.WriteFile(filepath.Join(to, "crawl.db"), db, 0o600))
}

// The count of consecutive challenges survives a kill: a site that turns the crawler away is not
// asked the full number of times again after each resume.
func TestARowOfChallengesOutlivesAKill(t *testing.T) {
	t.Parallel()
	const most = 8
	var targets []string
	for i := range 30 {
		targets = append(targets, fmt.Sprintf("/turned/%d", i))
	}
	s := newSite(t, map[string]page{"/robots.txt": text(""), "/": links(targets...), "*": {status: 403,
		header: []string{"Content-Type: text/html", "Cf-Mitigated: challenge"}, body: "<title>Just a moment...</title>"}})
	o := options(s.URL + "/")
	o.Pace.MaxFailures, o.Pace.Delay = most, 20*time.Millisecond
	base := t.TempDir()
	dir, killed := filepath.Join(base, "archive"), filepath.Join(base, "killed")
	came := 0
	o.OnVisit = func(_ context.Context, v *crawllog.Visit) error {
		if v.Blocked == "" {
			return nil
		}
		if came++; came != most/2 {
			return nil
		}
		return copyKilled(dir, killed)
	}
	for _, dir := range []string{dir, killed} {
		s.forget()
		if r := crawl(t, dir, o); !strings.Contains(r.Why, "failures in a row") {
			t.Fatalf("%s: it ends with %v, %s", dir, r.Ending, r.Why)
		}
	}
	n := 0
	for _, target := range s.requests() {
		if strings.HasPrefix(target, "/turned/") {
			n++
		}
	}
	if n == 0 || n >= most { // the count including the last challenge may be written after its commit
		t.Errorf("after a kill behind %d of %d challenges, %d more were asked for", most/2, most, n)
	}
}
