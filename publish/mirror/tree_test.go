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

// Where the system cannot exchange two directories at once, they change places
// all the same.
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
