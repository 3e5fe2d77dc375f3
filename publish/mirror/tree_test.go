package mirror

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// aged makes a directory look untouched for two hours.
func aged(t *testing.T, dir string) {
	t.Helper()
	at := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(dir, at, at); err != nil {
		t.Fatal(err)
	}
}

// started begins a mirror with one file.
func started(t *testing.T, out, name string) *tree {
	t.Helper()
	tr, err := newTree(out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.discard)
	if err := tr.put(name, time.Time{}, []byte(name)); err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestAnExportThatTakesHoursIsNotSweptAway(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	long := started(t, out, "long.html")
	aged(t, long.tmp)
	short := started(t, out, "short.html")
	if _, err := os.Stat(filepath.Join(long.tmp, "long.html")); err != nil {
		t.Fatalf("the export that goes on lost what it made: %v", err)
	}
	short.discard()
	if err := long.swap(); err != nil {
		t.Fatal(err)
	}
	long.discard()
	if _, err := os.Stat(filepath.Join(out, "long.html")); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(out), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestWhatAKilledExportLeftIsSweptAway(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	old, fresh := started(t, out, "a.html"), started(t, out, "b.html")
	old.lock.Close() // as the system does when the process ends
	fresh.lock.Close()
	aged(t, old.tmp)
	started(t, out, "c.html").discard()
	if _, err := os.Stat(old.tmp); !os.IsNotExist(err) {
		t.Errorf("what was left two hours ago is still there: %v", err)
	}
	if _, err := os.Stat(fresh.tmp); err != nil {
		t.Errorf("what is fresh may be one that has no lock yet: %v", err)
	}
}

// The directories are also exchanged where the system cannot do so atomically.
func TestExchangeByRename(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, ".out"+tmpMark+"1"), filepath.Join(dir, "out")
	for _, d := range []string{a, b} {
		if err := os.MkdirAll(filepath.Join(d, filepath.Base(d)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := exchangeByRename(a, b); err != nil {
		t.Fatal(err)
	}
	for is, was := range map[string]string{a: b, b: a} {
		if _, err := os.Stat(filepath.Join(is, filepath.Base(was))); err != nil {
			t.Error(err)
		}
	}
}

// If a mirror made by another process takes the place of the old one during an export, none of
// its unread files are reused.
func TestOnlyWhatWasReadIsLinked(t *testing.T) {
	body := []byte("page.html")
	for _, c := range []struct {
		says string
		swap func(out string) error
	}{
		{"another file", func(out string) error {
			return os.WriteFile(filepath.Join(out, "page.html"), []byte("other one"), 0o644)
		}},
		{"the same octets in another file", func(out string) error {
			return os.WriteFile(filepath.Join(out,
				"page.html"), body, 0o644)
		}},
		{"a link to elsewhere", func(out string) error {
			return os.Symlink("/etc/passwd",
				filepath.Join(out, "page.html"))
		}},
		{"nothing", func(string) error { return nil }},
	} {
		out := filepath.Join(t.TempDir(), "out")
		if err := os.Mkdir(out, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(out, "page.html"), body, 0o644); err != nil {
			t.Fatal(err)
		}
		old, err := os.OpenRoot(out)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(out, out+".aside"); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(out, 0o755); err != nil {
			t.Fatal(err)
		}
		tr, err := newTree(out)
		if err != nil {
			t.Fatal(err)
		}
		tr.old.Close()
		tr.old = old // as it was before the other export replaced it
		t.Cleanup(tr.discard)
		if err := c.swap(out); err != nil {
			t.Fatal(err)
		}
		if err := tr.put("page.html", time.Time{}, body); err != nil {
			t.Errorf("%s: %v", c.says, err)
		}
		made, err := os.Lstat(filepath.Join(tr.tmp, "page.html"))
		if err != nil || !made.Mode().IsRegular() {
			t.Errorf("%s: %v, %v", c.says, made, err)
		}
		if got, err := tr.root.ReadFile("page.html"); err != nil || string(got) != string(body) {
			t.Errorf("%s: got %q, %v", c.says, got, err)
		}
		if there, err := os.Lstat(filepath.Join(out, "page.html")); err == nil && os.SameFile(made, there) {
			t.Errorf("%s: it was linked", c.says)
		}
	}
}
