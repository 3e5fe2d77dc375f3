package app

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/status"
)

// work is a command to be run for an archive.
type work struct {
	kind  string // crawl, update, export, mirror, verify, repair
	args  []string
	after func(Outcome)
}

// activity is a command that is running, or has run, for an archive.
type activity struct {
	work
	finish   context.CancelFunc // lets a crawl finish requests in flight
	drop     context.CancelFunc
	steer    chan crawler.Steering
	steering chan struct{} // closed when a crawl starts: its settings are valid
	done     chan struct{}

	mu      sync.Mutex
	status  status.Status
	curve   curve
	url     string // the URL visited last
	step    string
	at, of  int64
	said    []string
	wanted  crawler.Steering
	usual   time.Duration // the delay with which the crawl started
	outcome *Outcome
}

// maxSaid is the most lines of a command's output that are kept.
const maxSaid = 200

// begin runs a command for an archive. While a crawl runs, that is stored, so that the next
// start of the program continues it if this one is killed.
func (s *Server) begin(name string, w work) *activity {
	a := &activity{work: w, steer: make(chan crawler.Steering, 1), steering: make(chan struct{}),
		done: make(chan struct{})}
	ctx, drop := context.WithCancel(s.ctx)
	stop, finish := context.WithCancel(s.stop)
	a.drop, a.finish = drop, finish
	var data []string
	out := &lines{each: func(line string) {
		if len(data) < maxSaid {
			data = append(data, line)
		}
	}}
	if a.crawls() {
		s.note(name, func(i *intentions) { i.Goes = true })
	}
	s.running.Go(func() {
		defer drop()
		defer finish()
		o := s.o.Command(w.args, Hooks{Ctx: ctx, Stop: stop, Steer: a.steer, Began: a.begun,
			Watch: func(st status.Status) { a.locked(func() { a.status = st; a.curve.add(st.Fetched) }) },
			Visit: func(url string) { a.locked(func() { a.url = url }) },
			Step: func(text string, done, total int64) {
				a.locked(func() { a.step, a.at, a.of = text, done, total })
			}, Err: &lines{each: a.say}, Out: out})
		for _, line := range data {
			a.say(line)
		}
		a.locked(func() { a.outcome = &o })
		if a.crawls() && s.stop.Err() == nil {
			s.note(name, func(i *intentions) { i.Goes = false })
		}
		close(a.done)
		if w.after != nil {
			w.after(o)
		}
	})
	return a
}

func (a *activity) begun(delay time.Duration) {
	a.locked(func() {
		a.wanted.Delay, a.usual = delay, delay
		if !isDone(a.steering) {
			close(a.steering)
		}
	})
}

// locked changes an activity under its lock.
func (a *activity) locked(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
}

func (a *activity) say(line string) {
	a.locked(func() {
		if len(a.said) < maxSaid {
			a.said = append(a.said, line)
		}
	})
}

// change changes the steering of a running crawl, a.wanted.
func (a *activity) change(change func()) {
	var next crawler.Steering
	a.locked(func() { change(); next = a.wanted })
	for {
		select {
		case a.steer <- next:
			return
		case <-a.steer: // replaces a change that the crawl has not read yet
		}
	}
}

// isDone reports whether a channel is closed.
func isDone(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// crawls reports whether the activity is a crawl, which can be paused and has a status.
func (a *activity) crawls() bool { return a.kind == "crawl" || a.kind == "update" }

// slowest is the longest delay that can be set on the page.
const slowest = 5 * time.Minute

// curve records the growth of a number. When it has many points, every other one is dropped.
type curve struct {
	points []int
	every  int // calls per point
	n      int
}

const curvePoints = 120

func (c *curve) add(n int) {
	c.every = max(c.every, 1)
	if c.n++; c.n%c.every != 0 {
		return
	}
	c.points = append(c.points, n)
	if len(c.points) < curvePoints {
		return
	}
	for i := range curvePoints / 2 {
		c.points[i] = c.points[2*i+1]
	}
	c.points, c.every = c.points[:curvePoints/2], 2*c.every
}

// svg returns the points of a polyline, 300 wide and 60 high.
func (c *curve) svg() string {
	if len(c.points) < 2 {
		return ""
	}
	top := max(c.points[len(c.points)-1], 1)
	var b strings.Builder
	for i, n := range c.points {
		fmt.Fprintf(&b, "%d,%d ", 300*i/(len(c.points)-1), 60-60*n/top)
	}
	return strings.TrimSpace(b.String())
}

// lines is a writer that calls each with every line.
type lines struct {
	mu   sync.Mutex
	rest string
	each func(line string)
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest += string(b)
	for {
		line, rest, ok := strings.Cut(l.rest, "\n")
		if !ok {
			return len(b), nil
		}
		l.rest = rest
		l.each(line)
	}
}
