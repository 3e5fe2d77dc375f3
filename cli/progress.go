package cli

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"curtsy/crawler"
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
func (p *progress) show(s crawler.Status) {
	line := statusLine(s)
	if p.bar.drawn() {
		p.bar.show(clean(line), int64(s.Discovered-s.Queued), int64(s.Discovered))
		return
	}
	if time.Since(p.last) >= 30*time.Second {
		p.last = time.Now()
		p.u.say("%s", line)
	}
}

func (p *progress) close() { p.bar.close() }

// statusLine is the state of a crawl in one line.
func statusLine(s crawler.Status) string {
	line := fmt.Sprintf("%d done, %d queued, %.1f/s, %s", s.Discovered-s.Queued, s.Queued, s.Rate, s.Delay)
	if s.NextDue != nil && time.Until(*s.NextDue) > 2*time.Second {
		line += fmt.Sprintf(", next at %s (%s)", s.NextDue.Local().Format("15:04:05"), s.WaitingFor)
	}
	if s.Left > 0 {
		line += ", at least " + s.Left.Round(time.Second).String() + " left"
	}
	return line
}

// cleanWriter makes what is logged harmless for a terminal.
type cleanWriter struct{ w io.Writer }

func (c cleanWriter) Write(b []byte) (int, error) {
	if _, err := io.WriteString(c.w, clean(string(bytes.ToValidUTF8(b, []byte("\ufffd"))))); err != nil {
		return 0, err
	}
	return len(b), nil
}
