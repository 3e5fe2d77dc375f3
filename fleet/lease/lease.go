package lease

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"curtsy/fleet/engine"
)

// ErrClosed means that claims are not granted yet: the board was created anew, and holders of
// claims on the previous one may still be running.
var ErrClosed = errors.New("the engine has just started: claims are granted once all earlier ones have expired")

// Lease is a claim held by a session.
type Lease struct {
	s      *Session
	key    string
	rev    uint64
	nonce  string
	lost   context.Context
	cancel context.CancelFunc
}

// Acquire claims key for what, or returns a HeldError.
func (s *Session) Acquire(ctx context.Context, key, what string) (*Lease, error) {
	s.mu.Lock()
	if l := s.held[key]; l != nil || s.trying[key] {
		s.mu.Unlock()
		return nil, s.heldError(key)
	}
	s.trying[key] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.trying, key)
	}()
	e, err := s.takeable(ctx, key)
	if err != nil {
		return nil, err
	}
	c := claim{s.id, s.o.Worker, what, rand.Text()}
	value, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	e, err = s.board.Swap(ctx, e, value)
	if errors.Is(err, engine.ErrConflict) {
		return nil, s.heldError(key)
	}
	if err != nil {
		return nil, fmt.Errorf("claim %s: %w", key, err)
	}
	l := &Lease{s: s, key: key, rev: e.Rev, nonce: c.Nonce}
	l.lost, l.cancel = context.WithCancel(s.over)
	s.mu.Lock()
	s.held[key] = l
	s.mu.Unlock()
	return l, nil
}

// takeable returns the entry of a free claim, for a swap.
func (s *Session) takeable(ctx context.Context, key string) (engine.Entry, error) {
	e, ok := s.board.Entry(claims + key)
	if !ok {
		if _, open := s.board.Entry(openKey); !open {
			return e, ErrClosed
		}
		return engine.Entry{Key: claims + key}, nil
	}
	var c claim
	if err := json.Unmarshal(e.Value, &c); err != nil {
		return e, fmt.Errorf("claim %s: it cannot be decoded: %w", key, err)
	}
	if c.Session == "" {
		return e, nil
	}
	ended, err := s.ended(ctx, c.Session)
	if err != nil {
		return e, err
	}
	if !ended {
		return e, s.heldError(key)
	}
	return e, nil
}

// ended reports whether a session is dead, and marks it as dead if it was not renewed for its
// whole term.
func (s *Session) ended(ctx context.Context, id string) (bool, error) {
	if id == s.id { // claimed, but unused: tidy releases it
		return false, nil
	}
	if id == s.o.Previous && id != "" {
		return true, nil
	}
	if s.dead(id) {
		return true, nil
	}
	e, ok := s.board.Entry(sessions + id)
	if s.left(id, e, ok) > 0 {
		return false, nil
	}
	if !ok {
		e = engine.Entry{Key: sessions + id}
	}
	err := s.kill(ctx, e)
	if errors.Is(err, engine.ErrConflict) { // it was renewed
		return false, nil
	}
	return err == nil, err
}

// left returns how long a session lasts if it is not renewed.
func (s *Session) left(id string, e engine.Entry, ok bool) time.Duration {
	now := s.o.Clock()
	if ok {
		return e.Seen + s.o.Term - now
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	since, noted := s.missing[id]
	if !noted {
		since = now
		s.missing[id] = now
	}
	return since + s.o.Term - now
}

// kill marks a session as dead.
func (s *Session) kill(ctx context.Context, e engine.Entry) error {
	var st state
	_ = json.Unmarshal(e.Value, &st) // if it cannot be decoded, the mark is sufficient
	st.Dead, st.About = true, nil
	b, err := json.Marshal(st)
	if err != nil {
		return err
	}
	_, err = s.board.Swap(ctx, e, b)
	return err
}

func (s *Session) heldError(key string) error {
	h := &HeldError{Key: key, Worker: "another"}
	e, ok := s.board.Entry(claims + key)
	var c claim
	if !ok || json.Unmarshal(e.Value, &c) != nil {
		return h
	}
	h.For, h.Worker = c.For, cmp.Or(c.Worker, h.Worker)
	if se, ok := s.board.Entry(sessions + c.Session); ok {
		h.Left = s.left(c.Session, se, true)
	}
	return h
}

// free returns the value of a claim that nobody holds.
func (s *Session) free() []byte {
	b, _ := json.Marshal(claim{Nonce: rand.Text()}) // cannot fail for strings
	return b
}

// Check returns ErrOver if the lease has ended.
func (l *Lease) Check() error {
	if l.lost.Err() != nil {
		return ErrOver
	}
	return l.s.Check()
}

// Lost returns a context that is done when the lease has ended.
func (l *Lease) Lost() context.Context { return l.lost }

// Release releases the claim. If that fails, tidy does it later.
func (l *Lease) Release(ctx context.Context) error {
	l.cancel()
	defer l.s.forget(l)
	e, ok := l.s.board.Entry(claims + l.key)
	if !ok || !l.s.mine(e, l.nonce) {
		return nil
	}
	_, err := l.s.board.Swap(ctx, e, l.s.free())
	return err
}

func (s *Session) forget(l *Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[l.key] == l {
		delete(s.held, l.key)
	}
}

// Claim returns who holds a key; ok is false if nobody does.
func (s *Session) Claim(key string) (h HeldError, ok bool) {
	e, ok := s.board.Entry(claims + key)
	var c claim
	if !ok || json.Unmarshal(e.Value, &c) != nil || c.Session == "" || c.Session == s.o.Previous || s.dead(c.Session) {
		return h, false
	}
	se, there := s.board.Entry(sessions + c.Session)
	return HeldError{Key: key, Worker: c.Worker, For: c.For, Left: s.left(c.Session, se, there)}, true
}

// Claims returns the claims whose keys begin with prefix.
func (s *Session) Claims(prefix string) (list []HeldError) {
	for _, e := range s.board.List(claims + prefix) {
		if h, ok := s.Claim(strings.TrimPrefix(e.Key, claims)); ok {
			list = append(list, h)
		}
	}
	return list
}

// Alive reports whether a session is on the board and was renewed within its term.
func (s *Session) Alive(id string) bool {
	e, ok := s.board.Entry(sessions + id)
	return ok && !s.dead(id) && s.left(id, e, true) > 0
}

// Worker describes the worker of a live session.
type Worker struct {
	Name  string          `json:"worker"`
	Left  time.Duration   `json:"left"`
	About json.RawMessage `json:"about,omitempty"`
}

// Workers lists the sessions that are not dead.
func (s *Session) Workers() (list []Worker) {
	for _, e := range s.board.List(sessions) {
		var st state
		if json.Unmarshal(e.Value, &st) == nil && !st.Dead {
			list = append(list, Worker{st.Worker, s.left(st.ID, e, true), st.About})
		}
	}
	return list
}

// Clock returns the time since boot, including sleep. Go's monotonic clock stops while some
// systems sleep, and the time of day may be set.
type Clock func() time.Duration

// steady returns Go's monotonic clock.
func steady() Clock {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}
