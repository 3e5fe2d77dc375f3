//go:build unix

package cli

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A seed that no connection leads to ends the crawl at once, or after one more
// try where that may help, and leaves nothing behind.
func TestSeedThatCannotBeReached(t *testing.T) {
	t.Parallel()
	plain, secure, closed := quietServer(t), quietServer(t), quietServer(t)
	plain.Start()
	secure.StartTLS()
	closed.Start()
	closed.Close()
	silent := quietServer(t) // as one that speaks TLS only and closes what does not
	silent.Config.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	silent.Start()
	for _, c := range []struct {
		name, url, why, try string
		again               int // so often it is tried once more
	}{
		{"a closed port", closed.URL, "connection refused", "another URL, or this one later", 1},
		{"a server that closes at once", silent.URL, "connection closed by the server", "https:// instead of http://", 1},
		{"https on an http port", strings.Replace(plain.URL, "http:", "https:", 1), "the server does not speak TLS on this port", "http:// instead of https://", 0},
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

// quietServer is one whose log says nothing of clients that break off.
func quietServer(t *testing.T) *httptest.Server {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(s.Close)
	return s
}
