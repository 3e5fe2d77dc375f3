package catalog_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"curtsy/internal/testkit/crawltest"
	"curtsy/internal/weburl"
	"curtsy/publish/catalog"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

const site = `
-- / --
<!DOCTYPE html><title>start</title><a href="/b">b</a> <a href="/a?x=2&a=1">a</a> <a href="/A?a=1&x=2">A</a> <a href="/hidden">h</a> <a href="/gone">g</a>
-- /b --
<title>b</title>
-- /a?x=2&a=1 --
<title>a</title>
-- /A?a=1&x=2 --
<title>another</title>
-- /hidden --
HTTP 200
X-Robots-Tag: noarchive

<title>hidden</title>
`

// crawl archives a site into a directory, which may already hold an archive of it.
func crawl(t *testing.T, dir, text string) (origin string) {
	t.Helper()
	s, seed := crawltest.Site(t, text)
	crawltest.Archive(t, dir, seed)
	return s.Origin
}

func open(t *testing.T, a *storage.Archive, cache string) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Open(t.Context(), a, catalog.Options{Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func each(t *testing.T, c *catalog.Catalog) (lines []string) {
	t.Helper()
	for x, err := range c.Range(t.Context(), "", "") {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, x.SURT+" "+x.URL[strings.LastIndexByte(x.URL, '/'):]+" "+x.Kept)
	}
	return lines
}

func TestCaptures(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "archive")
	origin := crawl(t, dir, site)
	c := open(t, crawltest.Open(t, dir), t.TempDir())
	if c.Path() != filepath.Join(dir, "index.db") {
		t.Errorf("index.db is %s", c.Path())
	}
	u := weburl.MustParse(origin + "/a?x=2&a=1")
	list, err := c.Captures(t.Context(), u)
	if err != nil || len(list) != 1 || list[0].URL != u.String() || list[0].MIME != "text/html" ||
		list[0].Status != 200 || !list[0].HasBody() || list[0].Length == 0 {
		t.Fatalf("of a URL that shares its key with another: %+v, %v", list, err)
	}
	if list, err = c.Captures(t.Context(), weburl.MustParse(origin+"/hidden")); len(list) != 1 || list[0].HasBody() ||
		list[0].Kept != crawllog.KeptWithheld {
		t.Errorf("withheld: %+v, %v", list, err)
	}
	n, err := c.Counts(t.Context())
	if err != nil || n.Captures != 7 || n.Kept != 6 || n.From.IsZero() || n.To.Before(n.From) {
		t.Errorf("counts %+v, %v", n, err)
	}
	if lines := each(t, c); len(lines) != 7 || !slices.IsSortedFunc(lines, func(a, b string) int {
		a, _, _ = strings.Cut(a, " ")
		b, _, _ = strings.Cut(b, " ")
		return strings.Compare(a, b)
	}) {
		t.Errorf("all: %q", lines)
	}
}

func TestDeletedOrDamagedIsBuiltAgain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "archive")
	crawl(t, dir, site)
	a, cache := crawltest.Open(t, dir), t.TempDir()
	c := open(t, a, cache)
	want := each(t, c)
	c.Close()
	file := filepath.Join(dir, "index.db")
	for says, change := range map[string]func() error{
		"as it was": func() error { return nil },
		"deleted":   func() error { return os.Remove(file) },
		"cut":       func() error { return os.Truncate(file, 5000) },
		"overwritten": func() error {
			b, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			for i := 4096; i < len(b); i++ {
				b[i] = 0xA5
			}
			return os.WriteFile(file, b, 0o644)
		},
		"killed while it was built": func() error { return os.WriteFile(file+".new", []byte("half"), 0o644) },
		"no database": func() error {
			return os.WriteFile(file,
				[]byte(strings.Repeat("no database", 100)), 0o644)
		},
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		c := open(t, a, cache)
		if got := each(t, c); !slices.Equal(got, want) || c.Path() != file {
			t.Errorf("%s: %s: got %q", says, c.Path(), got)
		}
		c.Close()
	}
}

// An index.db that came with an archive is never opened: it could be made to crash SQLite, and
// its journal could name a file to remove.
func TestIndexOfAStranger(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "archive")
	crawl(t, dir, site)
	a := crawltest.Open(t, dir)
	theirs := open(t, a, t.TempDir()) // as another account
	want := each(t, theirs)
	if _, err := theirs.DB().Exec(`UPDATE captures SET url = 'http://evil.invalid/'`); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	mine := t.TempDir()
	c := open(t, a, mine)
	if got := each(t, c); !slices.Equal(got, want) {
		t.Errorf("of another account: got %q, want %q", got, want)
	}
	c.Close()

	file, victim := filepath.Join(dir, "index.db"), filepath.Join(t.TempDir(), "victim")
	for _, name := range []string{"", "-wal", "-shm", "-journal", ".new", ".new-wal"} {
		precious := []byte("precious")
		if err := os.WriteFile(victim, precious, 0o644); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(file + name)
		if err := os.Symlink(victim, file+name); err != nil {
			t.Fatal(err)
		}
		if name == ".new" || name == ".new-wal" {
			os.Remove(file)
		}
		c := open(t, a, mine)
		if got := each(t, c); !slices.Equal(got, want) {
			t.Errorf("index.db%s is a symbolic link: got %q", name, got)
		}
		c.Close()
		if b, err := os.ReadFile(victim); string(b) != "precious" {
			t.Errorf("index.db%s was followed: %q, %v", name, b, err)
		}
	}
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "archive")
	crawl(t, dir, site)
	a, cache := crawltest.Open(t, dir), t.TempDir()
	c := open(t, a, cache)
	want := each(t, c)
	for _, change := range []string{
		`DELETE FROM captures WHERE (id >> 20) % 2 = 0`, // half of the captures look new
		`INSERT INTO captures SELECT id + 1, surt, ts, url, status, mime, digest, kept, segment, offset, length FROM captures`, // these look removed
		`DELETE FROM captures`,
	} {
		if _, err := c.DB().Exec(change + `; DELETE FROM state; DELETE FROM todo`); err != nil {
			t.Fatal(err)
		}
		if err := c.Refresh(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if got := each(t, c); !slices.Equal(got, want) {
			t.Errorf("after %s: got %q, want %q", change, got, want)
		}
		var todo int
		if err := c.DB().QueryRow(`SELECT count(*) FROM todo`).Scan(&todo); err != nil || todo < 3 {
			t.Errorf("after %s: %d URLs are to be read again, %v", change, todo, err)
		}
	}
}

func TestPlaceOfAnArchiveThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "archive")
	crawl(t, dir, site)
	a, cache := crawltest.Open(t, dir), t.TempDir()
	// A directory in the place of the lock, as root may write to any directory.
	if err := os.MkdirAll(filepath.Join(dir, "index.lock", "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := open(t, a, cache)
	if !strings.HasPrefix(c.Path(), cache) || len(each(t, c)) != 7 {
		t.Errorf("index.db is %s", c.Path())
	}
}
