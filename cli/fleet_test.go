package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"curtsy/crawler"
	"curtsy/fleet"
	"curtsy/fleet/engine"
	"curtsy/fleet/store"
	"curtsy/internal/weburl"
)

// Every key either may be set by a site of a fleet, or is refused with its line, by the worker
// too. The keys to refuse are those that name a program, a file, an environment variable, an
// authority, a proxy or a path.
func TestWhatASiteOfAFleetMaySet(t *testing.T) {
	s := fleet.NewSite(weburl.MustParse("https://site.example/"))
	s.Contact = "a@b.example"
	for _, line := range []string{"render:\n  browser: /bin/sh", "login:\n  bearer: env:AWS_SECRET_ACCESS_KEY",
		"login:\n  basic: /etc/shadow",
		"login: {netrc: true}", "login: {cookies: x, cert: y, key: z}", "fetch:\n  ca: /x.pem",
		"fetch: {proxy: 'http://evil.example'}",
		"fetch: {header: {Host: metadata.internal}}", "archive: /etc/cron.d", "storage: {prefix: ../../x}",
		"storage: {min_free: 0}",
		"render: &a {pages: none}\nlogin: {bearer: 'env:X'}", "delay: 1s\n---\narchive: /tmp/x"} {
		s.Config = []byte("delay: 2s\n" + line)
		if strings.HasPrefix(line, "delay") {
			s.Config = []byte(line)
		}
		_, err := siteOptions(s, nil, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), "of a fleet") || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: got %v", line, err)
		}
		path := filepath.Join(t.TempDir(), "site.yaml")
		if err := os.WriteFile(path, s.Config, 0o600); err != nil {
			t.Fatal(err)
		}
		c := defaults()
		if _, err := readAllowed(&c, path, siteKey); err == nil || !strings.Contains(err.Error(), path+":") {
			t.Errorf("%s: fleet add says %v", line, err)
		}
	}
	s.Config = []byte("delay: 2s\nlimits: {max_pages: 3}\nscope: {exclude: ['/private']}\ntraps: {path_depth: 9}\npoliteness: {quiet: []}\nfetch: {retries: 1, cookies: true}\nconcurrency: 2\n")
	o, err := siteOptions(s, nil, slog.New(slog.DiscardHandler))
	if err != nil || o.Limits.Pages != 3 {
		t.Errorf("%+v, %v", o.Limits, err)
	}
	s.Name = "another.example"
	if _, err := siteOptions(s, nil, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a site of another name was taken")
	}
}

// Logins come from the operator: a site gets the login of its own host only.
func TestLoginsOfAFleet(t *testing.T) {
	dir := t.TempDir()
	token, file := filepath.Join(dir, "token"), filepath.Join(dir, "credentials.yaml")
	for name, text := range map[string]string{token: "secret", file: "members.example:\n  bearer: " + token + "\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	known, err := readCredentials(file)
	if err != nil {
		t.Fatal(err)
	}
	for seed, want := range map[string]string{"https://members.example/": "Bearer secret",
		"https://other.example/": ""} {
		s := fleet.NewSite(weburl.MustParse(seed))
		s.Contact = "a@b.example"
		o, err := siteOptions(s, known, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if o.Fetch.Login != nil {
			got = o.Fetch.Login.Authorization
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", seed, got, want)
		}
	}
	if err := os.WriteFile(file, []byte("members.example: {password: x}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readCredentials(file); err == nil {
		t.Error("an unknown key was taken")
	}
}

// fleet set changes one setting and keeps the others.
func TestSettingsOfASite(t *testing.T) {
	s := fleet.NewSite(weburl.MustParse("https://site.example/"))
	s.Contact, s.Config, s.Cron = "a@b.example", []byte("limits:\n  max_pages: 3\n"), "0 3 * * *"
	for _, pair := range [][2]string{{"delay", "2s"}, {"limits.max_bytes", "1MB"}, {"every", "7d"}, {"group", "mine"}} {
		if err := setSite(&s, pair[0], pair[1]); err != nil {
			t.Errorf("%s: %v", pair[0], err)
		}
	}
	c, err := siteConfig(&s)
	if err != nil || c.Delay.String() != "2s" || c.Limits.MaxPages != 3 || c.Limits.MaxBytes != 1_000_000 {
		t.Errorf("%s: %+v, %v", s.Config, c.Limits, err)
	}
	if s.Every.Hours() != 168 || s.Cron != "" || s.Contact != "a@b.example" || s.Group != "mine" {
		t.Errorf("%+v", s)
	}
	for _, pair := range [][2]string{{"limits.max_pages", ""}, {"every", ""}, {"group", ""}} {
		if err := setSite(&s, pair[0], pair[1]); err != nil {
			t.Errorf("%s: %v", pair[0], err)
		}
	}
	if c, err := siteConfig(&s); err != nil || c.Limits.MaxPages != 0 || s.Every != 0 || s.Group != "site.example" {
		t.Errorf("%+v, %+v, %v", s, c.Limits, err)
	}
	for key, value := range map[string]string{"render.browser": "/bin/sh", "login.bearer": "env:X", "every": "soon",
		"archive": "x"} {
		if setSite(&s, key, value) == nil {
			t.Errorf("%s was set", key)
		}
	}
}

// watch shows the sites that are being crawled with live counts, and ends when the fleet does;
// the status of a worker shows only the sites of that worker.
func TestWatchingAFleet(t *testing.T) {
	t.Parallel()
	var next atomic.Int64
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>%s</title><a href=/%d>next</a>", r.URL.Path, next.Add(1))
	}))
	defer site.Close()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	ended := servedFleet(t, ctx, dir)
	defer func() { cancel(); <-ended }()
	if code, said := fleetSaid("add", site.URL+"/", "--dir", dir); code != exitDone ||
		!strings.Contains(said, "1 site added") {
		t.Fatalf("exit %d: %s", code, said)
	}
	r, w := io.Pipe()
	watched := make(chan int, 1)
	go func() {
		watched <- Main([]string{"fleet", "watch", "--every", "100ms", "--dir", dir}, strings.NewReader(""), w,
			io.Discard)
		w.Close()
	}()
	seen := map[string]bool{}
	for lines := bufio.NewScanner(r); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if len(f) < 7 || f[0] != "running" || f[len(f)-1] != "w1" {
			t.Errorf("watch says %q", lines.Text())
		}
		if seen[f[2]] = true; len(seen) == 3 {
			break
		}
	}
	for worker, want := range map[string]bool{"w1": true, "w2": false} {
		if _, said := fleetSaid("status", "--worker", worker, "--dir", dir); strings.Contains(said,
			"running ") != want {
			t.Errorf("status of %s: %s", worker, said)
		}
	}
	go io.Copy(io.Discard, r) //nolint:errcheck // the rest
	cancel()
	<-ended
	if code := <-watched; code != exitFailed {
		t.Errorf("watch ended with %d", code)
	}
}

// fleetSaid runs a fleet command and returns its exit code and output.
func fleetSaid(args ...string) (code int, said string) {
	var b bytes.Buffer
	code = Main(append([]string{"fleet"}, args...), strings.NewReader(""), &b, &b)
	return code, b.String()
}

// servedFleet runs a fleet of one machine in this process until ctx is done.
func servedFleet(t *testing.T, ctx context.Context, dir string) (ended chan struct{}) {
	t.Helper()
	e, err := engine.Start(engine.Options{Dir: dir, Name: "w1"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(ctx, fleetStore(dir))
	if err != nil {
		t.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	w := fleet.NewWorker(fleet.Options{Name: "w1", Dir: dir, Store: s, Connect: e.Connect, Nodes: 1,
		Slots: 2, Alone: true,
		Crawl: func(s fleet.Site) (crawler.Options, error) {
			o, err := siteOptions(s, nil, quiet)
			o.Pace.Delay = 20 * time.Millisecond
			return o, err
		}})
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		if err := w.Run(context.WithoutCancel(ctx), ctx); err != nil {
			t.Error(err)
		}
		e.Close()
	}()
	return ended
}
