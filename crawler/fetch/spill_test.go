package fetch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A body in a file is in no directory, not even while it is read.
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
	x.Release() // once too often does no harm
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

// spillTo makes unnamed files in dir.
func spillTo(dir string) func() (File, error) {
	return func() (File, error) {
		f, err := os.CreateTemp(dir, "body-*")
		if err != nil {
			return nil, err
		}
		return f, os.Remove(f.Name())
	}
}
