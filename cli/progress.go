package cli

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"

	"curtsy/crawler/status"
	"curtsy/internal/legible"
)

// progress shows the progress of a crawl: three lines updated in place on a terminal; elsewhere
// a plain line regularly, and when the reason to wait changes.
type progress struct {
	u    *ui
	hint func() (long, short string) // describes the keys; may be nil

	mu   sync.Mutex
	s    status.Status
	live *live

	last time.Time // time of the last plain line
	said string    // the wait that it reported
}

// plainEvery is the interval of plain lines.
const plainEvery = 10 * time.Second

func newProgress(u *ui, hint func() (long, short string)) *progress {
	p := &progress{u: u, hint: hint, last: time.Now()}
	if !u.drawsBars() {
		return p
	}
	p.live = (&live{u: u, lines: p.lines}).draws()
	return p
}

// show updates the status; the crawl calls it about every second.
func (p *progress) show(s status.Status) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.s = s
	if p.live != nil {
		return
	}
	wait := waitKind(&s)
	changed := wait != p.said && wait != "" || p.said == "" && s.Visits > 0
	if now := time.Now(); changed || now.Sub(p.last) >= plainEvery {
		p.last, p.said = now, wait
		if p.said == "" && s.Visits > 0 {
			p.said = "-"
		}
		p.u.say("%s", statusLine(s, p.u.zone()))
	}
}

// waitKind is the reason of a long wait, without its figures.
func waitKind(s *status.Status) string {
	if s.NextDue == nil || s.NextDue.Sub(s.Updated) < plainEvery {
		return ""
	}
	kind, _, _ := strings.Cut(s.WaitingFor, " ")
	return kind
}

// lines returns the lines for a terminal: counts with errors are red, the current activity is
// dim.
func (p *progress) lines(width int) []styled {
	p.mu.Lock()
	defer p.mu.Unlock()
	list, counts := progressLines(p.s, time.Now(), p.fitting(width-1)), ""
	if p.s.Failed > 0 {
		counts = red
	}
	return []styled{{bold, list[0]}, {counts, list[1]}, {dim, list[2]}}
}

// fitting returns the longest hint about keys that fits on the first line; "" if none does.
func (p *progress) fitting(width int) string {
	if p.hint == nil {
		return ""
	}
	long, short := p.hint()
	for _, text := range []string{long, short} {
		if runewidth.StringWidth(progressLines(p.s, time.Now(), text)[0]) <= width {
			return text
		}
	}
	return ""
}

func (p *progress) close() {
	if p.live == nil {
		return
	}
	p.live.close()
	p.mu.Lock()
	p.live = nil
	p.mu.Unlock()
}

// progressLines returns the lines for a terminal, most important text first, since narrow
// terminals cut off the end: time left and rate, counts, and current activity.
func progressLines(s status.Status, now time.Time, keys string) [3]string {
	pace := []string{leftText(s), fmt.Sprintf("%.1f/s", s.Rate), fmt.Sprintf("%d queued", s.Queued), keys}
	return [3]string{joined(pace), joined(countTexts(s, true)), nowText(s, now)}
}

// countTexts formats the counts of a status; zeros includes counts of zero.
func countTexts(s status.Status, zeros bool) []string {
	texts := []string{fmt.Sprintf("%d fetched", s.Fetched), legible.Bytes(s.Bytes)}
	if s.Round != nil {
		texts = []string{fmt.Sprintf("round %d: %d fetched", s.Round.N, s.Round.Pages), legible.Bytes(s.Round.Bytes)}
	}
	if zeros || s.Failed > 0 {
		texts = append(texts, legible.Count(s.Failed, "error"))
	}
	if zeros || s.Disregarded > 0 {
		texts = append(texts, fmt.Sprintf("%d skipped", s.Disregarded))
	}
	return texts
}

func joined(parts []string) string {
	var list []string
	for _, p := range parts {
		if p != "" {
			list = append(list, p)
		}
	}
	return strings.Join(list, ", ")
}

// leftText formats the estimated time left.
func leftText(s status.Status) string {
	switch {
	case s.Left > 0:
		return "about " + aboutText(s.Left) + " left"
	case s.Growing() && s.Queued > 0:
		return fmt.Sprintf("time left unknown: %.0f URLs found while 100 were fetched", 100*s.Growth)
	}
	return ""
}

// maxLeft is the time left from which on no figure is given.
const maxLeft = 365 * 24 * time.Hour

// aboutText formats a duration with appropriate precision: 12 min, 3 h 20 min, 2 d 4 h.
func aboutText(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%d s", int(d.Seconds()+0.5))
	case d < 90*time.Minute:
		return fmt.Sprintf("%d min", int(d.Minutes()+0.5))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	if d > maxLeft {
		return "over a year"
	}
	return fmt.Sprintf("%d d %d h", int(d.Hours())/24, int(d.Hours())%24)
}

// nowText says what the crawl is doing or waiting for.
func nowText(s status.Status, now time.Time) string {
	if len(s.InFlight) > 0 {
		v := s.InFlight[0]
		took := ""
		if d := now.Sub(v.Since); d >= 2*time.Second {
			took = ", " + aboutText(d)
		}
		return v.Step + took + ": " + v.URL
	}
	switch {
	case s.NextDue != nil && s.NextDue.After(now):
		return "pausing " + aboutText(max(s.NextDue.Sub(now), time.Second)) + ": " + s.WaitingFor
	case s.WaitingFor != "":
		return s.WaitingFor
	}
	return s.Delay
}

// statusLine formats the status of a crawl on one line.
func statusLine(s status.Status, zone *time.Location) string {
	done := strconv.Itoa(s.Fetched + s.Failed)
	if s.Round != nil {
		done = fmt.Sprintf("round %d: %d", s.Round.N, s.Round.Pages)
	}
	parts := []string{fmt.Sprintf("%s done, %d queued, %.1f/s", done, s.Queued, s.Rate), leftText(s)}
	if len(s.InFlight) > 0 {
		if v := s.InFlight[0]; !v.Since.IsZero() && s.Updated.Sub(v.Since) > 3*time.Second {
			parts = append(parts, fmt.Sprintf("%s, %s: %s", v.Step, s.Updated.Sub(v.Since).Round(time.Second), v.URL))
		}
	}
	waiting := s.NextDue != nil && time.Until(*s.NextDue) > 2*time.Second
	if waiting {
		parts = append(parts, fmt.Sprintf("next at %s (%s)", s.NextDue.In(zone).Format("15:04:05 MST"), s.WaitingFor))
	} else if s.NextDue == nil && s.WaitingFor != "" {
		parts = append(parts, s.WaitingFor)
	}
	if s.Delay != "" && !(waiting && s.Delay == s.WaitingFor) {
		parts = append(parts, s.Delay)
	}
	return joined(parts)
}
