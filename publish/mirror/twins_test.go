package mirror_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"curtsy/crawler"
	"curtsy/frontier/judge"
	"curtsy/internal/testkit/crawltest"
	"curtsy/internal/weburl"
	"curtsy/publish/mirror"
)

// forum is a forum with so many topics; every link has a session ID, a new one in each answer,
// and its parameters in any order.
func forum(topics int) http.Handler {
	var asked atomic.Int64
	mux := http.NewServeMux()
	link := func(w http.ResponseWriter, topic int, text string) {
		sid := fmt.Sprintf("%x", rand.Text())[:32]
		query := fmt.Sprintf("t=%d&amp;f=%d&amp;sid=%s", topic, topic%7, sid)
		if asked.Add(1)%2 == 0 {
			query = fmt.Sprintf("sid=%s&amp;f=%d&amp;t=%d", sid, topic%7, topic)
		}
		fmt.Fprintf(w, `<a href="/topic.php?%s#p%d">%s</a> `, query, topic, text)
	}
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<!DOCTYPE html><title>board</title>")
		for i := range topics {
			link(w, i, "topic")
		}
	})
	mux.HandleFunc("/topic.php", func(w http.ResponseWriter, r *http.Request) {
		topic := 0
		fmt.Sscan(r.URL.Query().Get("t"), &topic)
		fmt.Fprintf(w, `<!DOCTYPE html><title>topic %d</title><a href="/?sid=%x">board</a> `, topic, rand.Text())
		link(w, (topic+1)%topics, "next")
		link(w, (topic+topics-1)%topics, "before")
	})
	return mux
}

// Every link to a page that was fetched with another session ID, or with its parameters in
// another order, leads to the file.
func TestExportLeadsTwinsToTheirPage(t *testing.T) {
	t.Parallel()
	const topics = 40
	s := httptest.NewServer(forum(topics))
	defer s.Close()
	seed := weburl.MustParse(s.URL + "/")
	dir, out := filepath.Join(t.TempDir(), "archive"), filepath.Join(t.TempDir(), "out")
	crawltest.Archive(t, dir, seed, func(o *crawler.Options) { o.Traps = judge.DefaultTraps() })
	a := crawltest.Open(t, dir)
	r, err := mirror.Export(context.Background(), a, out, mirror.Options{Seed: seed, Complete: true,
		Twin: judge.SamePage})
	r, err = proved(t, out, mirror.Options{Twin: judge.SamePage}, r, err)
	if err != nil {
		t.Fatal(err)
	}
	if r.Pages < topics+1 || r.Live != 0 || len(r.Problems) > 0 {
		t.Errorf("%d pages, %d links to the live site, problems %v", r.Pages, r.Live, r.Problems)
	}
	for name, body := range tree(t, out) {
		if strings.HasSuffix(name, ".html") && name != mirror.ReportFile && strings.Contains(body, "href=\""+s.URL) {
			t.Fatalf("%s leads to the live site: %s", name, body)
		}
	}
	checkFindsTwins(t, out, s.URL)
}

// checkFindsTwins adds to a mirror a link to the live site for a page that the mirror has.
func checkFindsTwins(t *testing.T, out, origin string) {
	t.Helper()
	page := `<meta http-equiv="Content-Security-Policy" content="` + mirror.Policy + `"><a href="` + origin +
		`/?sid=0123456789abcdef0123456789abcdef">board</a>`
	if err := os.WriteFile(filepath.Join(out, "index.html"), []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	check, err := mirror.Check(context.Background(), out, mirror.Options{Twin: judge.SamePage})
	if err != nil || len(check.Problems) != 1 || !strings.Contains(check.Problems[0].What,
		"the page is in the mirror") {
		t.Errorf("a link to the live site was not found: %+v, %v", check, err)
	}
}
