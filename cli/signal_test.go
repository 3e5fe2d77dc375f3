//go:build unix

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// command is curtsy in a process of its own.
type command struct {
	*exec.Cmd
	said strings.Builder
}

func curtsy(t *testing.T, args ...string) *command {
	t.Helper()
	c := &command{Cmd: exec.CommandContext(t.Context(), os.Args[0])}
	c.Args = append([]string{"curtsy"}, args...)
	c.Env = append(os.Environ(), "CURTSY_DELAY=5ms", "CURTSY_POLITENESS_ADAPTIVE=0")
	c.Stdout, c.Stderr = &c.said, &c.said
	return c
}

// ends waits for the process to end with the exit code, and returns its output.
func (c *command) ends(t *testing.T, code int) string {
	t.Helper()
	_ = c.Wait()
	if got := c.ProcessState.ExitCode(); got != code {
		t.Fatalf("%q ended with %d, want %d:\n%s", c.Args, got, code, c.said.String())
	}
	return c.said.String()
}

func (c *command) run(t *testing.T, code int) string {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c.ends(t, code)
}

// endless is a site whose pages each link to the next; it signals on its channel when the nth
// page is requested. From then on requests hang until released.
type endless struct {
	*httptest.Server
	reached chan struct{}
	release func()
}

func newEndless(t *testing.T, nth int64, hang bool) *endless {
	e := &endless{reached: make(chan struct{})}
	released := make(chan struct{})
	e.release = sync.OnceFunc(func() { close(released) })
	var n atomic.Int64
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			return
		}
		i := n.Add(1)
		if i == nth {
			close(e.reached)
		}
		if hang && i >= nth {
			select {
			case <-released:
			case <-r.Context().Done():
			}
		}
		w.Header().Set("Content-Type", "text/html")
		var page int
		fmt.Sscanf(r.URL.Path, "/%d", &page)
		if page < 60 {
			fmt.Fprintf(w, "<a href=/%d>next</a>", page+1)
		}
	}))
	t.Cleanup(e.Close)
	t.Cleanup(e.release)
	return e
}

func wait(t *testing.T, reached <-chan struct{}) {
	t.Helper()
	select {
	case <-reached:
	case <-time.After(20 * time.Second):
		t.Fatal("the crawl does not get there")
	}
}

func contains(t *testing.T, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%q is not in:\n%s", part, text)
	}
}

func TestInterruptFinishesWhatIsInFlightAndNamesTheCommandThatResumes(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		s := newEndless(t, 10, false)
		dir := filepath.Join(t.TempDir(), "archive")
		c := curtsy(t, "crawl", s.URL+"/", "--archive", dir)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		wait(t, s.reached)
		if err := c.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		said := c.ends(t, exitStopped)
		contains(t, said, "finishing requests in flight; interrupt again to stop at once")
		contains(t, said, "try: curtsy resume "+dir+"\n")
		contains(t, curtsy(t, "verify", dir).run(t, exitDone), ": 0 problems")
		contains(t, curtsy(t, "status", dir, "--json").run(t, exitDone), `"state":"stopped"`)
		contains(t, curtsy(t, "resume", dir).run(t, exitDone), "done: 62 fetched, 0 failed")
	}
}

func TestSecondInterruptStopsAtOnceAndLosesNothing(t *testing.T) {
	t.Parallel()
	s := newEndless(t, 10, true)
	dir := filepath.Join(t.TempDir(), "archive")
	c := curtsy(t, "crawl", s.URL+"/", "--archive", dir)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	wait(t, s.reached)
	for range 2 {
		if err := c.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond) // two signals in quick succession may be delivered as one
	}
	contains(t, c.ends(t, exitStopped), "try: curtsy resume "+dir)
	s.release()
	contains(t, curtsy(t, "verify", dir).run(t, exitDone), ": 0 problems")
	contains(t, curtsy(t, "resume", dir).run(t, exitDone), "done: 62 fetched, 0 failed")
}

// After one or two SIGTERMs while a body has stalled, the partial body is not taken for the
// page. A resume requests it again, and explains the failure until the page arrives whole.
func TestSIGTERMWhileABodyStalls(t *testing.T) {
	t.Parallel()
	for _, signals := range []int{1, 2} {
		stalls, asked, healed := make(chan struct{}, 99), atomic.Int32{}, atomic.Bool{}
		whole := "<title>whole</title>" + strings.Repeat("octets ", 900)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			switch r.URL.Path {
			case "/":
				fmt.Fprint(w, "<title>home</title><a href=/stalls>on</a>")
			case "/stalls":
				asked.Add(1)
				w.Header().Set("Content-Length", strconv.Itoa(len(whole)))
				if healed.Load() {
					fmt.Fprint(w, whole)
					return
				}
				fmt.Fprint(w, whole[:3000])
				_ = http.NewResponseController(w).Flush()
				stalls <- struct{}{}
				<-r.Context().Done()
			default:
				http.NotFound(w, r)
			}
		}))
		t.Cleanup(s.Close)
		dir := filepath.Join(t.TempDir(), "archive")
		of := func(args ...string) *command {
			c := curtsy(t, args...)
			c.Env = append(c.Env, "CURTSY_FETCH_IDLE_TIMEOUT=300ms", "CURTSY_FETCH_RETRIES=1",
				"CURTSY_FETCH_RETRY_BASE=10ms")
			return c
		}
		c := of("crawl", s.URL+"/", "--archive", dir)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		wait(t, stalls)
		for range signals {
			if err := c.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond) // two signals in quick succession may be delivered as one
		}
		contains(t, c.ends(t, exitStopped), "try: curtsy resume "+dir)
		row := func() string {
			for line := range strings.Lines(of("list", dir, "--format", "json").run(t, exitDone)) {
				if strings.Contains(line, "/stalls\"") {
					return line
				}
			}
			return ""
		}
		if said := row(); !strings.Contains(said, `"state":"queued"`) && !strings.Contains(said, `"state":"failed"`) {
			t.Errorf("after %d signals: %s", signals, said)
		}
		before := asked.Load()
		of("resume", dir).run(t, exitDone)
		if asked.Load() == before {
			t.Error("the resume does not ask for it again")
		}
		said := row()
		contains(t, said, `"state":"failed"`)
		contains(t, said, "timed out before the end of the body")
		contains(t, curtsy(t, "verify", dir).run(t, exitDone), ": 0 problems")
		healed.Store(true)
		of("update", dir).run(t, exitDone)
		contains(t, row(), `"state":"fetched"`)
	}
}

func TestFirstInterruptStopsWhatHasNothingToFinish(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			fmt.Fprint(w, "Sitemap: /map.xml\n")
			return
		}
		close(reached)
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	c := curtsy(t, "crawl", s.URL+"/", "--dry-run")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	wait(t, reached)
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	said := c.ends(t, exitStopped)
	contains(t, said, "stopped; nothing was kept")
	contains(t, said, "try: curtsy crawl "+s.URL+"/ --dry-run")
	if strings.Contains(said, "finishing") || strings.Contains(said, "at least") {
		t.Errorf("said:\n%s", said)
	}
}

func TestFirstInterruptStopsAMirrorAndItsCheck(t *testing.T) {
	long(t)
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "archive")
	curtsy(t, "demo", "--keep", dir).run(t, exitDone)
	// Not by a signal to this process: commands of parallel tests in it listen for signals,
	// too.
	interrupted := func(f func(ctx context.Context, u *ui) error) (said string, err error) {
		var b strings.Builder
		u := &ui{out: &dataWriter{w: &b}, err: &b}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err = f(ctx, u)
		return b.String(), err
	}
	out := filepath.Join(t.TempDir(), "out")
	said, err := interrupted(func(ctx context.Context, u *ui) error {
		return exportMirror(ctx, u,
			&mirrorFlags{}, dir, out)
	})
	if exitCode(err) != exitStopped || said != "" {
		t.Errorf("mirror: %v\n%s", err, said)
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("a mirror that was stopped: %v", err)
	}
	curtsy(t, "mirror", dir, out).run(t, exitDone)
	said, err = interrupted(func(ctx context.Context, u *ui) error {
		return checkMirror(ctx, u, &mirrorFlags{},
			[]string{out})
	})
	if exitCode(err) != exitStopped || said != "" {
		t.Errorf("mirror --check: %v\n%s", err, said)
	}
}

func TestOutputThatIsLostIsAFailure(t *testing.T) {
	long(t)
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	dir := filepath.Join(t.TempDir(), "archive")
	curtsy(t, "demo", "--keep", dir).run(t, exitDone)
	for _, args := range [][]string{{"status", dir}, {"status", dir, "--json"}, {"verify", dir},
		{"crawl", "--help"}, {"demo"}, {"links", dir, "--format", "junit"}, {"audit", dir, "--sarif"},
		{"completion", "bash"}} {
		c := curtsy(t, args...)
		c.Stdout = full
		said := c.run(t, exitFailed)
		if strings.Count(said, "no space left on device") != 1 {
			t.Errorf("%q says it more than once:\n%s", args, said)
		}
		contains(t, said, "curtsy: the output cannot be written: ")
		contains(t, said, "no space left on device")
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read.Close()
	defer write.Close()
	c := curtsy(t, "status", dir)
	c.Stdout = write
	_ = c.Run()
	if c.said.String() != "" {
		t.Errorf("a reader that has seen enough is told:\n%s", c.said.String())
	}
}

func TestOneArchiveHasOneWriterAndAnybodyMayAskForItsStatus(t *testing.T) {
	t.Parallel()
	s := newEndless(t, 5, true)
	dir := filepath.Join(t.TempDir(), "archive")
	c := curtsy(t, "crawl", s.URL+"/", "--archive", dir)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	wait(t, s.reached)
	for _, args := range [][]string{{"crawl", s.URL + "/", "--archive", dir}, {"resume", dir},
		{"verify", dir, "--repair"}} {
		said := curtsy(t, args...).run(t, exitDamaged)
		contains(t, said, "in use by another curtsy")
		contains(t, said, "try: curtsy status "+dir)
	}
	contains(t, curtsy(t, "verify", dir).run(t, exitDone), "a crawl is running")
	said := curtsy(t, "status", dir).run(t, exitDone)
	contains(t, said, s.URL+"/: running")
	s.release()
	contains(t, c.ends(t, exitDone), "done: 62 fetched, 0 failed")
}

func TestDiskThatRefusesAWriteStopsTheCrawlAndItGoesOn(t *testing.T) {
	long(t)
	t.Parallel()
	s := newEndless(t, -1, false)
	dir := filepath.Join(t.TempDir(), "archive")
	// A limit on the file size acts like a full disk, without a mount.
	c := curtsy(t)
	c.Path, c.Args = "/bin/sh", []string{"sh", "-c", `ulimit -f 150; exec "$0" "$@"`}
	c.Args = append(c.Args, curtsyPath(t), "crawl", s.URL+"/", "--archive", dir)
	said := c.run(t, exitStopped)
	contains(t, said, "write to the archive: ")
	contains(t, said, "try: make room, then curtsy resume "+dir)
	contains(t, curtsy(t, "verify", dir).run(t, exitDone), ": 0 problems")
	contains(t, curtsy(t, "resume", dir).run(t, exitDone), "done: 62 fetched, 0 failed")
}

// A partly written key would be taken for a key, and keys are never overwritten.
func TestAKeyThatCannotBeWrittenLeavesNoFile(t *testing.T) {
	for _, args := range [][]string{{"--site", "https://a.example/"}, {"--wacz"}} {
		key := filepath.Join(t.TempDir(), "key")
		c := curtsy(t)
		c.Path, c.Args = "/bin/sh", []string{"sh", "-c", `ulimit -f 0; exec "$0" "$@"`}
		c.Args = append(append(c.Args, curtsyPath(t), "identity", "new"), append(args, key)...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		if c.ProcessState.Success() || !strings.Contains(c.said.String(), key) {
			t.Errorf("%q: %v\n%s", c.Args, c.ProcessState, c.said.String())
		}
		if _, err := os.Stat(key); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q left a file: %v", c.Args, err)
		}
	}
}

// A table and its metadata file belong together: if there is no space for both, neither is
// left.
func TestATableWithoutRoomForItsCardIsNotThere(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<title>Alone</title><a href=/x>x</a>"))
	}))
	defer s.Close()
	dir := filepath.Join(t.TempDir(), "archive")
	curtsy(t, "crawl", s.URL+"/", "--archive", dir, "--delay", "0s").run(t, exitDone)
	out := filepath.Join(t.TempDir(), "links.jsonl.zst")
	c := curtsy(t)
	c.Path, c.Args = "/bin/sh", []string{"sh", "-c", `ulimit -f 1; exec "$0" "$@"`} // 512 octets
	c.Args = append(c.Args, curtsyPath(t), "export", dir, out, "--table", "links")
	said := c.run(t, exitStopped)
	contains(t, said, "write the export: ")
	if left, err := os.ReadDir(filepath.Dir(out)); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
	curtsy(t, "export", dir, out, "--table", "links").run(t, exitDone)
}

// curtsyPath returns a link named curtsy to the test binary, which runs as curtsy under that
// name.
func curtsyPath(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "curtsy")
	if err := os.Symlink(os.Args[0], path); err != nil {
		t.Fatal(err)
	}
	return path
}

// A dry run for a host that does not answer ends as a crawl does.
func TestDryRunCannotReach(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	c := curtsy(t, "crawl", s.URL+"/", "--dry-run")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	contains(t, c.ends(t, exitFailed), "cannot reach "+strings.TrimPrefix(s.URL, "http://"))
}
