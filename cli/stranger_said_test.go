//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mains runs a command in this process.
func mains(args ...string) (code int, said string) {
	var b strings.Builder
	code = Main(args, strings.NewReader(""), &b, &b)
	return code, b.String()
}

// A file name cannot start a new line of output or move the cursor.
func TestNamesOfStrangersStayInTheirLine(t *testing.T) {
	t.Parallel()
	g := newStranger(t)
	bad := "x\nforged: 0 problems\x1b[2J"
	if err := os.WriteFile(filepath.Join(g.base, "warc", bad+".warc.gz.unknown"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	if code, said := mains("mirror", g.base, out); code != exitDone {
		t.Fatalf("mirror ended with %d:\n%s", code, said)
	}
	if err := os.WriteFile(filepath.Join(out, bad), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"verify", g.base}, exitDone},
		{[]string{"mirror", "--check", out}, exitFailed},
	} {
		code, said := mains(c.args...)
		if code != c.code {
			t.Errorf("%q ended with %d, want %d", c.args, code, c.code)
		}
		contains(t, said, "x‹U+000A›forged: 0 problems‹U+001B›[2J")
		if strings.Contains(said, "\nforged") || strings.Contains(said, "\x1b") {
			t.Errorf("%q said %q", c.args, said)
		}
	}
}

func TestMirrorOfADamagedCrawlDBNamesTheRepair(t *testing.T) {
	t.Parallel()
	g := newStranger(t)
	out := filepath.Join(t.TempDir(), "out")
	if err := junk(g.base, 0, 1<<14); err != nil {
		t.Fatal(err)
	}
	code, said := mains("mirror", g.base, out)
	if code != exitDamaged {
		t.Errorf("mirror ended with %d, want %d", code, exitDamaged)
	}
	contains(t, said, "crawl.db")
	contains(t, said, "try: curtsy verify "+g.base+" --repair")
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("and there is a mirror: %v", err)
	}
}
