package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"curtsy/internal/testkit/sitetest"
)

func TestServeAnswersAndEnds(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "site")
	if code := Main([]string{"demo", "--keep", dir}, strings.NewReader(""), io.Discard, io.Discard); code != 0 {
		t.Fatalf("demo ended with %d", code)
	}
	twin := filepath.Join(t.TempDir(), "site") // an archive of the same site, with the same name
	if err := os.CopyFS(twin, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	defer r.Close()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	var said bytes.Buffer
	go func() {
		ended <- serve(ctx, &ui{out: &dataWriter{w: w}, err: &said}, &serveFlags{listen: "127.0.0.1:0"},
			[]string{dir, twin})
	}()
	line, err := bufio.NewReader(r).ReadString('\n')
	at, ok := strings.CutPrefix(strings.TrimSpace(line), "serving "+dir+" "+twin+" at ")
	if err != nil || !ok || !strings.HasPrefix(at, "http://127.0.0.1:") || !strings.HasSuffix(at, "/") {
		t.Fatalf("%v: %q", err, line)
	}
	resp, err := http.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || resp.StatusCode != 200 || !strings.Contains(string(body), "Open the start page") {
		t.Errorf("%v: %d %s", err, resp.StatusCode, body)
	}
	for _, name := range []string{dir, twin} {
		if !strings.Contains(string(body), "("+name+")</a></h2>") {
			t.Errorf("the start page does not tell %s from the other:\n%s", name, body)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("ended with %v; %s", err, said.String())
	}
}

// A crawl may write to an archive while it is served, and what it adds is shown and found.
func TestServeLetsCrawlsBegin(t *testing.T) {
	t.Parallel()
	site, err := sitetest.Parse([]byte("-- / --\n<title>Home</title>wombat\n"))
	if err == nil {
		err = site.Start("127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer site.Close()
	dir := filepath.Join(t.TempDir(), "site")
	run := func(args ...string) {
		t.Helper()
		var said bytes.Buffer
		if code := Main(append(args, "--delay", "0"), strings.NewReader(""), io.Discard, &said); code != 0 {
			t.Fatalf("%v ended with %d: %s", args, code, said.String())
		}
	}
	run("crawl", site.Origin+"/", "--archive", dir)
	s, err := openShelf(t.Context(), &ui{out: &dataWriter{w: io.Discard}, err: io.Discard}, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	r, err := s.read()
	if err != nil {
		t.Fatal(err)
	}
	if st := s.now.state; r.State != "finished" || !r.AsOf.Equal(st.Updated) {
		t.Errorf("%s as of %v; the crawl ended at %v", r.State, r.AsOf, st.Updated)
	}
	r.Close()
	for ready := false; !ready; time.Sleep(time.Millisecond) { // wait for the search index
		s.texts.mu.Lock()
		ready = s.texts.ready
		s.texts.mu.Unlock()
	}
	e, err := s.take()
	if err != nil {
		t.Fatal(err)
	}
	_, before, _ := e.LastCommit()
	s.giveBack(e)
	s.rest(e) // as the idle timer does
	if err := site.Set("/", "<title>Home</title>quokka\n"); err != nil {
		t.Fatal(err)
	}
	run("update", dir)
	e, err = s.take()
	if err != nil {
		t.Fatal(err)
	}
	defer s.giveBack(e)
	if _, after, _ := e.LastCommit(); after == before {
		t.Errorf("the state is still that of %v", before)
	}
	if err := s.texts.update(t.Context()); err != nil {
		t.Fatal(err)
	}
	hits, total, note, err := s.texts.find(t.Context(), "quokka", 0, 10)
	if err != nil || len(hits) != 1 || total != 1 {
		t.Errorf("found %v, %q, %v", hits, note, err)
	}
}
