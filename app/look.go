package app

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"curtsy/crawler/preview"
)

// look is a preview of a crawl: what the site permits.
type look struct {
	ID   string
	plan *plan
	done chan struct{}

	// Set when done is closed.
	found   *preview.Preview // nil: nothing
	atLeast time.Duration
	outcome Outcome
}

// maxLooks is the most previews kept.
const maxLooks = 20

// lookFor is the timeout of a preview.
const lookFor = 10 * time.Minute

type newView struct {
	Plan    *plan
	Problem string
	Try     string
	Command string
	Look    *look
	Found   *preview.Preview
	AtLeast time.Duration
	Waiting bool
	Denied  bool
	Login   bool
	Scripts bool
	Makes   []string
}

func (s *Server) newPage(w http.ResponseWriter, r *http.Request) {
	p := readPlan(r.URL.Query())
	if p.Contact == "" {
		p.Contact = s.memory.contact()
	}
	s.show(w, r, http.StatusOK, "new", s.language(r).say("New archive"), &newView{Plan: p})
}

// beginLook starts a preview: it requests robots.txt, the page and sitemaps.
func (s *Server) beginLook(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		s.problem(w, r, http.StatusBadRequest, "This form cannot be read.", "/new")
		return
	}
	p := readPlan(r.PostForm)
	if why := p.checkURL(); why != "" {
		s.show(w, r, http.StatusBadRequest, "new", s.language(r).say("New archive"),
			&newView{Plan: p, Problem: s.language(r).say(why)})
		return
	}
	if err := s.memory.setContact(p.Contact); err != nil {
		s.log.Error("the page's own file cannot be written", "err", err)
	}
	p.Name = nameFor(p.URL, s.isTaken)
	k := &look{ID: rand.Text(), plan: p, done: make(chan struct{})}
	s.mu.Lock()
	for id, old := range s.looks {
		if len(s.looks) >= maxLooks && isDone(old.done) {
			delete(s.looks, id)
		}
	}
	s.looks[k.ID] = k
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(s.stop, lookFor)
	s.running.Go(func() {
		defer cancel()
		s.lookAt(ctx, k)
	})
	http.Redirect(w, r, "/look/"+k.ID, http.StatusSeeOther)
}

func (s *Server) lookAt(ctx context.Context, k *look) {
	defer close(k.done)
	var b bounded
	args := append(k.plan.args(k.plan.Name), "--dry-run", "--json") // stores nothing
	k.outcome = s.o.Command(args, Hooks{Ctx: ctx, Stop: ctx, Out: &b})
	var found struct {
		preview.Preview
		AtLeast float64 `json:"at_least_seconds"`
	}
	if json.Unmarshal(b.Bytes(), &found) == nil {
		k.found, k.atLeast = &found.Preview, time.Duration(found.AtLeast*float64(time.Second))
	}
}

func (s *Server) lookOf(r *http.Request) *look {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looks[r.PathValue("id")]
}

// lookView returns the view of a preview, with the settings of a plan.
func (s *Server) lookView(k *look, p *plan) *newView {
	v := &newView{Plan: p, Look: k, Waiting: !isDone(k.done), Makes: s.makes()}
	if v.Waiting {
		return v
	}
	v.Found, v.AtLeast, v.Command = k.found, k.atLeast, s.commands(p)
	v.Problem, v.Try = k.outcome.Err, k.outcome.Try
	if k.found == nil {
		return v
	}
	v.Denied = k.found.Refused != ""
	if f := k.found.Front; f != nil {
		for _, need := range f.Needs {
			v.Login = v.Login || strings.Contains(need, "login")
			v.Scripts = v.Scripts || strings.HasPrefix(need, "scripts")
		}
	}
	return v
}

func (s *Server) lookPage(w http.ResponseWriter, r *http.Request) {
	k := s.lookOf(r)
	if k == nil {
		http.Redirect(w, r, "/new", http.StatusSeeOther)
		return
	}
	s.show(w, r, http.StatusOK, "look", s.language(r).say("New archive"), s.lookView(k, k.plan))
}

// lookEvents sends an event when a preview is done.
func (s *Server) lookEvents(w http.ResponseWriter, r *http.Request) {
	k := s.lookOf(r)
	if k == nil {
		s.lost(w, r)
		return
	}
	e := newEvents(w)
	select {
	case <-k.done:
		e.send(map[string]any{"over": true})
	case <-r.Context().Done():
	case <-s.stop.Done():
	}
}

// start starts the crawl that a form describes, or shows its command.
func (s *Server) start(w http.ResponseWriter, r *http.Request) {
	k := s.lookOf(r)
	if err := r.ParseForm(); err != nil || k == nil {
		http.Redirect(w, r, "/new", http.StatusSeeOther)
		return
	}
	p := readPlan(r.PostForm)
	p.URL = k.plan.URL
	again := func(status int, why, try string) {
		v := s.lookView(k, p)
		if v.Problem = why; try != "" {
			v.Try = try
		}
		s.show(w, r, status, "look", s.language(r).say("New archive"), v)
	}
	switch {
	case !isName(p.Name):
		said := s.language(r).say("A name has letters of the Latin alphabet, digits, dots, hyphens and underscores.")
		again(http.StatusBadRequest, said, "")
		return
	case r.PostForm.Get("show") != "":
		if strings.Contains(r.Header.Get("Accept"), "application/json") {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]string{"command": s.commands(p)})
			return
		}
		again(http.StatusOK, "", "")
		return
	case s.isTaken(p.Name):
		again(http.StatusConflict, s.language(r).say("There is something of that name in the folder: choose another."),
			"")
		return
	}
	if err := s.memory.setContact(p.Contact); err != nil {
		again(http.StatusInternalServerError, err.Error(), "")
		return
	}
	if o := s.startCrawl(p); o != nil && o.Code != 0 {
		again(http.StatusUnprocessableEntity, o.Err, o.Try)
		return
	}
	http.Redirect(w, r, "/a/"+p.Name, http.StatusSeeOther)
}

// startCrawl starts a crawl. It returns the outcome if the crawl ended at once, because its
// settings are invalid.
func (s *Server) startCrawl(p *plan) *Outcome {
	s.mu.Lock()
	a := s.archives[p.Name]
	if a == nil {
		a = &archive{name: p.Name}
		s.archives[p.Name] = a
	}
	s.mu.Unlock()
	act, err := s.crawlOn(a, "crawl", p.args(s.dir(p.Name)))
	if err != nil {
		return &Outcome{Code: 1, Err: err.Error()}
	}
	s.note(p.Name, func(i *intentions) { i.Ours, i.Make = true, p.Make })
	select {
	case <-act.steering:
		return nil
	case <-act.done:
		return act.outcome
	}
}
