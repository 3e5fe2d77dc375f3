package storage

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A spilled body's file has no name, however it is made, and its errors name the directory.
func TestSpill(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "archive")
	a, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	fallback := &spill{dir: a.dir}
	if fallback.File, err = fallback.create(); err != nil {
		t.Fatal(err)
	}
	s, err := a.Spill()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*spill{s.(*spill), fallback} {
		if _, err := s.Write([]byte("body")); err != nil {
			t.Fatal(err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "spill-*")); len(left) > 0 && s.named == "" {
			t.Errorf("it has a name: %v", left)
		}
		b := make([]byte, 4)
		if _, err := s.ReadAt(b, 0); err != nil || string(b) != "body" {
			t.Errorf("%q, %v", b, err)
		}
		s.size = 1 << 60
		if _, err := s.Write([]byte("x")); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), dir) {
			t.Errorf("a body of an exabyte: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := s.Write([]byte("x")); !errors.Is(err, os.ErrClosed) && !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("after its end: %v", err)
		}
	}
}
