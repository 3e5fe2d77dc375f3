//go:build unix

package cli

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A seed that cannot be connected to ends the crawl at once, or after one retry where that may
// help, and leaves nothing behind.
func TestSeedThatCannotBeReached(t *testing.T) {
	t.Parallel()
	plain, secure, closed := quietServer(t), quietServer(t), quietServer(t)
	plain.Start()
	secure.StartTLS()
	closed.Start()
	closed.Close()
	silent := quietServer(t) // like a server that closes connections without TLS
	silent.Config.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	silent.Start()
	for _, c := range []struct {
		name, url, why, try string
		again               int // number of retries
	}{
		{"a closed port", closed.URL, "connection refused", "another URL, or this one later", 1},
		{"a server that closes at once", silent.URL, "connection closed by the server", "https:// instead of http://",
			1},
		{"https on an http port", strings.Replace(plain.URL, "http:", "https:", 1),
			"the server does not speak TLS on this port", "http:// instead of https://", 0},
		{"a bad certificate", secure.URL, "certificate signed by an unknown authority", "--ca FILE", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "archive")
			said := curtsy(t, "crawl", c.url+"/", "--archive", dir, "--contact", "a@example.org").run(t, exitFailed)
			_, host, _ := strings.Cut(c.url, "://")
			contains(t, said, "curtsy: cannot reach "+host+": "+c.why+"\n  try: "+c.try)
			if got := strings.Count(said, "; retrying in "); got != c.again {
				t.Errorf("tried %d times more, want %d:\n%s", got, c.again, said)
			}
			if _, err := os.Stat(dir); !os.IsNotExist(err) {
				t.Errorf("the archive's directory is left behind: %v", err)
			}
		})
	}
}

// A round that cannot reach the site ends after three requests for robots.txt, requests no
// page, and leaves the segments alone; the next round makes up for it.
func TestRoundOfASiteThatIsAway(t *testing.T) {
	t.Parallel()
	s := quietServer(t)
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "a text") })
	s.Start()
	dir := filepath.Join(t.TempDir(), "archive")
	ran := func(code int, args ...string) string {
		c := curtsy(t, append(args, "--delay", "0")...)
		c.Env = append(c.Env, "CURTSY_FETCH_RETRY_BASE=1ms")
		return c.run(t, code)
	}
	ran(exitDone, "crawl", s.URL+"/", "--archive", dir, "--contact", "a@example.org")
	before := segments(t, dir)
	s.Close()
	said := ran(exitFailed, "update", dir)
	contains(t, said, "curtsy: cannot reach "+strings.TrimPrefix(s.URL, "http://")+
		": connection refused\n  try: the same command later")
	if got := strings.Count(said, "; retrying in "); got != 2 {
		t.Errorf("tried %d times more, want 2:\n%s", got, said)
	}
	if got := curtsy(t, "list", dir, "--versions").run(t, exitDone); strings.Count(got, "connection refused") != 3 {
		t.Errorf("want three visits to robots.txt and none to a page:\n%s", got)
	}
	if after := segments(t, dir); after != before {
		t.Errorf("segments before: %s\nafter: %s", before, after)
	}
	back := quietServer(t)
	back.Config.Handler = s.Config.Handler
	var err error
	if back.Listener, err = net.Listen("tcp", strings.TrimPrefix(s.URL, "http://")); err != nil {
		t.Skip("the port is taken")
	}
	back.Start()
	contains(t, ran(exitDone, "update", dir), "round 1 finished: 1 visited, 0 new, 0 changed, 1 same")
}

// segments lists the segments of an archive with their sizes.
func segments(t *testing.T, dir string) (list string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(dir, "warc"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		list += fmt.Sprintf("%s %d\n", f.Name(), info.Size())
	}
	return list
}

// quietServer is a server that does not log broken connections.
func quietServer(t *testing.T) *httptest.Server {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(s.Close)
	return s
}
