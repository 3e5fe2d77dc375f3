package replay

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"curtsy/publish/changes"
)

// Limits: changes shown of a kind, passages shown of a change.
const (
	maxChanges  = 200
	maxPassages = 3
	maxCached   = 64 // pages of changes kept in memory
)

// changesView is the data of a page of changes.
type changesView struct {
	Seed     string
	Since    time.Time
	Until    time.Time // zero: now
	Round    int
	Rounds   []roundLink // newest first
	Sections []changesSection
	stale    time.Time // when less of it may be shown; zero: never
}

type roundLink struct {
	N       int
	At      time.Time
	Path    string
	Current bool
}

// changesSection lists the changes of one kind.
type changesSection struct {
	Kind  changes.Kind
	About phrase
	Count int
	Rows  []changeRow
}

// More is the number of changes not shown.
func (s *changesSection) More() int { return s.Count - len(s.Rows) }

type changeRow struct {
	Title, URL, Path, Compare, Reason string
	Was, Now                          time.Time
	Passages                          []changes.Passage
	More                              int // passages not shown
}

// about explains each kind.
var about = map[changes.Kind]phrase{
	changes.Changed:     say("their text has changed"),
	changes.New:         say("not there before"),
	changes.Gone:        say("the last good copy is shown"),
	changes.Moved:       say("they now redirect elsewhere"),
	changes.Back:        say("they were gone, and are back"),
	changes.Suspect:     say("the response does not look like the page; the last good copy is shown"),
	changes.Unreachable: say("no response, or a server error; the last good copy is shown"),
}

// changesKey identifies a page of changes in a version of the archives.
type changesKey struct{ source, round, version int }

// changes handles /changes?archive=N&round=N.
func (s *Server) changes(w http.ResponseWriter, r *http.Request) error {
	key := changesKey{source: 1}
	if n, err := strconv.Atoi(r.FormValue("archive")); err == nil {
		key.source = n
	}
	if key.source < 1 || key.source > len(s.sources) {
		return s.show(w, r, http.StatusNotFound, "lost", &page{Title: say("No such archive")})
	}
	from, err := s.sources[key.source-1].Reading(r.Context())
	if err != nil {
		return err
	}
	if key.version, err = s.version(r.Context()); err != nil {
		return err
	}
	key.round = len(from.Rounds)
	if n, err := strconv.Atoi(r.FormValue("round")); err == nil {
		key.round = n
	}
	if len(from.Rounds) > 0 && (key.round < 1 || key.round > len(from.Rounds)) {
		return s.show(w, r, http.StatusNotFound, "lost", &page{Title: say("No such round")})
	}
	v, err := s.changesOf(r.Context(), from, key)
	if err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, "changes", &page{Title: say("What changed"), View: v})
}

// version is a number that grows with each commit to one of the archives.
func (s *Server) version(ctx context.Context) (sum int, err error) {
	for _, from := range s.sources {
		reading, err := from.Reading(ctx)
		if err != nil {
			return 0, err
		}
		n, _, err := reading.Archive.LastCommit()
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// changesOf compares the copies of a round, and caches the result until the archive changes or
// less of it may be shown.
func (s *Server) changesOf(ctx context.Context, from *Reading, key changesKey) (*changesView, error) {
	s.comparing.Lock()
	defer s.comparing.Unlock()
	if v := s.compared[key]; v != nil && (v.stale.IsZero() || s.now().Before(v.stale)) {
		return v, nil
	}
	v := &changesView{Seed: s.sources[key.source-1].Seed.String(), Round: key.round}
	for n := len(from.Rounds); n > 0; n-- {
		v.Rounds = append(v.Rounds, roundLink{n, from.Rounds[n-1], changesPath(key.source, n), n == key.round})
	}
	if key.round == 0 {
		return v, nil
	}
	o := changes.Options{Since: from.Rounds[key.round-1], Now: s.now()}
	if key.round < len(from.Rounds) {
		o.Until = from.Rounds[key.round]
	}
	v.Since, v.Until = o.Since, o.Until
	byKind := map[changes.Kind]*changesSection{}
	for c, err := range changes.Of(ctx, from.Archive, o) {
		if err != nil {
			return nil, err
		}
		permit, err := Withdrawn(ctx, s.sources, c.URL, c.Now.At, s.now())
		if err != nil {
			return nil, err
		}
		if !c.Listed || !permit.Show || !permit.List {
			continue
		}
		if !permit.Quote() {
			c.Passages = nil
		}
		if !c.Until.IsZero() && (v.stale.IsZero() || c.Until.Before(v.stale)) {
			v.stale = c.Until
		}
		section := byKind[c.Kind]
		if section == nil {
			section = &changesSection{Kind: c.Kind, About: about[c.Kind]}
			byKind[c.Kind] = section
		}
		section.Count++
		if len(section.Rows) < maxChanges {
			section.Rows = append(section.Rows, rowOf(c))
		}
	}
	for _, kind := range new(changes.Page).Kinds() {
		if section := byKind[kind]; section != nil {
			v.Sections = append(v.Sections, *section)
		}
	}
	if len(s.compared) >= maxCached {
		clear(s.compared)
	}
	s.compared[key] = v
	return v, nil
}

// rowOf makes the row of a change.
func rowOf(c *changes.Change) changeRow {
	ts := c.Now.At.UTC().Format(tsFormat)
	r := changeRow{Title: c.Name(), URL: c.URL, Reason: c.Reason, Now: c.Now.At, Path: "/" + ts + "/" +
		listed(c.URL), Passages: c.Passages}
	if c.Was != nil {
		r.Was = c.Was.At
	}
	if c.Kind == changes.Changed && c.Was.IsCopy() && c.Now.IsCopy() {
		r.Compare = comparePath(c.Was.At, c.Now.At, c.URL)
	}
	if r.More = len(r.Passages) - maxPassages; r.More > 0 {
		r.Passages = r.Passages[:maxPassages]
	}
	return r
}

// changesPath is the path of the page of a round, counted from 1.
func changesPath(source, round int) string {
	q := []string{"round=" + strconv.Itoa(round)}
	if source > 1 {
		q = append(q, "archive="+strconv.Itoa(source))
	}
	return "/changes?" + strings.Join(q, "&")
}
