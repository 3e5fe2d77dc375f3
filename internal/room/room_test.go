package room

import (
	"errors"
	"math"
	"syscall"
	"testing"
)

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	free, size, ok := space(dir)
	if !ok {
		t.Skip("this system does not say what is free")
	}
	if free <= 0 || size < free {
		t.Fatalf("%d of %d bytes are free", free, size)
	}
	if err := Check(dir, 0); err != nil {
		t.Error(err)
	}
	if err := Check(dir, 1); err != nil {
		t.Error(err)
	}
	// a twentieth of the disk is enough for any amount
	if err := Check(dir, math.MaxInt64); free > size/20 && err != nil {
		t.Error(err)
	} else if free < size/20 && !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v", err)
	}
}

func TestFloor(t *testing.T) {
	for _, c := range []struct{ min, size, want int64 }{{100, 10_000, 100}, {100, 200, 10},
		{100, 0, 100}, {0, 200, 0}} {
		if got := Floor(c.min, c.size); got != c.want {
			t.Errorf("%d of %d: got %d, want %d", c.min, c.size, got, c.want)
		}
	}
}
