package cli

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/status"
)

func TestStatusLineSaysWhatMattersFirst(t *testing.T) {
	due := time.Now().Add(time.Minute)
	s := status.Status{Discovered: 123456, Queued: 23456, Fetched: 99000, Failed: 1000, Pace: status.Pace{Rate: 10.25,
		Left: 83*time.Minute + 45*time.Second, Delay: "crawl-delay 10s (robots.txt line 3)"}}
	line := statusLine(s, time.UTC)
	if i := strings.Index(line, "about 84 min left"); i < 0 || i > 65 {
		t.Errorf("the time left is not among the first words: %q", line)
	}
	if !strings.HasSuffix(line, ", "+s.Delay) {
		t.Errorf("%q does not end with the delay", line)
	}
	if line := statusLine(status.Status{Discovered: 9, Queued: 8, Pace: status.Pace{Rate: 1, Growth: 1.25}},
		time.UTC); !strings.Contains(line, "time left unknown: 125 URLs found while 100 were fetched") {
		t.Errorf("a crawl that grows: %q", line)
	}
	s.NextDue, s.WaitingFor = &due, s.Delay
	if line, want := statusLine(s, time.FixedZone("XST", 7*3600)), due.UTC().Add(7*time.Hour).Format("15:04:05")+
		" XST"; !strings.Contains(line, want) {
		t.Errorf("%q does not say %s", line, want)
	}
	if line = statusLine(s, time.UTC); strings.Count(line, s.Delay) != 1 {
		t.Errorf("%q says the delay twice, or not at all", line)
	}
	s.WaitingFor = "backoff 2m0s (HTTP 503)"
	if line = statusLine(s, time.UTC); !strings.Contains(line, s.WaitingFor) || !strings.Contains(line, s.Delay) {
		t.Errorf("%q does not name both reasons", line)
	}
	if line = statusLine(status.Status{}, time.UTC); line != "0 done, 0 queued, 0.0/s" {
		t.Errorf("%q", line)
	}
}

func TestProgressSaysWhatTakesLong(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	s := status.Status{Fetched: 3, Queued: 1, Updated: now,
		Pace: status.Pace{InFlight: []status.InFlight{{URL: "http://a.example/slow", Step: "waiting for an answer",
			Since: now.Add(-12 * time.Second)}}}}
	if got, want := statusLine(s, time.UTC),
		"3 done, 1 queued, 0.0/s, waiting for an answer, 12s: http://a.example/slow"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.InFlight[0].Since = now.Add(-time.Second)
	if got, want := statusLine(s, time.UTC), "3 done, 1 queued, 0.0/s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProgressLines(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	due := now.Add(18 * time.Second)
	s := status.Status{Fetched: 412, Failed: 2, Disregarded: 57, Queued: 40, Updated: now,
		Totals: status.Totals{Bytes: 18_200_000}, Pace: status.Pace{Rate: 0.05, Left: 13*time.Minute + 20*time.Second,
			NextDue: &due, WaitingFor: "crawl-delay 20s (robots.txt line 3)"}}
	want := [3]string{"about 13 min left, 0.1/s, 40 queued, q finish", "412 fetched, 18.2 MB, 2 errors, 57 skipped",
		"pausing 18 s: crawl-delay 20s (robots.txt line 3)"}
	if got := progressLines(s, now, "q finish"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := progressLines(s, now, "")[0]; len(got) > 40 {
		t.Errorf("40 columns do not hold %q", got)
	}
	s.InFlight = []status.InFlight{{URL: "http://a.example/slow", Step: "waiting for an answer",
		Since: now.Add(-12 * time.Second)}}
	if got, want := progressLines(s, now, "")[2], "waiting for an answer, 12 s: http://a.example/slow"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for d, want := range map[time.Duration]string{40 * time.Second: "40 s", 83 * time.Minute: "83 min",
		200 * time.Minute: "3 h 20 min", 52 * time.Hour: "2 d 4 h", math.MaxInt64: "over a year"} {
		if got := aboutText(d); got != want {
			t.Errorf("%s: got %q, want %q", d, got, want)
		}
	}
}

func TestKeysChangeThePace(t *testing.T) {
	k := &keys{now: crawler.Steering{Delay: 400 * time.Millisecond}, steer: make(chan crawler.Steering, 1),
		say: func(string, ...any) {}, end: make(chan struct{})}
	for _, c := range []struct {
		key   byte
		delay time.Duration
		pause bool
	}{{'+', 200, false}, {'+', 100, false}, {'+', 100, false}, {'p', 100, true}, {'-', 200, true}, {' ', 200, false}} {
		k.press(c.key)
		if got, want := <-k.steer, (crawler.Steering{Pause: c.pause, Delay: c.delay * time.Millisecond}); got != want {
			t.Errorf("%c: got %+v, want %+v", c.key, got, want)
		}
	}
	k.press('x')
	if len(k.steer) != 0 {
		t.Error("a key that is none changed something")
	}
}

func TestALookWithoutColours(t *testing.T) {
	if hasColours(&bytes.Buffer{}) {
		t.Error("what is no terminal has colours")
	}
	p := &progress{s: status.Status{Failed: 1}}
	if got := p.lines(80); got[1].style != "\x1b[31m" {
		t.Errorf("%q", got)
	}
	if p.s.Failed = 0; p.lines(80)[1].style != "" {
		t.Error("counts without errors are red")
	}
}

func TestPlainLinesComeWhenSomethingChanges(t *testing.T) {
	var b bytes.Buffer
	p := newProgress(&ui{err: &b}, nil)
	now := time.Now()
	due := now.Add(time.Minute)
	visits := func(n int, waitingFor string) status.Status {
		s := status.Status{Updated: now, Fetched: n, Totals: status.Totals{Visits: n}}
		if waitingFor != "" {
			s.NextDue, s.WaitingFor = &due, waitingFor
		}
		return s
	}
	for _, s := range []status.Status{visits(0, ""), visits(1, ""), visits(2, ""), visits(3, "backoff 1m0s (HTTP 503)"),
		visits(3, "backoff 59s (HTTP 503)")} {
		p.show(s)
	}
	if n := strings.Count(b.String(), "\n"); n != 2 {
		t.Errorf("%d lines, want the first answer's and the wait's:\n%s", n, b.String())
	}
}

// The hint about the keys is shown in full, in short or not at all, but never cut.
func TestHintFits(t *testing.T) {
	p := &progress{hint: (&keys{listens: true}).hint}
	long, short := p.hint()
	whole := progressLines(p.s, time.Now(), long)[0]
	for width, want := range map[int]string{len(whole): long, len(whole) - 1: short, 10: ""} {
		if got := p.fitting(width); got != want {
			t.Errorf("in %d columns: %q, want %q", width, got, want)
		}
	}
}

// When the terminal becomes narrower it wraps the lines that were drawn: the additional rows
// are erased, once.
func TestNarrowerTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("TMUX", "")
	t.Setenv("XTERM_VERSION", "")
	l := &live{drawn: []int{80, 101, 20}, width: 120}
	for _, c := range []struct {
		was, width int
		want       string
	}{{120, 120, "\r\x1b[3A\x1b[J"}, {120, 50, "\r\x1b[6A\x1b[J"}, {50, 100, "\r\x1b[3A\x1b[J"},
		{100, 99, "\r\x1b[4A\x1b[J"}} {
		l.width = c.was
		if got := l.erasure(c.width); got != c.want {
			t.Errorf("%d to %d columns: %q, want %q", c.was, c.width, got, c.want)
		}
	}
	t.Setenv("XTERM_VERSION", "XTerm(390)") // this terminal truncates lines instead of wrapping them
	l.width = 120
	if got := l.erasure(20); got != "\r\x1b[3A\x1b[J" {
		t.Errorf("xterm: %q", got)
	}
}

func TestEllipsis(t *testing.T) {
	for _, c := range []struct{ all, ctype, lang, want string }{
		{"", "", "", "…"}, {"", "", "de_DE.UTF-8", "…"}, {"C.utf8", "", "C", "…"}, {"", "", "C", "..."},
		{"", "en_US.ISO-8859-1", "en_US.UTF-8", "..."}, {"POSIX", "C.UTF-8", "", "..."},
	} {
		env := func(name string) string {
			return map[string]string{"LC_ALL": c.all, "LC_CTYPE": c.ctype, "LANG": c.lang}[name]
		}
		if got := ellipsis(env); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}
