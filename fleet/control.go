package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"curtsy/fleet/lease"
)

// Ask is a request of a command to the fleet; any worker answers it.
type Ask struct {
	Do     string   `json:"do"` // add, status, why, pause, go, remove, drain, site
	Sites  []Site   `json:"sites,omitempty"`
	Names  []string `json:"names,omitempty"`
	State  string   `json:"state,omitempty"`
	After  string   `json:"after,omitempty"` // sites whose names come after it
	Worker string   `json:"worker,omitempty"`
}

// Answer is what came of it.
type Answer struct {
	Error  string         `json:"error,omitempty"`
	Added  int            `json:"added,omitempty"`
	Sites  []SiteStatus   `json:"sites,omitempty"`
	More   bool           `json:"more,omitempty"` // there are sites after the last
	Total  int            `json:"total,omitempty"`
	States map[string]int `json:"states,omitempty"`
	Worker []lease.Worker `json:"workers,omitempty"`
	Text   string         `json:"text,omitempty"`
}

const (
	asked   = "curtsy.ask"
	askedOf = "curtsy.worker." // one of them
)

// answers are the subscriptions of a worker.
type answers []*nats.Subscription

func (a answers) close() {
	for _, s := range a {
		_ = s.Unsubscribe() // the connection ends with the session
	}
}

func (w *Worker) answer(ctx context.Context, n *nats.Conn) (answers, error) {
	reply := func(m *nats.Msg) {
		var q Ask
		a, err := Answer{}, json.Unmarshal(m.Data, &q)
		if err == nil {
			a, err = w.handle(ctx, n, q)
		}
		if err != nil {
			a.Error = err.Error()
		}
		if b, err := json.Marshal(a); err == nil {
			_ = m.Respond(b) // whoever asked has gone
		}
	}
	all, err := n.QueueSubscribe(asked, "workers", reply)
	if err != nil {
		return nil, err
	}
	own, err := n.Subscribe(askedOf+plain(w.o.Name), reply)
	if err != nil {
		return nil, errors.Join(err, all.Unsubscribe())
	}
	return answers{all, own}, nil
}

func (w *Worker) handle(ctx context.Context, n *nats.Conn, q Ask) (a Answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	switch q.Do {
	case "add":
		a.Added, err = w.book.addAll(ctx, q.Sites)
		return a, err
	case "status":
		return w.status(q.State, q.After, Page), nil
	case "why":
		return w.whyAll(n, q.Names)
	case "running": // of the worker itself
		return w.doing(q.Names)
	case "pause", "go", "remove":
		return a, w.change(ctx, q)
	case "drain":
		if q.Worker == w.o.Name {
			w.drain()
			return a, nil
		}
		return request(n, askedOf+plain(q.Worker), q)
	default:
		return a, fmt.Errorf("unknown request %q", q.Do)
	}
}

func (w *Worker) change(ctx context.Context, q Ask) (err error) {
	for _, name := range q.Names {
		switch q.Do {
		case "remove":
			err = w.book.remove(ctx, name)
		default:
			err = w.book.pause(ctx, name, q.Do == "pause")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// askTimeout is how long a command waits for its answer.
const askTimeout = 30 * time.Second

// Page is how many sites one request or answer may hold: a message has 1 MiB.
const Page = 500

// Request asks the fleet.
func Request(n *nats.Conn, q Ask) (Answer, error) { return request(n, asked, q) }

func request(n *nats.Conn, subject string, q Ask) (a Answer, err error) {
	b, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	m, err := n.Request(subject, b, askTimeout)
	if errors.Is(err, nats.ErrNoResponders) {
		who := "no worker of the fleet is running"
		if name, ok := strings.CutPrefix(subject, askedOf); ok {
			who = "no worker " + name + " is there"
		}
		return a, errors.New(who)
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
