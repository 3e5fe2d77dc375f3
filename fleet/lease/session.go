// Package lease grants exclusive claims for a limited time.
//
// A worker has one session on the board and renews it. Its claims, for a group of sites or a
// place at an address, name the session. For its worker, a session ends one term, less a margin,
// after its last successful renewal was sent, by the worker's clock, which includes sleep. For
// others, it ends when they have seen it unchanged for a whole term, each by its own clock, and
// one of them has marked it as dead; then it can no longer be renewed. So clocks of different
// machines are never compared, the server's clock does not matter, and neither does setting the
// time of day.
package lease

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"curtsy/fleet/engine"
)

// ErrOver means that a lease has ended.
var ErrOver = errors.New("the lease has ended")

// HeldError says who holds a claim.
type HeldError struct {
	Key    string
	Worker string
	For    string        // what it is held for, such as a site
	Left   time.Duration // time until it may be taken over, if it is not renewed
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s is held by %s for %s", e.Key, e.Worker, e.For)
}

// Options of a session.
type Options struct {
	Worker string
	Term   time.Duration // 0: 30 s
	Clock  Clock
	// Alone means that no other worker can be alive, as a lock on the fleet's directory shows;
	// all existing claims are free.
	Alone bool
	// Previous is the previous session of this worker, "" for none. The caller guarantees that
	// nothing of it is running; its claims may be taken by this session only, until
	// ReleaseUnclaimed.
	Previous string
	About    func() any // describes the worker to others
	Logger   *slog.Logger
}

// Session is the session of a worker. It is safe for concurrent use.
type Session struct {
	o     Options
	board *engine.Board
	id    string
	over  context.Context
	end   context.CancelFunc
	began time.Duration // by the clock

	mu       sync.Mutex
	entry    engine.Entry
	deadline time.Duration // by the clock
	number   int           // number of renewals
	held     map[string]*Lease
	trying   map[string]bool
	missing  map[string]time.Duration // sessions named by claims but not on the board, with the time since when
}

// state is the board entry of a session.
type state struct {
	ID     string          `json:"id"`
	Worker string          `json:"worker"`
	Number int             `json:"number"`
	Dead   bool            `json:"dead,omitempty"`
	About  json.RawMessage `json:"about,omitempty"`
}

// claim is the board entry of a claim; it is free if Session is empty.
type claim struct {
	Session string `json:"session,omitempty"`
	Worker  string `json:"worker,omitempty"`
	For     string `json:"for,omitempty"`
	Nonce   string `json:"nonce"`
}

const (
	sessions = "session."
	claims   = "claim."
	openKey  = "open"
)

// Begin starts a session and renews it until ctx is done or the session is lost.
func Begin(ctx context.Context, b *engine.Board, o Options) (*Session, error) {
	o.Term = cmp.Or(o.Term, 30*time.Second)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.About == nil {
		o.About = func() any { return nil }
	}
	s := &Session{o: o, board: b, id: rand.Text(), held: map[string]*Lease{}, trying: map[string]bool{},
		missing: map[string]time.Duration{}}
	s.over, s.end = context.WithCancel(ctx)
	if o.Alone {
		if err := s.alone(ctx); err != nil {
			s.end()
			return nil, err
		}
	}
	sent := o.Clock()
	e, err := b.Swap(ctx, engine.Entry{Key: sessions + s.id}, s.state())
	if err != nil {
		s.end()
		return nil, fmt.Errorf("session: %w", err)
	}
	s.entry, s.deadline, s.began = e, sent+s.lasts(), sent
	go s.keep()
	return s, nil
}

// alone marks all other sessions as dead and opens the board.
func (s *Session) alone(ctx context.Context) error {
	for _, e := range s.board.List(sessions) {
		var st state
		if json.Unmarshal(e.Value, &st) == nil && !st.Dead {
			if err := s.kill(ctx, e); err != nil {
				return err
			}
		}
	}
	return s.Open(ctx)
}

// Open opens a new board at once, if nobody can hold claims of an earlier one.
func (s *Session) Open(ctx context.Context) error {
	if _, ok := s.board.Entry(openKey); ok {
		return nil
	}
	_, err := s.board.Swap(ctx, engine.Entry{Key: openKey}, []byte(s.id))
	if errors.Is(err, engine.ErrConflict) { // another worker has done it
		return nil
	}
	return err
}

// Closed returns how long the board will not grant claims; 0 if it does.
func (s *Session) Closed() time.Duration {
	if _, ok := s.board.Entry(openKey); ok {
		return 0
	}
	return max(s.began+s.o.Term-s.o.Clock(), time.Second)
}

// ReleaseUnclaimed releases the claims of the previous session that this one has not taken.
func (s *Session) ReleaseUnclaimed(ctx context.Context) error {
	e, ok := s.board.Entry(sessions + s.o.Previous)
	if s.o.Previous == "" || !ok {
		return nil
	}
	err := s.kill(ctx, e)
	if errors.Is(err, engine.ErrConflict) { // another worker was first
		return nil
	}
	return err
}

func (s *Session) state() []byte {
	about, _ := json.Marshal(s.o.About()) // cannot fail for what describes a worker
	b, _ := json.Marshal(state{ID: s.id, Worker: s.o.Worker, Number: s.number, About: about})
	return b
}

// ID returns the name of the session.
func (s *Session) ID() string { return s.id }

// Over is closed when the session has ended.
func (s *Session) Over() <-chan struct{} { return s.over.Done() }

// Left returns how long the session lasts if it is not renewed.
func (s *Session) Left() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over.Err() != nil {
		return 0
	}
	return s.deadline - s.o.Clock()
}

// lasts is how long the session lasts for its worker after a renewal: a term, less a margin.
func (s *Session) lasts() time.Duration { return s.o.Term - s.o.Term/6 }

// Check returns ErrOver if the session has ended, which is final.
func (s *Session) Check() error {
	if s.Left() > 0 {
		return nil
	}
	s.end()
	return ErrOver
}

// End ends the session, so that others need not wait for its claims.
func (s *Session) End(ctx context.Context) {
	s.mu.Lock()
	e := s.entry
	s.mu.Unlock()
	s.end()
	if err := s.kill(ctx, e); err != nil && !errors.Is(err, engine.ErrConflict) { // another worker may have been first
		s.o.Logger.Warn("the session is left to run out", "err", err)
	}
}

// keep renews the session six times per term.
func (s *Session) keep() {
	tick := time.NewTicker(s.o.Term / 6)
	defer tick.Stop()
	for {
		select {
		case <-s.over.Done():
			return
		case <-tick.C:
		case <-s.board.Changed():
			s.look()
			continue
		case <-s.board.Done(): // changes by others are no longer seen
			s.lose("the copy of the board follows no more")
			return
		}
		if s.Check() != nil {
			s.o.Logger.Warn("the session could not be renewed in time", "session", s.id)
			return
		}
		s.renew()
		if behind := s.board.Behind(); behind > s.o.Term/2 {
			s.lose(fmt.Sprintf("the copy of the board is %s behind", behind.Round(time.Second)))
		}
		s.tidy()
	}
}

// lose ends the session early.
func (s *Session) lose(why string) {
	if s.over.Err() == nil {
		s.o.Logger.Error("the session ends", "session", s.id, "why", why)
	}
	s.end()
}

func (s *Session) renew() {
	s.mu.Lock()
	s.number++
	had, value := s.entry, s.state()
	s.mu.Unlock()
	sent := s.o.Clock()
	e, err := s.board.Swap(s.over, had, value)
	switch {
	case errors.Is(err, engine.ErrConflict) && ours(e, s.id): // an earlier renewal whose response was lost
		s.mu.Lock()
		s.entry = e
		s.mu.Unlock()
	case errors.Is(err, engine.ErrConflict):
		s.o.Logger.Warn("another process ended this session", "session", s.id)
		s.end()
	case err != nil:
		s.o.Logger.Info("the session was not renewed", "err", err, "left", s.Left())
	default:
		s.mu.Lock()
		s.entry, s.deadline = e, sent+s.lasts()
		s.mu.Unlock()
	}
}

func ours(e engine.Entry, id string) bool {
	var st state
	return json.Unmarshal(e.Value, &st) == nil && st.ID == id && !st.Dead
}

// look cancels leases whose claim on the board has been taken over.
func (s *Session) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, l := range s.held {
		if e, ok := s.board.Entry(claims + key); ok && e.Rev > l.rev && !s.mine(e, l.nonce) {
			l.cancel()
			delete(s.held, key)
		}
	}
}

func (s *Session) mine(e engine.Entry, nonce string) bool {
	var c claim
	return json.Unmarshal(e.Value, &c) == nil && c.Session == s.id && c.Nonce == nonce
}

// tidy releases claims that a lost response left behind, and opens a new board: one term after
// this session started on it, all holders of claims on the previous board have stopped.
func (s *Session) tidy() {
	if _, ok := s.board.Entry(openKey); !ok && s.o.Clock() > s.began+s.o.Term {
		_, err := s.board.Swap(s.over, engine.Entry{Key: openKey}, []byte(s.id))
		s.o.Logger.Info("claims are granted from now on", "err", err)
	}
	named := map[string]bool{}
	for _, e := range s.board.List(claims) {
		var c claim
		key := strings.TrimPrefix(e.Key, claims)
		if json.Unmarshal(e.Value, &c) != nil {
			continue
		}
		named[c.Session] = true
		s.mu.Lock()
		known := s.held[key] != nil || s.trying[key]
		s.mu.Unlock()
		switch {
		case c.Session == s.id && !known:
			_, err := s.board.Swap(s.over, e, s.free())
			s.o.Logger.Info("releasing an unused claim", "key", key, "err", err)
		case !known && (c.Session == "" || s.dead(c.Session)):
			s.forgotten(e)
		}
	}
	for _, e := range s.board.List(sessions) {
		if id := strings.TrimPrefix(e.Key, sessions); !named[id] && s.dead(id) {
			s.forgotten(e)
		}
	}
}

// dead reports whether a session was marked as dead.
func (s *Session) dead(id string) bool {
	e, ok := s.board.Entry(sessions + id)
	var st state
	return ok && json.Unmarshal(e.Value, &st) == nil && st.Dead
}

// forgotten removes an unused entry that has not changed for two terms: a free claim, a claim
// of a dead session, or a dead session that no claim names.
func (s *Session) forgotten(e engine.Entry) {
	if s.o.Clock()-e.Seen < 2*s.o.Term {
		return
	}
	if err := s.board.Remove(s.over, e); err != nil && !errors.Is(err, engine.ErrConflict) { // other workers do it too
		s.o.Logger.Debug("not removed", "key", e.Key, "err", err)
	}
}
