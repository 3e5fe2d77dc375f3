package alarm

import (
	"slices"
	"testing"
	"time"
)

func TestUntil(t *testing.T) {
	var late []time.Duration
	for range 100 {
		at := time.Now().Add(Lead)
		Until(at)
		late = append(late, time.Since(at))
	}
	slices.Sort(late)
	if late[0] < 0 {
		t.Errorf("woke %v early", -late[0])
	}
	if m := late[len(late)/2]; m > 500*time.Microsecond {
		t.Errorf("woke %v late", m)
	}
	t.Logf("late by %v, median %v, at most %v", late[0], late[len(late)/2], late[len(late)-1])
}

func TestUntilThePast(t *testing.T) {
	began := time.Now()
	Until(began.Add(-time.Hour))
	if d := time.Since(began); d > time.Millisecond {
		t.Errorf("took %v", d)
	}
}
