package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"curtsy/fleet/engine"
	"curtsy/fleet/lease"
)

// Ask is a command's request to the fleet. Any worker answers it.
type Ask struct {
	Do     string   `json:"do"` // add, status, why, pause, go, remove, drain, site; between workers running and stop
	Sites  []Site   `json:"sites,omitempty"`
	Names  []string `json:"names,omitempty"`
	State  string   `json:"state,omitempty"`
	After  string   `json:"after,omitempty"` // list sites whose names follow it
	Worker string   `json:"worker,omitempty"`
	// Given names the parts of Sites that were given (every, cron, config, contact, group);
	// other parts of listed sites are kept. nil: all.
	Given []string `json:"given,omitempty"`
}

// Answer is the response to Ask.
type Answer struct {
	Error  string         `json:"error,omitempty"`
	Added  int            `json:"added,omitempty"`
	Sites  []SiteStatus   `json:"sites,omitempty"`
	More   bool           `json:"more,omitempty"` // there are further sites
	Total  int            `json:"total,omitempty"`
	States map[string]int `json:"states,omitempty"`
	Worker []lease.Worker `json:"workers,omitempty"`
	Text   string         `json:"text,omitempty"`
	// running: Live has the crawls of the worker. status: Pages and Bytes are totals.
	Live  map[string]Live `json:"live,omitempty"`
	Pages int             `json:"pages,omitempty"`
	Bytes int64           `json:"bytes,omitempty"`
	Site  *Site           `json:"site,omitempty"`
}

// Live is the current progress of a crawl.
type Live struct {
	Fetched int           `json:"fetched"`
	Failed  int           `json:"failed"`
	Queued  int           `json:"queued"`
	Bytes   int64         `json:"bytes"`
	Unsaved time.Duration `json:"unsaved,omitempty"` // since its last save
	Words   string        `json:"words,omitempty"`
}

// answer answers requests until stop is called.
func (w *Worker) answer(ctx context.Context, n *nats.Conn) (stop func(), err error) {
	var list []*nats.Subscription
	stop = func() {
		for _, s := range list {
			_ = s.Unsubscribe() // the connection ends with the session
		}
	}
	turns := make(chan struct{}, answersAtOnce)
	reply := func(m *nats.Msg) {
		defer func() { <-turns }()
		var q Ask
		a, err := Answer{}, json.Unmarshal(m.Data, &q)
		if err == nil && !strings.HasPrefix(m.Subject, subject(q.Do)) { // the sender may publish on this subject only
			err = fmt.Errorf("%q is not a request for %s", q.Do, m.Subject)
		}
		if err == nil {
			a, err = w.handle(ctx, n, q)
		}
		if err != nil {
			a.Error = err.Error()
		}
		if b, err := json.Marshal(a); err == nil {
			_ = m.Respond(b) // an error means that the client is gone
		}
	}
	aside := func(m *nats.Msg) { // so that a slow request does not hold up others
		turns <- struct{}{}
		go reply(m)
	}
	for _, on := range []struct{ subject, queue string }{{engine.AskRead, "workers"}, {engine.AskAdd, "workers"},
		{engine.AskPeers + plain(w.o.Name), ""}} {
		s, err := n.QueueSubscribe(on.subject, on.queue, aside)
		if err != nil {
			stop()
			return nil, err
		}
		list = append(list, s)
	}
	return stop, nil
}

// subject returns the subject for a request, according to the role it needs.
func subject(do string) string {
	switch do {
	case "status", "stopped", "why", "site":
		return engine.AskRead
	case "running", "stop":
		return engine.AskPeers
	}
	return engine.AskAdd
}

func (w *Worker) handle(ctx context.Context, n *nats.Conn, q Ask) (a Answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout-5*time.Second) // leave time for the error response
	defer cancel()
	switch q.Do {
	case "add":
		a.Added, err = w.book.addAll(ctx, q.Sites, q.Given)
		return a, err
	case "status":
		a = w.status(&q, Page)
		w.live(n, &a)
		return a, nil
	case "stopped": // which of the sites are still being crawled
		return w.crawled(q.Names), nil
	case "site":
		if len(q.Names) != 1 {
			return a, errors.New("one site is asked for at a time")
		}
		r, err := w.book.known(ctx, q.Names[0])
		a.Site = &r.Site
		return a, err
	case "why":
		return w.whyAll(ctx, n, q.Names)
	case "running": // from another worker, about this one
		return w.doing(q.Names), nil
	case "pause", "go", "remove":
		return a, w.change(ctx, q)
	case "drain":
		if q.Worker == w.o.Name {
			w.drain()
			return a, nil
		}
		q.Do = "stop"
		return request(n, engine.AskPeers+plain(q.Worker), q, askTimeout/2)
	case "stop": // from another worker, for drain
		w.drain()
		return a, nil
	default:
		return a, fmt.Errorf("unknown request %q", q.Do)
	}
}

func (w *Worker) change(ctx context.Context, q Ask) (err error) {
	for _, name := range q.Names {
		if q.Do == "remove" {
			err = w.book.remove(ctx, name)
		} else {
			err = w.book.pause(ctx, name, q.Do == "pause")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// answersAtOnce is the number of requests a worker answers concurrently.
const answersAtOnce = 16

// askTimeout is how long a command waits for its answer.
const askTimeout = 30 * time.Second

// Page is the most sites of a request or answer: messages are limited to 1 MiB.
const Page = 500

// Needs returns the role that a request needs.
func Needs(do string) engine.Role {
	if subject(do) == engine.AskRead {
		return engine.RoleRead
	}
	return engine.RoleAdd
}

// errNobody means that no worker answers requests.
var errNobody = errors.New("no worker of the fleet is running")

// starting is how long a request waits for a worker that is starting.
const starting = 10 * time.Second

// Request sends a request to the fleet.
func Request(n *nats.Conn, q Ask) (a Answer, err error) {
	for end := time.Now().Add(starting); ; time.Sleep(200 * time.Millisecond) {
		a, err = request(n, subject(q.Do), q, askTimeout)
		if !errors.Is(err, errNobody) || time.Now().After(end) {
			return a, err
		}
	}
}

func request(n *nats.Conn, subject string, q Ask, timeout time.Duration) (a Answer, err error) {
	b, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	m, err := n.Request(subject, b, timeout)
	if errors.Is(err, nats.ErrNoResponders) {
		if name, ok := strings.CutPrefix(subject, engine.AskPeers); ok {
			return a, errors.New("no worker " + name + " is there")
		}
		return a, errNobody
	}
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(m.Data, &a); err != nil {
		return a, err
	}
	if a.Error != "" {
		return a, errors.New(a.Error)
	}
	return a, nil
}
