package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"curtsy/internal/testkit/crawltest"
	"curtsy/internal/testkit/sitetest"
	"curtsy/internal/weburl"
	"curtsy/publish/inventory"
	"curtsy/publish/mirror"
	"curtsy/storage"
)

// serve starts a site.
func serve(t *testing.T, text string) *sitetest.Site {
	t.Helper()
	s, _ := crawltest.Site(t, text)
	return s
}

// crawl archives a site into a new directory.
func crawl(t *testing.T, s *sitetest.Site) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "archive")
	crawltest.Archive(t, dir, weburl.MustParse(s.Origin+"/"))
	return dir
}

// export mirrors an archive.
func export(t *testing.T, s *sitetest.Site, archive, out string) (*mirror.Result, error) {
	t.Helper()
	a, err := storage.OpenRead(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	f, err := a.Frontier()
	if err != nil {
		t.Fatal(err)
	}
	broken := func(ctx context.Context) (*inventory.Targets, error) {
		return inventory.Broken(ctx, a, inventory.Options{Known: inventory.KnownOf(f), Now: time.Now()})
	}
	r, err := mirror.Export(context.Background(), a, out, mirror.Options{Seed: weburl.MustParse(s.Origin + "/"), Complete: true, Broken: broken})
	return proved(t, out, mirror.Options{}, r, err)
}

// proved fails the test if the full check of an exported mirror finds problems.
func proved(t *testing.T, out string, o mirror.Options, r *mirror.Result, err error) (*mirror.Result, error) {
	t.Helper()
	if err != nil {
		return r, err
	}
	check, failed := mirror.Check(context.Background(), out, o)
	if failed != nil {
		t.Fatal(failed)
	}
	for _, p := range check.Problems {
		t.Errorf("check: %s: %s %s", p.File, p.What, p.Ref)
	}
	return r, nil
}

// tree returns the files below a directory by name.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		name, _ := filepath.Rel(dir, p)
		files[filepath.ToSlash(name)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

const small = `
-- / --
<!DOCTYPE html><title>start</title><a href="/a">a</a> <a href="/old">old</a> <a href="/hidden">h</a> <a href="/gone">g</a> <a href="/evil">e</a>
-- /a --
HTTP 200
Last-Modified: Tue, 01 Mar 2016 10:00:00 GMT

<title>a</title><a href="/">home</a>
-- /old --
HTTP 301
Location: /a

-- /hidden --
HTTP 200
X-Robots-Tag: noarchive

<title>hidden</title>secret
-- /evil --
<title></title><script>alert(1)</script>` + "\u202e" + `</title><a href="/gone?&quot;><script>alert(2)</script>">x</a><a href="http://x.invalid/'&quot;><img src=x onerror=alert(3)>">y</a>
`

func TestExport(t *testing.T) {
	t.Parallel()
	s := serve(t, small)
	archive, out := crawl(t, s), filepath.Join(t.TempDir(), "out")
	r, err := export(t, s, archive, out)
	if err != nil {
		t.Fatal(err)
	}
	if r.Files != 3 || r.Redirects != 1 || r.Withheld != 1 || len(r.Problems) > 0 {
		t.Errorf("result %+v", r)
	}
	files := tree(t, out)
	for name, want := range map[string]string{
		"index.html": `<a href="a.html">a</a> <a href="a.html">old</a> <a href="` + s.Origin + `/hidden">h</a> <a href="` + s.Origin + `/gone">g</a> <a href="evil.html">e</a>`,
		"a.html":     `<a href="index.html">home</a>`,
		"old.html":   `url=a.html`,
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s: got %q, want %q", name, files[name], want)
		}
	}
	st, err := os.Stat(filepath.Join(out, "a.html"))
	if want := time.Date(2016, 3, 1, 10, 0, 0, 0, time.UTC); err != nil || !st.ModTime().Equal(want) {
		t.Errorf("a.html is of %v, want %v: %v", st.ModTime(), want, err)
	}
	for name, body := range files {
		if strings.Contains(body, "secret") {
			t.Errorf("%s holds what noarchive forbids", name)
		}
	}
	report := files[mirror.ReportFile]
	for _, bad := range []string{"<script>alert", "<img src=x", "\u202e"} {
		if strings.Contains(report, bad) {
			t.Errorf("the report holds %q", bad)
		}
	}
	if !strings.Contains(report, "noarchive (X-Robots-Tag: noarchive)") {
		t.Error("the report does not say why /hidden is withheld")
	}
}

func TestExportAgainChangesNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, small)
	archive, out := crawl(t, s), filepath.Join(t.TempDir(), "out")
	if _, err := export(t, s, archive, out); err != nil {
		t.Fatal(err)
	}
	before := tree(t, out)
	first, _ := os.Stat(filepath.Join(out, "a.html"))
	if _, err := export(t, s, archive, out); err != nil {
		t.Fatal(err)
	}
	after := tree(t, out)
	for name, body := range before {
		if after[name] != body {
			t.Errorf("%s changed", name)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files, then %d", len(before), len(after))
	}
	if second, _ := os.Stat(filepath.Join(out, "a.html")); !os.SameFile(first, second) {
		t.Error("a.html is another file, though it did not change")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(out), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestExportLeavesAlone(t *testing.T) {
	t.Parallel()
	s := serve(t, small)
	archive := crawl(t, s)
	for _, c := range []struct {
		says  string
		plant func(out string)
	}{
		{"a directory with files", func(out string) { os.MkdirAll(out, 0o755); os.WriteFile(out+"/letter.txt", []byte("mine"), 0o644) }},
		{"a file", func(out string) { os.WriteFile(out, []byte("mine"), 0o644) }},
		{"a map of somebody else's", func(out string) {
			os.MkdirAll(out, 0o755)
			os.WriteFile(out+"/mirror-map.json", []byte(`{"format":"other"}`), 0o644)
		}},
		{"a mirror with a file in it that is not of it", func(out string) { export(t, s, archive, out); os.WriteFile(out+"/letter.txt", []byte("mine"), 0o644) }},
		{"a mirror with a link in it", func(out string) { export(t, s, archive, out); os.Symlink("/etc/passwd", out+"/passwd") }},
	} {
		out := filepath.Join(t.TempDir(), "out")
		c.plant(out)
		if _, err := export(t, s, archive, out); !errors.Is(err, mirror.ErrNotOurs) {
			t.Errorf("%s: %v", c.says, err)
		}
		if _, err := os.Lstat(out); err != nil {
			t.Errorf("%s: %v", c.says, err)
		}
	}
}

// A row of the report counts pages, not the links of each, in whatever order they are written.
func TestReportCountsPages(t *testing.T) {
	var site strings.Builder
	site.WriteString("-- / --\nHTTP 200\nContent-Type: text/html\n\n")
	for i := range 9 {
		fmt.Fprintf(&site, "<a href=/p%d>p</a>", i)
	}
	for i := range 9 {
		fmt.Fprintf(&site, "\n-- /p%d --\nHTTP 200\nContent-Type: text/html\n\n"+strings.Repeat("<a href=http://elsewhere.invalid/>e</a>", 3), i)
	}
	s := serve(t, site.String())
	out := filepath.Join(t.TempDir(), "out")
	if _, err := export(t, s, crawl(t, s), out); err != nil {
		t.Fatal(err)
	}
	if report := tree(t, out)[mirror.ReportFile]; !strings.Contains(report, "/p4</a><br>and on 4 more") {
		t.Error(report)
	}
}

func TestExportStopped(t *testing.T) {
	t.Parallel()
	s := serve(t, small)
	archive, out := crawl(t, s), filepath.Join(t.TempDir(), "out")
	if _, err := export(t, s, archive, out); err != nil {
		t.Fatal(err)
	}
	before := tree(t, out)
	a, err := storage.OpenRead(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := mirror.Export(ctx, a, out, mirror.Options{Seed: weburl.MustParse(s.Origin + "/")}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if after := tree(t, out); len(after) != len(before) {
		t.Errorf("%d files, then %d", len(before), len(after))
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(out), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestExportAfterRecrawl(t *testing.T) {
	t.Parallel()
	s := serve(t, small)
	out := filepath.Join(t.TempDir(), "out")
	if _, err := export(t, s, crawl(t, s), out); err != nil {
		t.Fatal(err)
	}
	first, _ := os.Stat(filepath.Join(out, "a.html"))
	if err := s.Set("/evil", "<title>good now</title>"); err != nil {
		t.Fatal(err)
	}
	if _, err := export(t, s, crawl(t, s), out); err != nil {
		t.Fatal(err)
	}
	files := tree(t, out)
	if !strings.Contains(files["evil.html"], "good now") {
		t.Errorf("evil.html: %q", files["evil.html"])
	}
	if second, _ := os.Stat(filepath.Join(out, "a.html")); !os.SameFile(first, second) {
		t.Error("a.html is another file, though it did not change")
	}
}

// TestTrapSite exports the trap site: the check finds nothing, every page has a file of its
// own, and nothing is written outside.
func TestTrapSite(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/trap.txtar")
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, string(text))
	out := filepath.Join(t.TempDir(), "out")
	r, err := export(t, s, crawl(t, s), out)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Problems {
		t.Errorf("%s: %s %s", p.File, p.What, p.Ref)
	}
	if r.Pages < 150 {
		t.Errorf("%d pages", r.Pages)
	}
	check, err := mirror.Check(context.Background(), out, mirror.Options{})
	if err != nil || len(check.Problems) > 0 || check.Refs < 300 {
		t.Errorf("check: %+v, %v", check, err)
	}
	// the check finds a file that is missing
	if err := os.Remove(filepath.Join(out, "final~914c243d.html")); err == nil {
		if check, err = mirror.Check(context.Background(), out, mirror.Options{}); err != nil || len(check.Problems) == 0 {
			t.Errorf("a missing page was not found: %v", err)
		}
	}
}

// An export that is cancelled while it looks for broken links ends at once and leaves no mirror.
func TestWhatIsBrokenIsLookedForUntilTheEnd(t *testing.T) {
	t.Parallel()
	s := serve(t, "-- / --\n<title>x</title>one\n")
	a, out := crawltest.Open(t, crawl(t, s)), t.TempDir()+"/out"
	ctx, cancel := context.WithCancel(t.Context())
	o := mirror.Options{Seed: weburl.MustParse(s.Origin + "/"), Complete: true, Broken: func(ctx context.Context) (*inventory.Targets, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	if _, err := mirror.Export(ctx, a, out, o); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("half a mirror is there")
	}
}
