package app

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// names lists the archives of the folder, and those being made.
func (s *Server) names() (list []string) {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		s.log.Error("the folder cannot be read", "err", err)
	}
	for _, e := range entries {
		if isName(e.Name()) && s.isArchive(e.Name()) {
			list = append(list, e.Name())
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, a := range s.archives {
		if !slices.Contains(list, name) && a.isBusy() {
			list = append(list, name)
		}
	}
	return list
}

func (a *archive) isBusy() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.doing != nil && !isDone(a.doing.done)
}

// shelfView is the data of the start page.
type shelfView struct {
	Cards        []card
	All          int // number of archives in the folder
	Filter, Sort string
	Sorts        []string
	Folder       string
}

// cardReaders is the number of archives read concurrently.
const cardReaders = 4

// cards reads the cards of all archives.
func (s *Server) cards() []card {
	names := s.names()
	list := make([]card, len(names))
	var wait sync.WaitGroup
	turns := make(chan struct{}, cardReaders)
	for i, name := range names {
		turns <- struct{}{}
		wait.Go(func() {
			defer func() { <-turns }()
			if a := s.find(name); a != nil {
				list[i] = s.seen(a)
			}
		})
	}
	wait.Wait()
	return slices.DeleteFunc(list, func(c card) bool { return c.Name == "" })
}

// orders are the sort orders of the shelf.
var orders = map[string]func(a, b *card) int{
	"title":    func(a, b *card) int { return strings.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title)) },
	"newest":   func(a, b *card) int { return b.Updated.Compare(a.Updated) },
	"pages":    func(a, b *card) int { return b.Pages - a.Pages },
	"size":     func(a, b *card) int { return cmp.Compare(b.Bytes, a.Bytes) },
	"next due": func(a, b *card) int { return dueOrder(a.Next).Compare(dueOrder(b.Next)) },
}

// dueOrder sorts archives without updates last.
func dueOrder(t time.Time) time.Time {
	if t.IsZero() {
		return time.Unix(1<<40, 0)
	}
	return t
}

func (s *Server) shelf(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	v := &shelfView{Filter: strings.TrimSpace(q.Get("filter")), Sort: q.Get("sort"), Folder: s.o.Folder,
		Sorts: []string{"newest", "title", "pages", "size", "next due"}}
	if orders[v.Sort] == nil {
		v.Sort = "newest"
	}
	all := s.cards()
	v.All = len(all)
	for _, c := range all {
		text := strings.ToLower(c.Name + " " + c.Title + " " + c.Seed + " " + c.State)
		if strings.Contains(text, strings.ToLower(v.Filter)) {
			v.Cards = append(v.Cards, c)
		}
	}
	slices.SortStableFunc(v.Cards, func(a, b card) int {
		return cmp.Or(orders[v.Sort](&a, &b), strings.Compare(a.Name, b.Name))
	})
	s.show(w, r, http.StatusOK, "shelf", s.language(r).say("Archives"), v)
}

// hit is a search result in the command's JSON.
type hit struct {
	URL, Title, Snippet string
	Archive             string `json:"-"`
}

type searchView struct {
	Query, In string
	Hits      []hit
	Failed    []string
}

// hitsEach is the most hits shown per archive.
const hitsEach = 10

// search searches one archive or all.
func (s *Server) search(w http.ResponseWriter, r *http.Request) {
	v := &searchView{Query: strings.TrimSpace(r.URL.Query().Get("q")), In: r.URL.Query().Get("in")}
	for _, name := range s.names() {
		if v.Query == "" || v.In != "" && v.In != name {
			continue
		}
		lines, o := s.read(r, []string{"search", s.dir(name), "--json", "--limit=10", "--", v.Query}, hitsEach)
		if o.Code != 0 {
			v.Failed = append(v.Failed, name+": "+o.Err)
		}
		for _, line := range lines {
			h := hit{Archive: name}
			if json.Unmarshal(line, &h) == nil {
				v.Hits = append(v.Hits, h)
			}
		}
	}
	s.show(w, r, http.StatusOK, "search", s.language(r).say("Search"), v)
}

// read runs a command that only reads, and returns at most most lines of its data.
func (s *Server) read(r *http.Request, args []string, most int) ([][]byte, Outcome) {
	var b bounded
	o := s.o.Command(args, Hooks{Ctx: r.Context(), Stop: r.Context(), Out: &b})
	lines := bytes.Split(bytes.TrimRight(b.Bytes(), "\n"), []byte("\n"))
	if len(lines) == 1 && len(lines[0]) == 0 {
		lines = nil
	}
	return lines[:min(len(lines), most)], o
}

// maxRead is the most octets kept of a command's output.
const maxRead = 4 << 20

// bounded keeps the first maxRead octets.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if room := maxRead - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}
