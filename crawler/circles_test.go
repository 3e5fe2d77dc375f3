package crawler_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"curtsy/crawler/rebuild"
	"curtsy/crawler/revisit"
	"curtsy/crawler/status"
	"curtsy/storage/crawllog"
)

// Redirects that form or lead into a circle are failures: within one run, when a later run adds the
// last redirect, and after a rebuild.
func TestRedirectsInACircleAreFailures(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{"/robots.txt": text(""), "/": links("/tail", "/one", "/moved", "/late"),
		"/tail": redirect("/one"), "/one": redirect("/two"),
		"/two": redirect("/three"), "/three": redirect("/one"), "/moved": redirect("/end"), "/end": html("end"),
		"/late": html("late")})
	dir := filepath.Join(t.TempDir(), "archive")
	crawl(t, dir, options(s.URL+"/"))
	want := func(when string, failed ...string) {
		t.Helper()
		all := rows(t, dir)
		for target, r := range all {
			state := "fetched"
			if strings.Contains(strings.Join(failed, " ")+" ", target+" ") && target != "/" {
				state = "failed"
			}
			if r.State != state || state == "failed" && !strings.Contains(r.Rule, "in a circle") {
				t.Errorf("%s: %s is %s, %s", when, target, r.State, r.Rule)
			}
		}
		st, err := status.Read(dir)
		if err != nil || st.Failed != len(failed) || st.Fetched != len(all)-len(failed) {
			t.Errorf("%s: status has %d failed, %d fetched, %v", when, st.Failed, st.Fetched, err)
		}
	}
	circle := []string{"/tail", "/one", "/two", "/three"}
	want("crawl", circle...)
	s.set("/late", redirect("/later"))
	s.set("/later", redirect("/late"))
	round(t, dir, options(s.URL+"/"), revisit.Options{})
	want("round", append(circle, "/late", "/later")...)
	if err := os.Remove(filepath.Join(dir, "crawl.db")); err != nil {
		t.Fatal(err)
	}
	if _, err := rebuild.Archive(dir, options(s.URL+"/")); err != nil {
		t.Fatal(err)
	}
	want("rebuild", append(circle, "/late", "/later")...)
}

// Circles are still found when the run that saw the first redirects was killed.
func TestRedirectsInACircleAreFailuresAfterAKill(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{"/robots.txt": text(""), "/": links("/one", "/last"), "/one": redirect("/two"),
		"/two": redirect("/one"), "/last": html("last")})
	base := t.TempDir()
	dir, killed := filepath.Join(base, "archive"), filepath.Join(base, "killed")
	o := options(s.URL + "/")
	seen := 0
	o.OnVisit = func(_ context.Context, v *crawllog.Visit) error {
		if v.Redirects() {
			seen++
		}
		if seen != 2 {
			return nil
		}
		seen++
		return copyKilled(dir, killed)
	}
	crawl(t, dir, o)
	crawl(t, killed, o)
	for _, dir := range []string{dir, killed} {
		for target, r := range rows(t, dir) {
			if failed := target == "/one" || target == "/two"; failed != (r.State == "failed") {
				t.Errorf("%s: %s is %s, %s", filepath.Base(dir), target, r.State, r.Rule)
			}
		}
	}
}
