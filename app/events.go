package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// events is a stream of server-sent events.
type events struct {
	w    http.ResponseWriter
	sent string
}

func newEvents(w http.ResponseWriter) *events {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	return &events{w: w}
}

// send sends a value, unless it is the one that was sent last.
func (e *events) send(v any) {
	b, err := json.Marshal(v)
	if err != nil || string(b) == e.sent {
		return
	}
	e.sent = string(b)
	fmt.Fprintf(e.w, "data: %s\n\n", b)
	_ = http.NewResponseController(e.w).Flush()
}

// eventsEvery is the interval of progress events.
const eventsEvery = 500 * time.Millisecond

// events sends the progress of an archive's command until it ends.
func (s *Server) events(w http.ResponseWriter, r *http.Request, a *archive) {
	l := s.language(r)
	e := newEvents(w)
	tick := time.NewTicker(eventsEvery)
	defer tick.Stop()
	for {
		v := s.live(a, l)
		if v == nil {
			e.send(map[string]any{"over": true})
			return
		}
		e.send(v)
		if v.Over {
			return
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		case <-s.stop.Done():
			return
		}
	}
}

// liveView is the progress of a command. The script replaces texts of the page by it.
type liveView struct {
	Kind    string   `json:"-"`
	State   string   `json:"state"`
	Over    bool     `json:"over"`
	Said    []string `json:"-"`
	Outcome *Outcome `json:"-"`
	Crawls  bool     `json:"-"`
	Slowed  bool     `json:"-"`
	Text    texts    `json:"text"`
	Curve   string   `json:"curve"`
	Percent int      `json:"percent"` // negative: unknown
}

// texts are keyed by the names that the page uses.
type texts map[string]string

// live returns the progress of the latest command; nil if there was none.
func (s *Server) live(a *archive, l *language) *liveView {
	a.mu.Lock()
	act := a.doing
	a.mu.Unlock()
	if act == nil {
		return nil
	}
	act.mu.Lock()
	defer act.mu.Unlock()
	st := &act.status
	v := &liveView{Kind: act.kind, Over: isDone(act.done), Said: act.said, Outcome: act.outcome,
		Crawls: act.crawls(), State: "running", Curve: act.curve.svg(), Percent: -1,
		Slowed: act.wanted.Delay > act.usual}
	switch {
	case v.Over:
		v.State = "ended"
	case act.wanted.Pause:
		v.State = "paused"
	}
	if act.of > 0 {
		v.Percent = int(100 * act.at / act.of)
	}
	v.Text = texts{"pages": l.number(st.Pages), "fetched": l.number(st.Fetched), "queued": l.number(st.Queued),
		"failed": l.number(st.Failed), "skipped": l.number(st.Disregarded), "bytes": l.Size(st.Bytes),
		"step": act.step, "rate": l.say("%.1f a second", st.Rate), "pace": st.Delay, "left": leftText(l, act),
		"url": act.url, "wait": ""}
	if !act.wanted.Pause {
		wait := st.WaitingFor
		if st.NextDue != nil && st.NextDue.Sub(s.now()) > 2*time.Second && !strings.Contains(wait, "until ") {
			wait += l.say(", until %s", st.NextDue.Local().Format("15:04:05"))
		}
		v.Text["wait"] = wait
	}
	if len(st.InFlight) > 0 && s.now().Sub(st.InFlight[0].Since) > 2*time.Second { // a slow request
		v.Text["url"] = st.InFlight[0].URL
	}
	if done := st.Fetched + st.Failed; (st.Left > 0 || act.wanted.Pause) && done+st.Queued > 0 {
		v.Percent = 100 * done / (done + st.Queued)
	}
	return v
}

// leftText formats the estimated time left.
func leftText(l *language, a *activity) string {
	st := &a.status
	switch {
	case a.wanted.Pause:
		return l.say("paused")
	case st.Left > 0:
		return l.duration(st.Left)
	case st.Growing() && st.Queued > 0:
		return l.say("not known: as many URLs are found as are fetched")
	}
	return l.say("not known yet")
}
