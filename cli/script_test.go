package cli

import (
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"curtsy/internal/testkit/sitetest"
	"curtsy/publish/pdf"
	"curtsy/storage"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// TestMain lets the test binary also run as curtsy, for the scripts.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 1:
	case os.Args[1] == pdf.Command: // a child of a test or of a script
		os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	case os.Args[1] == runnerCommand:
		runCommands(os.Stdin, os.Stdout)
		os.Exit(0)
	}
	flag.Set("test.parallel", "8") // most scripts wait for the delay between requests
	testscript.Main(tests{m}, map[string]func(){
		"curtsy": func() {
			code := Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
			reportPeak()
			os.Exit(code)
		},
	})
}

// tests keeps the tests away from the user's own cache.
type tests struct{ *testing.M }

func (m tests) Run() int {
	cache, err := os.MkdirTemp("", "cache")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(cache)
	os.Setenv("XDG_CACHE_HOME", cache)
	return m.M.Run()
}

// peakFile names the environment variable with the path that reportPeak writes to.
const peakFile = "CURTSY_TEST_PEAK"

// reportPeak writes the peak memory of this process, in KiB. Its parent cannot ask the kernel:
// ru_maxrss of a child starts at the value of its parent.
func reportPeak() {
	at := os.Getenv(peakFile)
	if at == "" {
		return
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	_ = os.WriteFile(at, []byte(strings.Fields(after)[0]), 0o600)
}

// TestScripts runs each script of testdata, which together are the contract of the command
// line.
func TestScripts(t *testing.T) {
	t.Parallel()
	long(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exit": exitScript, "serve": serveScript, "change": changeScript, "asked": askedScript,
			"damage": damageScript, "older": olderScript,
			"transcript": transcriptScript, "same": sameScript,
		},
		Condition: func(name string) (bool, error) {
			if name != "race" {
				return false, errors.New("unknown condition")
			}
			return heavier > 1, nil
		},
		Setup: func(e *testscript.Env) error { // only usage.txtar wants these requests; other scripts count requests
			e.Setenv("CURTSY_POLITENESS_USAGE_FILES", "false")
			return nil
		},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
	})
}

// exitScript is "exit CODE curtsy ARG... [<FILE]": the command must exit with CODE.
func exitScript(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if r := runCurtsy(ts, args[1:]); r.Code != want {
		ts.Fatalf("exit code %d, want %d\n%s%s", r.Code, want, r.Stdout, r.Stderr)
	}
}

var made = regexp.MustCompile(`(Made by curtsy \S+ on )[-0-9]+ [0-9:]+ UTC`)

// sameScript is "same FILE FILE": the two reports differ at most in the time of creation.
func sameScript(ts *testscript.TestScript, neg bool, args []string) {
	a, b := made.ReplaceAllString(ts.ReadFile(args[0]), "$1"), made.ReplaceAllString(ts.ReadFile(args[1]), "$1")
	if a != b || !made.MatchString(ts.ReadFile(args[0])) {
		ts.Fatalf("%s and %s differ, or are no reports:\n%s\n%s", args[0], args[1], a, b)
	}
}

// serveScript is "serve DIR": serves the files of a directory until the script ends; $SITE is
// the origin of the site. index.html is "/".
func serveScript(ts *testscript.TestScript, neg bool, args []string) {
	s, err := sitetest.Parse(nil)
	ts.Check(err)
	dir := ts.MkAbs(args[0])
	ts.Check(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		target := "/" + filepath.ToSlash(rel)
		return s.Set(strings.TrimSuffix(target, "index.html"), ts.ReadFile(path))
	}))
	ts.Check(s.Start("127.0.0.1:0"))
	ts.Defer(func() { s.Close() })
	ts.Setenv("SITE", s.Origin)
	served.Store(ts.Getenv("WORK"), s)
}

// served has the sites of running scripts by their directories.
var served sync.Map

func siteOf(ts *testscript.TestScript) *sitetest.Site {
	s, ok := served.Load(ts.Getenv("WORK"))
	if !ok {
		ts.Fatalf("nothing is served")
	}
	return s.(*sitetest.Site)
}

// changeScript is "change TARGET FILE": from now on the site answers TARGET with FILE.
func changeScript(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(siteOf(ts).Set(args[0], ts.ReadFile(args[1])))
}

// askedScript is "asked TARGET N": TARGET has been requested N times.
func askedScript(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	got := 0
	targets := siteOf(ts).Targets()
	for _, target := range targets {
		if target == args[0] {
			got++
		}
	}
	if got != want {
		ts.Fatalf("%s was asked for %d times, want %d; requests: %q", args[0], got, want, targets)
	}
}

// damageScript is "damage ARCHIVE": changes one octet of the record of /page.html.
func damageScript(ts *testscript.TestScript, neg bool, args []string) {
	a, err := storage.OpenRead(ts.MkAbs(args[0]))
	ts.Check(err)
	defer a.Close()
	ts.Check(sitetest.Each(a.Visits(nil), func(v *crawllog.Visit) error {
		if !strings.HasSuffix(v.URL, "/page.html") {
			return nil
		}
		path := filepath.Join(ts.MkAbs(args[0]), "warc", v.Record.Segment)
		b, err := os.ReadFile(path)
		if err == nil {
			b[v.Record.Offset+v.Record.Length/3] ^= 1
			err = os.WriteFile(path, b, 0o644)
		}
		return err
	}))
}

// olderScript is "older ARCHIVE": removes the description of the crawl from the segments, as in
// the first versions.
func olderScript(ts *testscript.TestScript, neg bool, args []string) {
	paths, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "warc", "*.warc.gz"))
	ts.Check(err)
	for _, path := range paths {
		f, err := os.Open(path)
		ts.Check(err)
		var out []byte
		e, r := warc.NewEncoder(), warc.NewReader(f, 0)
		for {
			h, err := r.Next()
			if err == io.EOF {
				break
			}
			ts.Check(err)
			block, err := io.ReadAll(r)
			ts.Check(err)
			block = regexp.MustCompile(`curtsy-(crawl|visit): .*\r\n`).ReplaceAll(block, nil)
			h.BlockDigest = warc.Sum("", block)
			out = e.Append(out, h, warc.Small, block)
		}
		f.Close()
		ts.Check(os.WriteFile(path, out, 0o644))
	}
}

// long skips a test with -short.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs without -short")
	}
}
