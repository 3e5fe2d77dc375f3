package mirror

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestPlaceLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	if err := Place(filepath.Join(dir, "out")); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("it leaves %v", left)
	}
	letter := filepath.Join(dir, "letter.txt")
	if err := os.WriteFile(letter, []byte("Dear reader"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{dir, letter} {
		if err := Place(out); !errors.Is(err, ErrNotOurs) {
			t.Errorf("%s: %v", out, err)
		}
	}
	if err := Place(filepath.Join(letter, "out")); err == nil {
		t.Error("a mirror below a file")
	}
}
