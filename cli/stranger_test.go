//go:build unix

package cli

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"curtsy/internal/legible"
	"curtsy/internal/sum"
	"curtsy/internal/testkit/sitetest"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// strangerCommands are run over an untrusted archive: DIR is the archive, OUT a path for
// output, URL the seed.
var strangerCommands = []struct {
	args   string
	writes bool // whether it writes into the archive
}{
	{"verify DIR", false},
	{"status DIR", false},
	{"status DIR --json", false},
	{"explain DIR URL", false},
	{"list DIR --format json", false},
	{"links DIR", false},
	{"mirror DIR OUT", false},
	{"search DIR precious", false},
	{"export DIR OUT.wacz", false},
	{"export DIR OUT.warc.gz", false},
	{"export DIR OUT.csv", false},
	{"report DIR -o OUT.html", false},
	{"changes DIR", false},
	{"serve DIR --listen 127.0.0.1:0", false},
	{"resume DIR --delay 0 --max-pages 100", true},
	{"update DIR --delay 0", true},
	{"verify DIR --repair", true},
}

const (
	// strangerMemory is the most memory that a command may take, in octets.
	strangerMemory = heavier * 400 << 20
	// strangerTime is only there to end a command that hangs.
	strangerTime = 2 * time.Minute
)

// strangerSite is the site that the archive was made from, and that resume crawls.
func strangerSite(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/robots.txt":
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, "User-agent: *\nDisallow: /no\n")
		case "/":
			fmt.Fprint(w, "<title>Home</title><img src=/p.png><a href=/page.html>page</a> <a href=/twin>twin</a> <a href=/no>no</a> <a href=/gone>gone</a> <a href=/withheld>w</a> <a href=/a>a</a> <a href=/b>b</a> <a href=/c>c</a>")
		case "/page.html", "/twin":
			fmt.Fprint(w, "<title>Page</title><p>precious words that two pages have")
		case "/p.png":
			w.Header().Set("Content-Type", "image/png")
			fmt.Fprint(w, "\x89PNG\r\n\x1a\n")
		case "/withheld":
			fmt.Fprint(w, "<meta name=robots content=noarchive>secret")
		case "/gone":
			http.NotFound(w, r)
		default:
			fmt.Fprintf(w, "<title>%s</title>", r.URL.Path)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// stranger is a directory with an archive and other files that must not change.
type stranger struct {
	t          *testing.T
	base, seed string
}

func newStranger(t *testing.T) *stranger {
	s := strangerSite(t)
	g := &stranger{t: t, base: filepath.Join(t.TempDir(), "whole"), seed: s.URL + "/"}
	peak, code, said := g.run(t.TempDir(), "crawl", g.seed, "--archive", g.base, "--delay", "0", "--max-pages", "7")
	if code != exitStopped {
		t.Fatalf("crawl ended with %d:\n%s", code, said)
	}
	if peak == 0 && runtime.GOOS == "linux" {
		t.Fatal("the memory that a command takes is not measured")
	}
	if err := visitsAsJSON(g.base); err != nil {
		t.Fatal(err)
	}
	return g
}

// visitsAsJSON stores the visits as in schema 5, whose JSON the fixtures can edit.
func visitsAsJSON(dir string) error {
	a, err := storage.Open(dir, storage.Options{Alone: true})
	if err != nil {
		return err
	}
	visits := map[string][]byte{}
	err = sitetest.Each(a.Visits(nil), func(v *crawllog.Visit) error {
		key := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, v.URLID), uint32(v.N))
		text, err := json.Marshal(v)
		visits[string(key)] = sum.Seal(key, text)
		return err
	})
	if err := errors.Join(err, a.Close()); err != nil {
		return err
	}
	return inDB(dir, func(tx *bbolt.Tx) error {
		for key, text := range visits {
			if err := tx.Bucket([]byte("visits")).Put([]byte(key), text); err != nil {
				return err
			}
		}
		return nil
	})
}

// run runs a command with the account's own directories moved below home.
func (g *stranger) run(home string, args ...string) (peak int64, code int, said string) {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), strangerTime)
	defer cancel()
	var err error
	c := exec.CommandContext(ctx, os.Args[0])
	c.Args = append([]string{"curtsy"}, args...)
	c.Dir = home
	c.Env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+filepath.Join(home, "cache"), "TMPDIR="+home,
		"CURTSY_POLITENESS_ADAPTIVE=0", "CURTSY_FETCH_RETRIES=0", "GOTRACEBACK=all", "GORACE=atexit_sleep_ms=0")
	at := filepath.Join(home, "peak")
	c.Env = append(c.Env, peakFile+"="+at)
	if args[0] == "serve" {
		said, err = g.visit(ctx, c)
	} else {
		var b []byte
		b, err = c.CombinedOutput()
		said = string(b)
	}
	if ctx.Err() != nil {
		return 0, -1, "it does not end: " + said
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		g.t.Fatal(err)
	}
	measured, _ := os.ReadFile(at) // absent if the command was killed
	_, _ = fmt.Sscanf(string(measured), "%d", &peak)
	return peak << 10, c.ProcessState.ExitCode(), said
}

// place copies the archive and puts files that must not change around it.
func (g *stranger) place(t *testing.T) (root, dir string) {
	t.Helper()
	root = t.TempDir()
	dir = filepath.Join(root, "box", "archive")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(root, "home"), 0o755), os.MkdirAll(filepath.Join(root, "out"), 0o755),
		os.MkdirAll(dir, 0o755),
		os.CopyFS(dir, os.DirFS(g.base)),
		os.CopyFS(filepath.Join(root, "other"), os.DirFS(g.base)),
		os.WriteFile(filepath.Join(root, "victim"), []byte(precious), 0o600),
		os.WriteFile(filepath.Join(root, "box", "victim"), []byte(precious), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return root, dir
}

const precious = "precious, and longer than what any segment of a small archive holds; not to be cut\n"

// around describes all files of a place except those that a command may write: names, modes,
// sizes and contents.
func around(t *testing.T, root string, but ...string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if slices.ContainsFunc(but, func(name string) bool {
			return rel == name || strings.HasPrefix(rel, name) &&
				!e.IsDir()
		}) {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		st, err := e.Info()
		if err != nil {
			return err
		}
		size, content := st.Size(), ""
		if st.IsDir() {
			size = 0
		}
		if st.Mode().IsRegular() && size < 1<<22 {
			text, _ := os.ReadFile(path)
			content = string(text)
		}
		if st.Mode()&fs.ModeSymlink != 0 {
			content, _ = os.Readlink(path)
		}
		fmt.Fprintf(&b, "%q %s %d %q\n", rel, st.Mode(), size, content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// trace matches the output of a panic or a fatal runtime error.
var trace = regexp.MustCompile(`(?m)^panic:|^fatal error:|^goroutine \d+ |SIGSEGV|SIGBUS`)

// controls matches control characters, which no line of output may contain.
var controls = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f]`)

// For each command and fixture: no panic, a documented exit code, it ends, bounded memory,
// nothing changed outside the archive, and nothing in it by commands that only read.
// CURTSY_TEST_STRANGERS=1+0 tries each fixture, 3+2 one in three from the third on; the default
// is one in 97, and with -short one in 397. CURTSY_TEST_STRANGERS_TABLE=FILE gets the table of
// docs/faults.md.
func TestArchivesOfStrangersHarmNothing(t *testing.T) {
	t.Parallel()
	g := newStranger(t)
	list := strangers()
	if len(list) < 40 {
		t.Fatalf("%d fixtures", len(list))
	}
	stride, from := 97, 0
	if testing.Short() {
		stride = 397
	}
	if text, ok := os.LookupEnv("CURTSY_TEST_STRANGERS"); ok {
		if n, _ := fmt.Sscanf(text, "%d+%d", &stride, &from); n != 2 || stride < 1 {
			t.Fatalf("CURTSY_TEST_STRANGERS=%s", text)
		}
	}
	table := map[string]*strangerRow{}
	for i, f := range list {
		row := table[f.kind]
		if row == nil {
			row = &strangerRow{at: len(table), codes: map[int]int{}}
			table[f.kind] = row
		}
		row.fixtures++
		for j, c := range strangerCommands {
			if (i*len(strangerCommands)+j)%stride == from {
				t.Run(f.kind+"/"+f.name+"/"+c.args, func(t *testing.T) { g.harmless(t, f, c.args, c.writes, row) })
			}
		}
	}
	if path := os.Getenv("CURTSY_TEST_STRANGERS_TABLE"); path != "" {
		if err := os.WriteFile(path, []byte(strangerTable(table)), 0o644); err != nil {
			t.Error(err)
		}
	}
}

func (g *stranger) harmless(t *testing.T, f strangerFixture, line string, writes bool, row *strangerRow) {
	root, dir := g.place(t)
	if err := f.spoil(dir); err != nil {
		t.Fatalf("the fixture cannot be made: %v", err)
	}
	but := []string{"home", "out"}
	if writes {
		but = append(but, "box/archive")
	} else { // derived files
		but = append(but, "box/archive/index.db", "box/archive/index.lock", "box/archive/facts")
	}
	before := around(t, root, but...)
	var args []string
	for _, word := range strings.Fields(line) {
		word = strings.NewReplacer("DIR", dir, "OUT", filepath.Join(root, "out", "out"), "URL", g.seed).Replace(word)
		args = append(args, word)
	}
	peak, code, said := g.run(filepath.Join(root, "home"), args...)
	row.add(peak, code)
	t.Logf("exit %d, %s", code, legible.Bytes(peak))
	shown := said[:min(len(said), 3000)]
	switch {
	case code < exitDone || code > exitDamaged:
		t.Errorf("exit code %d:\n%s", code, shown)
	case trace.MatchString(said), strings.Contains(said, "no answer: "):
		t.Errorf("a trace, or a request without an answer:\n%s", shown)
	case code == exitDamaged && !strings.Contains(said, "  try: "):
		t.Errorf("exit code %d, and nothing to try:\n%s", code, shown)
	}
	if bad := controls.FindString(said); bad != "" || strings.Contains(said, "\nforged") {
		t.Errorf("control %q, or a line that a name began:\n%q", bad, shown)
	}
	if peak > strangerMemory {
		t.Errorf("it took %s", legible.Bytes(peak))
	}
	if after := around(t, root, but...); after != before {
		t.Errorf("%s\nthere was\n%s\nthere is\n%s", shown, before, after)
	}
}

// strangerRow is the result for the fixtures of one kind.
type strangerRow struct {
	at, fixtures, runs int
	codes              map[int]int
	peak               int64
}

func (r *strangerRow) add(peak int64, code int) {
	r.runs++
	r.codes[code]++
	r.peak = max(r.peak, peak)
}

func strangerTable(table map[string]*strangerRow) string {
	kinds := make([]string, len(table))
	for kind, r := range table {
		kinds[r.at] = kind
	}
	var b strings.Builder
	b.WriteString("| what was sent | fixtures | runs | exit 0 | 1 | 2 | 3 | 4 | 5 | peak memory |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, kind := range kinds {
		r := table[kind]
		fmt.Fprintf(&b, "| %s | %d | %d |", kind, r.fixtures, r.runs)
		for code := exitDone; code <= exitDamaged; code++ {
			fmt.Fprintf(&b, " %d |", r.codes[code])
		}
		fmt.Fprintf(&b, " %s |\n", legible.Bytes(r.peak))
	}
	return b.String()
}
