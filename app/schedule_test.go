package app

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/status"
	"curtsy/frontier/judge"
)

// ran records the command lines that a page runs.
type ran struct {
	mu    sync.Mutex
	lines []string
	block chan struct{} // a crawl lasts until this is closed or the crawl is stopped
	saw   chan crawler.Steering
}

func (c *ran) command(args []string, h Hooks) Outcome {
	c.mu.Lock()
	c.lines = append(c.lines, strings.Join(append([]string{args[0]}, args[2:]...), " "))
	c.mu.Unlock()
	if c.block == nil || args[0] == "export" {
		return Outcome{}
	}
	h.Began(time.Second)
	h.Watch(status.Status{Seed: "http://example.org/", State: "running"})
	for {
		select {
		case s := <-h.Steer:
			c.saw <- s
		case <-c.block:
			return Outcome{}
		case <-h.Stop.Done():
			return Outcome{Code: 3, Err: "asked to stop", Try: "curtsy resume"}
		}
	}
}

func (c *ran) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.lines)
}

func (s *Server) settle(name string) {
	if a := s.find(name); a != nil {
		for a.isBusy() {
			time.Sleep(time.Millisecond)
		}
	}
}

func archiveIn(t *testing.T, folder, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(folder, name, "warc"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestSitesAreVisitedWhenTheyAreDue(t *testing.T) {
	c := &ran{}
	s, site := open(t, c.command)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s.now = func() time.Time { return now }
	archiveIn(t, s.o.Folder, "a")
	in := entered(t, s)
	post(t, in, site.URL+"/a/a/every", url.Values{"every": {"day"}})
	visit := func(after time.Duration) {
		now = now.Add(after)
		s.visitDue()
		s.settle("a")
	}
	visit(0)
	visit(23 * time.Hour)
	if got := c.all(); len(got) != 0 {
		t.Errorf("before a day is over: %q", got)
	}
	visit(time.Hour)
	visit(time.Hour)
	if got, want := c.all(), []string{"update"}; !slices.Equal(got, want) {
		t.Errorf("after a day: %q, want %q", got, want)
	}
	visit(23 * time.Hour)
	post(t, in, site.URL+"/a/a/every", url.Values{"every": {""}})
	visit(30 * 24 * time.Hour)
	if got, want := c.all(), []string{"update", "update"}; !slices.Equal(got, want) {
		t.Errorf("after two days, and no more: %q, want %q", got, want)
	}
}

// Crawls that run when the program ends are continued when it starts again; those that a person
// stopped or paused are not.
func TestWhatRanIsContinued(t *testing.T) {
	c := &ran{block: make(chan struct{}), saw: make(chan crawler.Steering, 1)}
	s, site := open(t, c.command)
	in := entered(t, s)
	for _, name := range []string{"goes", "stopped", "paused"} {
		archiveIn(t, s.o.Folder, name)
		a, _ := post(t, in, site.URL+"/a/"+name+"/resume", nil)
		if a.StatusCode != http.StatusOK {
			t.Fatalf("resume %s: %d", name, a.StatusCode)
		}
	}
	if a, text := post(t, in, site.URL+"/a/goes/update", nil); a.StatusCode != http.StatusConflict ||
		!strings.Contains(text, "something else") {
		t.Errorf("a second writer: %d %s", a.StatusCode, text)
	}
	if a, _ := post(t, in, site.URL+"/a/goes/delete",
		url.Values{"name": {"goes"}}); a.StatusCode != http.StatusConflict {
		t.Errorf("deleted while it runs: %d", a.StatusCode)
	}
	post(t, in, site.URL+"/a/stopped/stop", nil)
	for _, w := range []struct {
		action string
		want   crawler.Steering
	}{
		{"slower", crawler.Steering{Delay: 2 * time.Second}},
		{"slower", crawler.Steering{Delay: 4 * time.Second}},
		{"pause", crawler.Steering{Delay: 4 * time.Second, Pause: true}},
		{"faster", crawler.Steering{Delay: time.Second, Pause: true}},
	} {
		post(t, in, site.URL+"/a/paused/"+w.action, nil)
		if got := <-c.saw; got != w.want {
			t.Errorf("%s: the crawl is steered to %+v, want %+v", w.action, got, w.want)
		}
	}
	for name, want := range map[string]bool{"goes": true, "stopped": false, "paused": false} {
		if got := s.memory.of(name).Goes; got != want {
			t.Errorf("%s is noted to go on: %v, want %v", name, got, want)
		}
	}
	s.note("goes", func(i *intentions) { i.Make = []string{"wacz"} })
	o, next := s.o, &ran{}
	o.Command = next.command
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	again.Go(ctx)
	again.settle("goes")
	if got := next.all(); len(got) == 0 || got[0] != "resume" {
		t.Errorf("the next program runs %q, want resume first", got)
	}
	for _, line := range next.all() {
		if line != "resume" && !strings.HasPrefix(line, "export") {
			t.Errorf("the next program runs %q", line)
		}
	}
}

// A crawl is recorded as running while it runs alone, even if it ends at once.
func TestWhatRunsIsNoted(t *testing.T) {
	var s *Server
	noted := make(chan bool, 1)
	s, _ = open(t, func([]string, Hooks) Outcome {
		noted <- s.memory.of("a").Goes
		return Outcome{Code: 2}
	})
	for range 50 {
		act, err := s.crawlOn(&archive{name: "a"}, "crawl", []string{"crawl", "x"})
		if err != nil {
			t.Fatal(err)
		}
		if !<-noted {
			t.Fatal("a crawl that runs is not noted")
		}
		if <-act.done; s.memory.of("a").Goes {
			t.Fatal("a crawl that has ended is noted: the next program would continue it")
		}
	}
}

// The commands for cron and systemd name the program by its absolute path, since these do not
// use the PATH of a shell.
func TestAScheduleNamesTheProgramByItsPath(t *testing.T) {
	s, _ := open(t, (&ran{}).command)
	cron, units := s.schedules("a", []string{"update", "a"})
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if want := program + " update a"; cron != "17 3 * * *  "+want || !strings.Contains(units, "\nExecStart="+want+"\n") {
		t.Errorf("cron %q, units %q", cron, units)
	}
}

func TestWhatWasLookedForInVainIsNotLeftOut(t *testing.T) {
	got := rulesOf(&status.Status{Rules: map[string]int{judge.Depth: 2, judge.NoSitemap: 1, judge.Probe: 3}})
	if want := []ruleCount{{judge.Depth, 2}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
