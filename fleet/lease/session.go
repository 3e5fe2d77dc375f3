// Package lease answers: who alone may do this, and until when?
//
// A worker has one session on the board and renews it. What it claims, a group
// of sites or a place at an address, names the session. A session has ended for
// its worker at the time its last successful renewal was sent, plus the term,
// less a margin, by the worker's own clock, which counts sleep. For all others
// it has ended when they have seen it unchanged for the whole term, each by its
// own clock, and one of them has marked it as dead; then it can be renewed no
// more. So no two clocks are ever compared, nothing rests on the server's
// clock, and setting the time of day changes nothing.
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

// ErrOver says that a lease has ended.
var ErrOver = errors.New("the lease has ended")

// HeldError says who holds what is asked for.
type HeldError struct {
	Key    string
	Worker string
	For    string        // what it is held for
	Left   time.Duration // until it may be taken over, if it is not renewed
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s is held by %s for %s", e.Key, e.Worker, e.For)
}

// Options of a session.
type Options struct {
	Worker string
	Term   time.Duration // 0 is 30 s
	Margin time.Duration // 0 is a sixth of the term
	Clock  Clock         // nil is Uptime
	// Alone says that no other worker can be alive, as a lock on the fleet's
	// directory shows: whatever is held is free.
	Alone bool
	// Previous is the session that this worker had before, "" for none. Whoever gives it
	// knows that nothing of it runs any more: what it holds is this session's to take,
	// until ReleaseUnclaimed.
	Previous string
	About    func() any // what the session says of its worker
	Logger   *slog.Logger
}

// Session is a worker's. It is for any goroutine.
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
	number   int           // of renewals
	held     map[string]*Lease
	trying   map[string]bool
	missing  map[string]time.Duration // sessions that are named and not there, since when
}

// state is what the board says of a session.
type state struct {
	ID     string `json:"id"`
	Worker string `json:"worker"`
	Number int    `json:"number"`
	Dead   bool   `json:"dead,omitempty"`
	About  any    `json:"about,omitempty"`
}

// claim is what the board says of something claimed; free without a session.
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

// Begin begins a session and renews it until ctx is done, or it is lost.
func Begin(ctx context.Context, b *engine.Board, o Options) (*Session, error) {
	o.Term = cmp.Or(o.Term, 30*time.Second)
	o.Margin = cmp.Or(o.Margin, o.Term/6)
	if o.Clock == nil {
		o.Clock = Uptime()
	}
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
	s.entry, s.deadline, s.began = e, sent+o.Term-o.Margin, sent
	go s.keep()
	return s, nil
}

// alone marks all sessions as dead, and opens the board.
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

// Open opens a board that was made anew at once, as nobody can hold anything by an
// earlier one.
func (s *Session) Open(ctx context.Context) error {
	if _, ok := s.board.Entry(openKey); ok {
		return nil
	}
	_, err := s.board.Swap(ctx, engine.Entry{Key: openKey}, []byte(s.id))
	if errors.Is(err, engine.ErrConflict) { // another has just done it
		return nil
	}
	return err
}

// Closed is how long the board grants nothing yet; 0 where it does.
func (s *Session) Closed() time.Duration {
	if _, ok := s.board.Entry(openKey); ok {
		return 0
	}
	return max(s.began+s.o.Term-s.o.Clock(), time.Second)
}

// ReleaseUnclaimed gives up what the previous session held and this one has not taken.
func (s *Session) ReleaseUnclaimed(ctx context.Context) error {
	e, ok := s.board.Entry(sessions + s.o.Previous)
	if s.o.Previous == "" || !ok {
		return nil
	}
	err := s.kill(ctx, e)
	if errors.Is(err, engine.ErrConflict) { // another was first
		return nil
	}
	return err
}

func (s *Session) state() []byte {
	b, err := json.Marshal(state{ID: s.id, Worker: s.o.Worker, Number: s.number, About: s.o.About()})
	if err != nil {
		b, _ = json.Marshal(state{ID: s.id, Worker: s.o.Worker,
			Number: s.number}) // what it says of itself is for people
	}
	return b
}

// ID names the session.
func (s *Session) ID() string { return s.id }

// Over is done when the session has ended.
func (s *Session) Over() <-chan struct{} { return s.over.Done() }

// Left is how long the session lasts if it is not renewed.
func (s *Session) Left() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over.Err() != nil {
		return 0
	}
	return s.deadline - s.o.Clock()
}

// Check is ErrOver when the session has ended; then it stays so.
func (s *Session) Check() error {
	if s.Left() > 0 {
		return nil
	}
	s.end()
	return ErrOver
}

// End ends the session, so that nobody need wait for what it holds.
func (s *Session) End(ctx context.Context) {
	s.mu.Lock()
	e := s.entry
	s.mu.Unlock()
	s.end()
	if err := s.kill(ctx, e); err != nil && !errors.Is(err, engine.ErrConflict) { // another may have been first
		s.o.Logger.Warn("the session is left to run out", "err", err)
	}
}

// keep renews the session: six times in a term.
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
		case <-s.board.Done(): // what others do is seen no more
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

// lose ends the session before its time.
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
	case errors.Is(err, engine.ErrConflict) && ours(e, s.id): // an earlier renewal whose answer was lost
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
		s.entry, s.deadline = e, sent+s.o.Term-s.o.Margin
		s.mu.Unlock()
	}
}

func ours(e engine.Entry, id string) bool {
	var st state
	return json.Unmarshal(e.Value, &st) == nil && st.ID == id && !st.Dead
}

// look sees whether what is held is still said to be.
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

// tidy gives free what an answer that was lost left claimed, and opens a board
// that was made anew: a term after this session began on it, whoever held
// something by the one before has stopped.
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

// dead says that a session was ended.
func (s *Session) dead(id string) bool {
	e, ok := s.board.Entry(sessions + id)
	var st state
	return ok && json.Unmarshal(e.Value, &st) == nil && st.Dead
}

// forgotten removes an entry that nobody uses and that has not changed for two terms: a
// free claim, or that of a dead session, or such a session that no claim names.
func (s *Session) forgotten(e engine.Entry) {
	if s.o.Clock()-e.Seen < 2*s.o.Term {
		return
	}
	if err := s.board.Remove(s.over, e); err != nil && !errors.Is(err, engine.ErrConflict) { // others do it, too
		s.o.Logger.Debug("not removed", "key", e.Key, "err", err)
	}
}
