package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"curtsy/crawler/status"
)

// progress shows how a crawl goes: one line that changes on a terminal, a
// plain line now and then elsewhere.
type progress struct {
	u    *ui
	bar  *stepBar
	last time.Time
}

func newProgress(u *ui) *progress {
	return &progress{u: u, bar: newStepBar(u), last: time.Now()}
}

// show tells how things are; the crawl calls it about every second.
func (p *progress) show(s status.Status) {
	line := statusLine(s)
	if p.bar.drawn() {
		p.bar.show(clean(line), int64(s.Fetched+s.Failed), int64(s.Fetched+s.Failed+s.Queued))
		return
	}
	if time.Since(p.last) >= 30*time.Second {
		p.last = time.Now()
		p.u.say("%s", line)
	}
}

func (p *progress) close() { p.bar.close() }

// statusLine is the state of a crawl in one line, what matters most first: a
// narrow terminal cuts its end.
func statusLine(s status.Status) string {
	parts := []string{fmt.Sprintf("%d done, %d queued, %.1f/s", s.Fetched+s.Failed, s.Queued, s.Rate)}
	if s.Left > 0 {
		parts = append(parts, "at least "+s.Left.Round(time.Second).String()+" left")
	} else if s.Growth > 0 && s.Queued > 0 {
		parts = append(parts, fmt.Sprintf("no end in sight: %.1f found for each done", s.Growth))
	}
	if len(s.InFlight) > 0 {
		if v := s.InFlight[0]; !v.Since.IsZero() && s.Updated.Sub(v.Since) > 3*time.Second {
			parts = append(parts, fmt.Sprintf("%s, %s: %s", v.Step, s.Updated.Sub(v.Since).Round(time.Second), v.URL))
		}
	}
	waiting := s.NextDue != nil && time.Until(*s.NextDue) > 2*time.Second
	if waiting {
		parts = append(parts, fmt.Sprintf("next at %s (%s)", s.NextDue.Local().Format("15:04:05"), s.WaitingFor))
	}
	if s.Delay != "" && !(waiting && s.Delay == s.WaitingFor) {
		parts = append(parts, s.Delay)
	}
	return strings.Join(parts, ", ")
}

// cleanWriter makes what is logged harmless for a terminal.
type cleanWriter struct{ w io.Writer }

func (c cleanWriter) Write(b []byte) (int, error) {
	if _, err := io.WriteString(c.w, clean(string(bytes.ToValidUTF8(b, []byte("\ufffd"))))); err != nil {
		return 0, err
	}
	return len(b), nil
}
