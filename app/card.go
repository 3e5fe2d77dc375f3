package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"curtsy/crawler/status"
	"curtsy/publish"
	"curtsy/publish/changes"
	"curtsy/publish/icon"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// archive is an archive of the folder.
type archive struct {
	name string

	mu    sync.Mutex
	card  card
	of    time.Time // modification time of crawl.db when the card was read
	doing *activity // the latest; nil: none yet

	picture  []byte    // PNG; nil: not made yet
	pictured time.Time // value of "of" when it was made

	compared time.Time // the round that Changes of the card describe
	brought  *changes.Totals
}

// card is the summary of an archive on the shelf.
type card struct {
	Name, Title, Seed string
	State             string // running, paused, finished, limited, stopped, refused, unreachable, damaged
	Why               string
	Pages             int
	Bytes             int64
	Began, Updated    time.Time // start of the last round or crawl; last commit
	Round             int
	Every             string
	Next              time.Time
	Changes           *changes.Totals // of the last round; nil: unknown
}

// seen returns the card of an archive, and reads it again if the archive changed.
func (s *Server) seen(a *archive) card {
	a.mu.Lock()
	defer a.mu.Unlock()
	busy := a.doing != nil && !isDone(a.doing.done) && a.doing.crawls()
	if at := s.changedAt(a.name); a.of.IsZero() || !at.Equal(a.of) && !busy {
		a.card, a.of = readCard(s.dir(a.name)), at
		a.card.Name = a.name
		s.compare(a)
	}
	c := a.card
	c.Changes = a.brought
	want := s.memory.of(a.name)
	c.Every, c.Next = want.Every, want.Next
	if busy {
		a.doing.overlay(&c)
	}
	c.Title = cmp.Or(c.Title, c.Seed, c.Name)
	return c
}

// overlay updates a card with the status of a running crawl.
func (a *activity) overlay(c *card) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c.State = "running"
	if a.wanted.Pause {
		c.State = "paused"
	}
	if a.status.Seed != "" {
		c.Seed, c.Pages, c.Bytes, c.Updated = a.status.Seed, a.status.Pages, a.status.Bytes, a.status.Updated
	}
}

// changedAt returns the modification time of crawl.db; zero if there is none.
func (s *Server) changedAt(name string) time.Time {
	st, err := s.root.Stat(name + "/crawl.db")
	if err != nil {
		return time.Time{}
	}
	return st.ModTime()
}

// readCard reads the card of an archive, opened read-only.
func readCard(dir string) (c card) {
	err := c.read(dir)
	if err != nil {
		c.State, c.Why = "damaged", err.Error()
	}
	if errors.Is(err, storage.ErrInUse) { // a crawl of another process is starting or ending
		c.State, c.Why = "running", ""
		if b, err := storage.Status(dir); err == nil {
			var st status.Status
			if json.Unmarshal(b, &st) == nil {
				c.Seed, c.Pages, c.Bytes, c.Updated = st.Seed, st.Pages, st.Bytes, st.Updated
			}
		}
	}
	return c
}

func (c *card) read(dir string) (err error) {
	defer storage.Guard(&err)()
	a, err := storage.OpenRead(dir)
	if err != nil {
		return err
	}
	defer a.Close()
	var st status.State
	if ok, err := a.Crawl(&st); err != nil {
		return err
	} else if !ok {
		return storage.ErrNone
	}
	c.Seed, c.Bytes, c.Began, c.Updated, c.Why = st.Seed, st.Bytes, st.Began, st.Updated, st.Ended
	if st.Holds != nil {
		c.Pages = st.Holds.Pages
	}
	if c.Round = len(st.Rounds); c.Round > 0 {
		c.Began = st.Rounds[c.Round-1]
	}
	c.State = cmp.Or(st.Ending, "stopped")
	if a.IsLive() {
		c.State = "running"
	}
	c.Title = titleOf(a, st.Seed)
	return nil
}

// firstVisits is the number of first visits in which the seed's page is searched. Looking it up
// by URL takes a third of a second in an archive of a million URLs.
const firstVisits = 64

// titleOf returns the title of the page that the seed leads to, if it may be listed.
func titleOf(a *storage.Archive, url string) string {
	var list []*crawllog.Visit
	for v, err := range a.Visits(nil) {
		if err != nil {
			return ""
		}
		if list = append(list, v); len(list) == firstVisits {
			break
		}
	}
	at := func(url string) (visits []*crawllog.Visit) {
		for _, v := range list {
			if v.URL == url {
				visits = append(visits, v)
			}
		}
		return visits
	}
	v := publish.LedTo(url, at)
	if v == nil {
		return ""
	}
	visits, err := a.VisitsOf(v.URLID) // later visits may restrict more
	now, permit := publish.CurrentPermit(visits, time.Now(), nil)
	if err != nil || now == nil || !permit.List || !permit.Show {
		return ""
	}
	return now.Title
}

// compare computes the changes of the last round in the background, since it reads the copies
// of all visited pages.
func (s *Server) compare(a *archive) {
	if a.card.Round == 0 || a.compared.Equal(a.card.Began) {
		return
	}
	round := a.card.Began
	a.compared = round
	s.running.Go(func() {
		t, err := changesSince(s.ctx, s.dir(a.name), round)
		if err != nil {
			return
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		a.brought = &t
	})
}

func changesSince(ctx context.Context, dir string, since time.Time) (t changes.Totals, err error) {
	defer storage.Guard(&err)()
	a, err := storage.OpenRead(dir)
	if err != nil {
		return t, err
	}
	defer a.Close()
	return changes.Sum(ctx, a, changes.Options{Since: since})
}

// picture serves the icon of an archived site. It is re-encoded, so that no archived octet is
// served on this origin.
func (s *Server) picture(w http.ResponseWriter, r *http.Request, a *archive) {
	png, err := s.pictureOf(a)
	if err != nil { // the crawl is starting, or the archive is damaged: the card says so
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "image/png")
	_, _ = w.Write(png)
}

func (s *Server) pictureOf(a *archive) (_ []byte, err error) {
	defer storage.Guard(&err)()
	seed := s.seen(a).Seed
	a.mu.Lock()
	png, made, of := a.picture, a.pictured, a.of
	a.mu.Unlock()
	if png != nil && made.Equal(of) {
		return png, nil
	}
	archive, err := storage.OpenRead(s.dir(a.name))
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	png = icon.PNG(archive, seed, s.now())
	a.mu.Lock()
	defer a.mu.Unlock()
	a.picture, a.pictured = png, of
	return png, nil
}
