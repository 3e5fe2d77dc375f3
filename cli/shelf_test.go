package cli

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestWhatIsKeptIsMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var k kept[int]
		n := 0
		of := time.Now()
		get := func() int {
			v, err := k.get(of, func() (int, error) { n++; return n, nil })
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		for _, c := range []struct {
			says   string
			change time.Duration // of the modification time of crawl.db
			wait   time.Duration
			want   int
		}{
			{"the first time", 0, 0, 1}, {"once more", 0, keptFor - 1, 1}, {"when it is old", 0, 1, 2},
			{"when crawl.db has changed", 1, 0, 3}, {"and once more", 0, 0, 3},
		} {
			time.Sleep(c.wait)
			of = of.Add(c.change)
			if got := get(); got != c.want {
				t.Errorf("%s: %d, want %d", c.says, got, c.want)
			}
		}
	})
}
