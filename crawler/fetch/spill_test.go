package fetch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A spilled body's file has no name in any directory, not even while it is in use.
func TestSpilledBodiesHaveNoName(t *testing.T) {
	dir := t.TempDir()
	body := strings.Repeat("0123456789abcdef", 1<<16)
	c := local(t, Options{SpillAt: 1000, Spill: spillTo(dir)})
	x := do(t, c, say(t, "HTTP/1.1 200 OK\r\n\r\n"+body).url)
	if x.rec.file == nil {
		t.Fatal("it is not in a file")
	}
	if l, err := os.ReadDir(dir); err != nil || len(l) > 0 {
		t.Errorf("left in %s: %v, %v", dir, l, err)
	}
	if c := cap(x.rec.buf); c > 1<<20 {
		t.Errorf("%d bytes of memory for it", c)
	}
	wire, _ := all2(t, x)
	if wire != body {
		t.Error("it is not what came")
	}
	if b, _, err := x.Decoded(1 << 30); string(b) != body || err != nil {
		t.Error("it is not decoded to what came", err)
	}
	x.Release()
	x.Release() // releasing twice is harmless
}

// failingFile is a file that can be written but not read.
type failingFile struct{ *os.File }

func (failingFile) ReadAt([]byte, int64) (int, error) { return 0, syscall.EIO }

func TestSpilledBodyThatCannotBeReadBack(t *testing.T) {
	dir := t.TempDir()
	for name, head := range map[string]string{"whole": "HTTP/1.1 200 OK\r\n\r\n",
		"chunked": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n100000\r\n"} {
		c := local(t, Options{SpillAt: 1000, Spill: func() (File, error) {
			f, err := os.CreateTemp(dir, "body-*")
			return failingFile{f}, err
		}})
		x := do(t, c, say(t, head+strings.Repeat("x", 1<<20)+"\r\n0\r\n\r\n").url)
		if x.Err != nil || x.rec.file == nil {
			t.Fatalf("%s: %v", name, x.Err)
		}
		if x.Check(); kindOf(x.Err) != KindLocal || !errors.Is(x.Err, syscall.EIO) || x.Head != nil || x.Status != 0 {
			t.Errorf("%s: %v, %d", name, x.Err, x.Status)
		}
	}
}

func TestNowhereToSpill(t *testing.T) {
	c := local(t, Options{SpillAt: 1000, Spill: spillTo(filepath.Join(t.TempDir(), "none"))})
	x := do(t, c, say(t, "HTTP/1.1 200 OK\r\n\r\n"+strings.Repeat("x", 1<<20)).url)
	if kindOf(x.Err) != KindLocal || !errors.Is(x.Err, ErrNoRoom) || x.Head != nil || x.Status != 0 {
		t.Errorf("%v, %d", x.Err, x.Status)
	}
	if _, n := x.Wire(); n != 0 {
		t.Errorf("%d bytes are left", n)
	}
}

// spillTo returns a function that makes unnamed files in dir.
func spillTo(dir string) func() (File, error) {
	return func() (File, error) {
		f, err := os.CreateTemp(dir, "body-*")
		if err != nil {
			return nil, err
		}
		return f, os.Remove(f.Name())
	}
}
