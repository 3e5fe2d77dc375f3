package cli

import (
	"strings"
	"testing"
	"time"

	"curtsy/crawler/status"
)

func TestStatusLineSaysWhatMattersFirst(t *testing.T) {
	due := time.Now().Add(time.Minute)
	s := status.Status{Discovered: 123456, Queued: 23456, Fetched: 99000, Failed: 1000, Rate: 10.25, Left: 83*time.Minute + 45*time.Second, Delay: "crawl-delay 10s (robots.txt line 3)"}
	line := statusLine(s)
	if i := strings.Index(line, " left"); i < 0 || i > 65 {
		t.Errorf("the time left does not fit on 80 columns beside a bar: %q", line)
	}
	if !strings.HasSuffix(line, ", "+s.Delay) {
		t.Errorf("%q does not end with the delay", line)
	}
	if line := statusLine(status.Status{Discovered: 9, Queued: 8, Rate: 1, Growth: 1.25}); !strings.Contains(line, "no end in sight: 1.2 found for each done") {
		t.Errorf("a crawl that grows: %q", line)
	}
	s.NextDue, s.WaitingFor = &due, s.Delay
	if line = statusLine(s); strings.Count(line, s.Delay) != 1 {
		t.Errorf("%q says the delay twice, or not at all", line)
	}
	s.WaitingFor = "backoff 2m0s (HTTP 503)"
	if line = statusLine(s); !strings.Contains(line, s.WaitingFor) || !strings.Contains(line, s.Delay) {
		t.Errorf("%q does not name both reasons", line)
	}
	if line = statusLine(status.Status{}); line != "0 done, 0 queued, 0.0/s" {
		t.Errorf("%q", line)
	}
}

func TestProgressSaysWhatTakesLong(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	s := status.Status{Fetched: 3, Queued: 1, Updated: now,
		InFlight: []status.InFlight{{URL: "http://a.example/slow", Step: "waiting for an answer", Since: now.Add(-12 * time.Second)}}}
	if got, want := statusLine(s), "3 done, 1 queued, 0.0/s, waiting for an answer, 12s: http://a.example/slow"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.InFlight[0].Since = now.Add(-time.Second)
	if got, want := statusLine(s), "3 done, 1 queued, 0.0/s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
