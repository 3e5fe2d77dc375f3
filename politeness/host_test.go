package politeness

import (
	"strings"
	"testing"
	"time"
)

// noon is the time at which every test begins.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const ms = time.Millisecond

// step is one event in the life of a host, at a time since noon.
type step struct {
	at     time.Duration
	do     string // "start", "done", "rules", "next"
	result Result
	rules  Rules
	want   time.Duration // for "next": the expected time
	why    string        // and a part of the expected reason
}

var ok = Result{Status: 200}

// busy and never are the wanted values of "next" when it gives no time.
const (
	busy  = -1
	never = -2
)

func start(at time.Duration) step          { return step{at: at, do: "start"} }
func done(at time.Duration, r Result) step { return step{at: at, do: "done", result: r} }
func next(at, want time.Duration, why string) step {
	return step{at: at, do: "next", want: want, why: why}
}
func rulesAre(at time.Duration, r Rules) step { return step{at: at, do: "rules", rules: r} }

// play executes steps and checks the result of every "next".
func play(t *testing.T, o Options, steps []step) *Host {
	t.Helper()
	h := NewHost(o)
	for i, s := range steps {
		now := noon.Add(s.at)
		switch s.do {
		case "start":
			h.Start(now)
		case "done":
			h.Done(now, s.result)
		case "rules":
			h.SetRules(s.rules)
		case "next":
			checkNext(t, i, h.Next(now), s)
		}
	}
	return h
}

func checkNext(t *testing.T, i int, w Wait, s step) {
	t.Helper()
	got := w.At.Sub(noon)
	switch {
	case w.Busy:
		got = busy
	case w.At.Equal(Never):
		got = never
	case !w.At.After(noon.Add(s.at)):
		got = s.at // at once
	}
	if got != s.want || !strings.Contains(w.Why, s.why) {
		t.Errorf("step %d, at %v: got %v (%s), want %v (%s)", i, s.at, got, w.Why, s.want, s.why)
	}
}

func TestPace(t *testing.T) {
	second := Options{Delay: time.Second}
	four := Options{Delay: 200 * ms, Concurrency: 4}
	free := Options{Concurrency: 2}
	two := Rules{CrawlDelay: 2 * time.Second, DelayLine: 3}
	tests := []struct {
		name  string
		o     Options
		steps []step
	}{
		{"a host nobody asked may be asked at once", second, []step{next(0, 0, "configured delay 1s")}},
		{"the configured pause runs from the end of the download", second,
			[]step{start(0), done(300*ms, ok), next(300*ms, 1300*ms, "configured delay 1s")}},
		{"while a request is in flight there is no other", second,
			[]step{start(0), next(5*time.Second, busy, "in flight")}},
		{"a pause that is over is over", second,
			[]step{start(0), done(300*ms, ok), next(9*time.Second, 9*time.Second, "")}},
		{"time not used is not saved up", second, []step{start(0), done(0, ok), start(10 * time.Second),
			done(10*time.Second, ok),
			next(10*time.Second, 11*time.Second, "")}},
		{"a crawl-delay is the pause where it is longer", second,
			[]step{rulesAre(0, two), start(0), done(100*ms, ok),
				next(100*ms, 2100*ms, "crawl-delay 2s (robots.txt line 3)")}},
		{"the configured delay is the pause where it is longer", Options{Delay: 5 * time.Second},
			[]step{rulesAre(0, two), start(0), done(0, ok), next(0, 5*time.Second, "configured delay 5s")}},
		{"a crawl-delay learned from the last download counts from its end", four,
			[]step{start(0), done(100*ms, ok), rulesAre(100*ms, two), next(100*ms, 2100*ms, "line 3")}},
		{"a crawl-delay makes overlapping requests one at a time", four,
			[]step{start(0), start(200 * ms), rulesAre(250*ms, two), next(250*ms, busy, ""), done(300*ms, ok),
				next(300*ms, busy, ""),
				done(400*ms, ok), next(400*ms, 2400*ms, "crawl-delay")}},
		{"a crawl-delay that is dropped is dropped at once", second,
			[]step{rulesAre(0, two), start(0), done(0, ok), next(0, 2*time.Second, ""), rulesAre(1, Rules{}),
				next(1, time.Second, "configured")}},
		{"a crawl-delay of nothing is none", Options{Concurrency: 2},
			[]step{rulesAre(0, Rules{DelayLine: 2}), start(0), next(0, 0, "")}},
		{"request-rate 2/1m is one in 30 s", second,
			[]step{rulesAre(0, Rules{Requests: 2, Per: time.Minute, RateLine: 4}), start(0), done(0, ok),
				next(0, 30*time.Second, "request-rate 2/1m0s (robots.txt line 4)")}},
		{"a request-rate counts from one start to the next, the configured pause from the end", second,
			[]step{rulesAre(0, Rules{Requests: 1, Per: 10 * time.Second, RateLine: 4}), start(0),
				done(8*time.Second, ok), next(8*time.Second, 10*time.Second, "request-rate"),
				start(10 * time.Second), done(19500*ms, ok), next(19500*ms, 20500*ms, "configured")}},
		{"a request-rate that is learned later counts from the last start", second,
			[]step{start(0), done(100*ms, ok), rulesAre(200*ms, Rules{Requests: 1, Per: 10 * time.Second}),
				next(200*ms, 10*time.Second, "request-rate")}},
		{"a request-rate that does not divide is never early", second,
			[]step{rulesAre(0, Rules{Requests: 3, Per: 10 * time.Second}), start(0), done(0, ok),
				next(0, 3333333334, "")}},
		{"with overlapping requests the pause runs between starts", four,
			[]step{start(0), next(0, 200*ms, "configured"), start(200 * ms), done(300*ms, ok),
				next(300*ms, 400*ms, "")}},
		{"never more in flight than configured", four,
			[]step{start(0), start(200 * ms), start(400 * ms), start(600 * ms), next(800*ms, busy, ""),
				done(900*ms, ok), next(900*ms, 900*ms, "")}},
		{"no delay is no waiting", free, []step{start(0), next(0, 0, ""), start(0), next(0, busy, ""), done(1, ok),
			next(1, 1, "")}},
		{"the adaptive pause follows the response time", Options{Delay: 10 * ms, Adaptive: 2},
			[]step{start(0), done(300*ms, Result{Status: 200, Took: 300 * ms}),
				next(300*ms, 900*ms, "2 times the server's response time: 600ms")}},
		{"the adaptive pause is smoothed", Options{Delay: 10 * ms, Adaptive: 1},
			[]step{start(0), done(80*ms, Result{Status: 200, Took: 80 * ms}), start(200 * ms),
				done(360*ms, Result{Status: 200, Took: 160 * ms}), next(360*ms, 450*ms, "")}},
		{"the adaptive pause has a limit", Options{Delay: 10 * ms, Adaptive: 2, MaxAdaptive: time.Second},
			[]step{start(0), done(time.Minute, Result{Status: 200, Took: time.Minute}),
				next(time.Minute, time.Minute+time.Second, "")}},
		{"a fast server is asked no faster than configured", Options{Delay: 10 * ms, Adaptive: 1},
			[]step{start(0), done(ms, Result{Status: 200, Took: ms}), next(ms, 11*ms, "configured")}},
		{"without a delay there is no adaptive one", Options{Adaptive: 5},
			[]step{start(0), done(time.Second, Result{Status: 200, Took: time.Second}),
				next(time.Second, time.Second, "")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { play(t, tt.o, tt.steps) })
	}
}

func TestTrouble(t *testing.T) {
	o := Options{Delay: 100 * ms}
	status := func(code int, retry string) Result { return Result{Status: code, RetryAfter: retry} }
	kind := func(k string) Result { return Result{Failure: k} }
	tests := []struct {
		name  string
		o     Options
		steps []step
	}{
		{"429 holds the host", o, []step{start(0), done(0, status(429, "")),
			next(0, time.Second, "backoff 1s (HTTP 429)")}},
		{"503 holds as long as it says", o, []step{start(0), done(0, status(503, "120")),
			next(0, 2*time.Minute, "retry-after 2m0s (HTTP 503)")}},
		{"a retry-after may be a date", o, []step{start(0), done(0, status(503, "Sun, 01 Mar 2026 12:00:30 GMT")),
			next(0, 30*time.Second, "retry-after 30s")}},
		{"a retry-after may be a date with an offset", o, []step{start(0),
			done(0, status(503, "Sun, 1 Mar 2026 13:00:30 +0100")), next(0, 30*time.Second, "retry-after 30s")}},
		{"a retry-after counts with a redirect", o, []step{start(0), done(0, status(301, "7")),
			next(0, 7*time.Second, "retry-after")}},
		{"a retry-after with a page means nothing", o, []step{start(0), done(0, status(200, "7")),
			next(0, 100*ms, "configured")}},
		{"a retry-after with a 404 means nothing", o, []step{start(0), done(0, status(404, "3600")),
			next(0, 100*ms, "configured")}},
		{"a retry-after with a 500 means nothing", o, []step{start(0), done(0, status(500, "3600")),
			next(0, 200*ms, "slowed down to 200ms (HTTP 500)")}},
		{"a huge retry-after is cut, and that is said", o,
			[]step{start(0), done(0, status(503, "999999999999999999999")), next(0, time.Hour, "cut from")}},
		{"a negative retry-after is none", o, []step{start(0), done(0, status(503, "-5")),
			next(0, time.Second, "backoff")}},
		{"a past retry-after is none", o, []step{start(0), done(0, status(503, "Sun, 01 Mar 2020 12:00:30 GMT")),
			next(0, time.Second, "backoff")}},
		{"garbage for retry-after is none", o, []step{start(0), done(0, status(429, "soon, \x00")),
			next(0, time.Second, "backoff")}},
		{"a shorter retry-after does not cut a backoff short", Options{Backoff: time.Minute},
			[]step{start(0), done(0, status(503, "1")), next(0, time.Minute, "backoff")}},
		{"failures in a row double the hold", o, []step{start(0), done(0, kind("timeout")),
			next(0, time.Second, "backoff 1s (timeout)"),
			start(time.Second), done(time.Second, kind("timeout")), next(time.Second, 3*time.Second, "backoff 2s"),
			start(3 * time.Second), done(3*time.Second, kind("refused")),
			next(3*time.Second, 7*time.Second, "backoff 4s (refused)")}},
		{"a success ends the row", o, []step{start(0), done(0, kind("timeout")), start(time.Second),
			done(time.Second, ok),
			start(2 * time.Second), done(2*time.Second, kind("timeout")),
			next(2*time.Second, 3*time.Second, "backoff 1s")}},
		{"one 500 slows down, it does not hold", o, []step{start(0), done(0, status(500, "")),
			next(0, 200*ms, "slowed down to 200ms (HTTP 500)")}},
		{"a second 500 holds", o, []step{start(0), done(0, status(500, "")), start(200 * ms),
			done(200*ms, status(502, "")), next(200*ms, 1200*ms, "backoff 1s (HTTP 502)")}},
		{"success speeds up again, to what the site allows", o, []step{start(0), done(0, status(500, "")),
			start(200 * ms), done(200*ms, ok), next(200*ms, 300*ms, "configured")}},
		{"an error of this program says nothing about the host", o, []step{start(0), done(0, kind("internal error")),
			next(0, 100*ms, "configured")}},
		{"a page's own fault says nothing about the host", o, []step{start(0), done(0, kind("protocol")),
			next(0, 100*ms, "configured")}},
		{"a 404 is an answer", o, []step{start(0), done(0, status(404, "")), next(0, 100*ms, "configured")}},
		{"requests that failed together count once", Options{Concurrency: 3}, []step{start(0), start(0), start(0),
			done(50*ms, Result{Failure: "timeout", Took: 50 * ms}), done(51*ms,
				Result{Failure: "timeout", Took: 51 * ms}), done(52*ms, Result{Failure: "timeout", Took: 52 * ms}),
			next(60*ms, 1050*ms, "backoff 1s")}},
		{"a host in trouble is tried with one request", Options{Concurrency: 3},
			[]step{start(0), done(0, kind("timeout")), start(time.Second), next(time.Second, busy, ""),
				done(1100*ms, ok), start(1300 * ms), next(1500*ms, 1500*ms, "")}},
		{"after so many failures the host gives up", Options{MaxFailures: 2},
			[]step{start(0), done(0, kind("dns")), start(time.Second), done(time.Second, kind("dns")),
				next(time.Hour, never, "2 failures in a row, the last: dns")}},
		{"a negative limit never gives up", Options{MaxFailures: -1, MaxBackoff: time.Second},
			[]step{start(0), done(0, kind("dns")), start(1), done(1, kind("dns")), next(time.Hour, time.Hour, "")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { play(t, tt.o, tt.steps) })
	}
}

func TestRulesOfTwoOriginsAddUp(t *testing.T) {
	day := func(start, end time.Duration) Window { return Window{Start: end * time.Hour, End: start * time.Hour} }
	a := Rules{CrawlDelay: 2 * time.Second, DelayLine: 3, Requests: 10, Per: time.Minute, RateLine: 4,
		Visit: day(9, 15), VisitLine: 5}
	b := Rules{CrawlDelay: time.Second, DelayLine: 1, Requests: 1, Per: 10 * time.Second, RateLine: 2,
		Visit: day(13, 20), VisitLine: 6}
	both := Rules{CrawlDelay: 2 * time.Second, DelayLine: 3, Requests: 1, Per: 10 * time.Second, RateLine: 2}
	for _, c := range []struct{ r, s, want Rules }{
		{Rules{}, Rules{}, Rules{}}, {a, Rules{}, a}, {Rules{}, a, a}, {a, a, a}, {a, b, both}, {b, a, both},
	} {
		got := c.r.And(c.s)
		if c.r.Visit != nil && c.s.Visit != nil {
			for hour, want := range map[int]int{8: 13, 13: 13, 14: 14, 16: 13 + 24, 21: 13 + 24} {
				if c.r == c.s {
					want = map[int]int{8: 9, 13: 13, 14: 14, 16: 9 + 24, 21: 9 + 24}[hour]
				}
				midnight := noon.Add(-12 * time.Hour)
				if at := got.Visit.Next(midnight.Add(time.Duration(hour) * time.Hour)); !at.Equal(midnight.Add(time.Duration(want) * time.Hour)) {
					t.Errorf("at %d:00 the next visit is at %v, want %d:00", hour, at, want)
				}
			}
			got.Visit, got.VisitLine, c.want.Visit, c.want.VisitLine = nil, 0, nil, 0
		}
		if got != c.want {
			t.Errorf("%+v and %+v are %+v", c.r, c.s, got)
		}
	}
	never := Rules{Visit: day(1, 2)}.And(Rules{Visit: day(3, 4)})
	if at := never.Visit.Next(noon); !at.After(noon) || at.After(noon.AddDate(0, 0, 10)) {
		t.Errorf("hours that have nothing in common begin at %v", at)
	}
}
