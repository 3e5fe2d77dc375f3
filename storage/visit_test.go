package storage

import (
	"testing"
	"time"

	"curtsy/storage/crawllog"
)

func TestLastVisits(t *testing.T) {
	t.Parallel()
	a, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for url := uint64(1); url <= 3; url++ {
		for n := 1; n <= 4; n++ {
			a.add(&crawllog.Visit{Asked: crawllog.Asked{URLID: url, N: n, URL: "http://h/", At: time.Unix(int64(n), 0)}})
		}
	}
	if err := a.Commit(nil); err != nil {
		t.Fatal(err)
	}
	for url := uint64(1); url <= 3; url++ {
		visits, err := a.VisitsOf(url, 3)
		if err != nil || len(visits) != 3 {
			t.Fatalf("URL %d: %d visits, %v", url, len(visits), err)
		}
		for i, v := range visits {
			if v.URLID != url || v.N != i+2 {
				t.Errorf("URL %d: visit %d is number %d of URL %d", url, i, v.N, v.URLID)
			}
		}
	}
	if visits, err := a.VisitsOf(9, 3); len(visits) > 0 || err != nil {
		t.Errorf("a URL that was never visited: %d visits, %v", len(visits), err)
	}
}
