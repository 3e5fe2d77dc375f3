package crawler_test

import (
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

	"curtsy/crawler"
	"curtsy/crawler/revisit"
)

// clock is a clock that is set while a crawl runs: as with time.Now, the time of day jumps but the
// monotonic reading does not.
type clock struct {
	mu   sync.Mutex
	jump time.Duration
}

func (c *clock) set(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.jump += by
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return moment(time.Now().Add(c.jump), time.Since(zero))
}

// zero is the time at which a bubble's clock starts.
var zero = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// moment returns a Time with the given time of day and monotonic reading, as time.Now returns outside
// of a bubble; package time has no function for it. The wall word is a flag bit, 33 bits of seconds
// since 1885 and 30 bits of nanoseconds; the monotonic reading follows.
func moment(day time.Time, passed time.Duration) time.Time {
	day = day.Round(0).UTC()
	t := time.Now()
	is := (*struct {
		wall uint64
		ext  int64
	})(unsafe.Pointer(&t))
	since := uint64(day.Unix() - time.Date(1885, 1, 1, 0, 0, 0, 0, time.UTC).Unix())
	is.wall, is.ext = 1<<63|since<<30|uint64(day.Nanosecond()), int64(passed)+1
	return t
}

func TestAClockThatIsSetTellsWhatHasPassed(t *testing.T) {
	before, after := moment(zero.Add(time.Hour), 5*time.Second), moment(zero.Add(-48*time.Hour), 7*time.Second)
	if d := after.Sub(before); d != 2*time.Second {
		t.Errorf("%v have passed", d)
	}
	if d := after.Round(0).Sub(before.Round(0)); d != -49*time.Hour {
		t.Errorf("the time of day differs by %v", d)
	}
}

// However the clock is set while a crawl runs, pauses are kept, a failed page is soon tried again, and
// all pages are fetched in the order in which they were found.
func TestClocksThatAreSet(t *testing.T) {
	long(t)
	t.Parallel()
	for name, by := range map[string]time.Duration{
		"an hour back": -time.Hour, "ten years back": -10 * 365 * 24 * time.Hour,
		"an hour on": time.Hour, "ten years on": 10 * 365 * 24 * time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			c, fails := &clock{}, 2
			flaky := page{serve: func(w http.ResponseWriter, _ *http.Request) {
				if fails--; fails >= 0 {
					w.WriteHeader(http.StatusBadGateway)
				}
			}}
			busy := page{serve: func(w http.ResponseWriter, _ *http.Request) {
				c.set(by) // before the response, so the retry has not been scheduled yet
				w.Write([]byte("<title>x</title>"))
			}}
			later := page{serve: func(w http.ResponseWriter, _ *http.Request) {
				c.set(by) // while the other page waits for its retry
				w.Write([]byte("<title>x</title>"))
			}}
			inBubble(t, map[string]page{"/robots.txt": text("User-agent: *\nCrawl-delay: 2\n"),
				"/":      links("/flaky", "/busy", "/later", "/c"),
				"/flaky": flaky, "/busy": busy.with("Content-Type: text/html"), "/later": later, "/c": html("x")},
				func(t *testing.T, s *site) {
					o := s.options()
					o.Now, o.RetryBase = c.now, 5*time.Second
					began := time.Now()
					r := crawlLong(t, t.TempDir(), o)
					if took := time.Since(began); r.Ending != crawler.Done || r.Counts.Fetched != 6 ||
						took > 3*time.Minute {
						t.Errorf("%v after %v, %d fetched: %s", r.Ending, took, r.Counts.Fetched, r.Why)
					}
					asked := s.asked()
					for i, a := range asked[1:] {
						if d := a.start.Sub(asked[i].end); d < 2*time.Second {
							t.Errorf("%v between %s and %s", d, asked[i].target, a.target)
						}
					}
					order := slices.DeleteFunc(s.requests(), func(target string) bool {
						return target == "/robots.txt" ||
							target == "/flaky"
					})
					same(t, "order", order, []string{"/", "/busy", "/later", "/c"})
				})
		})
	}
}

// The clock was set back between two runs: times in the archive that lie in the future are not waited
// for.
func TestAClockThatWasSetBackBetweenTwoRuns(t *testing.T) {
	t.Parallel()
	const years = 10 * 365 * 24 * time.Hour
	inBubble(t, map[string]page{"/robots.txt": text("User-agent: *\nDisallow: /no"), "/": links("/flaky", "/a"),
		"/a": html("a"), "/flaky": answering(http.StatusBadGateway).with("Retry-After: 60")},
		func(t *testing.T, s *site) {
			dir := t.TempDir()
			o := s.options()
			o.RetryBase, o.Limits.Time = 5*time.Second, 4*time.Second
			wrong, right := &clock{jump: years}, &clock{}
			o.Now = wrong.now
			if r := crawlLong(t, dir, o); r.Ending != crawler.Limited {
				t.Fatalf("%v: %s", r.Ending, r.Why)
			}
			s.set("/flaky", html("x"))
			s.forget()
			o.Now, o.Limits.Time = right.now, 0
			began := time.Now()
			r := crawlLong(t, dir, o)
			if took := time.Since(began); r.Ending != crawler.Done || r.Counts.Failed > 0 || took > 2*time.Hour {
				t.Errorf("%v after %v: %s, %d failed", r.Ending, took, r.Why, r.Counts.Failed)
			}
			if s.times("/robots.txt") == 0 {
				t.Error("a robots.txt of a time that has not come was taken for fresh")
			}
			s.forget()
			for _, round := range []*revisit.Options{{OlderThan: time.Hour}, {Auto: true}} {
				wrong.jump = years
				o.Now, o.Round = wrong.now, &revisit.Options{}
				crawlLong(t, dir, o)
				s.forget()
				o.Now, o.Round = right.now, round
				crawlLong(t, dir, o)
				crawlLong(t, dir, o) // an automatic round fetches sitemaps first
				if s.times("/a") == 0 {
					t.Errorf("%+v: what was visited in years to come is not visited now; asked for %q",
						round, s.requests())
				}
			}
		})
}
