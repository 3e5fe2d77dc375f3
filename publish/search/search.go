package search

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"curtsy/publish/catalog"
	"curtsy/storage"
)

// Searcher answers queries about one archive. It may be used from any number of
// goroutines; they take turns but for reading snippets.
type Searcher struct {
	c *catalog.Catalog
	a *storage.Archive
	o Options

	db *sql.DB
	mu sync.Mutex // guards all below

	titles     map[string]float64 // stem → in how many titles it is
	titleCount *sql.Stmt
	docs       int
	langs      []string // of the documents, the most frequent first
}

// Open brings the index up to date and opens it for queries. Archive and catalog
// are to be closed after the searcher.
func Open(ctx context.Context, c *catalog.Catalog, a *storage.Archive, o Options) (*Searcher, error) {
	o.defaults()
	s := &Searcher{c: c, a: a, o: o, db: c.DB()}
	if err := Update(ctx, c, a, o); err != nil {
		return nil, err
	}
	var err error
	if s.titleCount, err = s.db.PrepareContext(ctx, `SELECT docs FROM titles WHERE stem = ?`); err != nil {
		return nil, err
	}
	return s, s.counts(ctx)
}

// Close ends the use of the index.
func (s *Searcher) Close() error { return s.titleCount.Close() }

// Refresh takes in what is new in the archive.
func (s *Searcher) Refresh(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.c.Refresh(ctx, s.a); err != nil {
		return err
	}
	if err := Update(ctx, s.c, s.a, s.o); err != nil {
		return err
	}
	return s.counts(ctx)
}

// counts reads what there is to search.
func (s *Searcher) counts(ctx context.Context) error {
	rows, err := s.db.QueryContext(ctx, `SELECT lang, count(*) FROM docs GROUP BY lang ORDER BY 2 DESC, 1`)
	if err != nil {
		return err
	}
	defer rows.Close()
	s.titles, s.docs, s.langs = map[string]float64{}, 0, nil
	for rows.Next() {
		var lang string
		var n int
		if err := rows.Scan(&lang, &n); err != nil {
			return err
		}
		s.langs, s.docs = append(s.langs, lang), s.docs+n
	}
	return rows.Err()
}

// Documents is how many pages can be found.
func (s *Searcher) Documents() int { return s.docs }

// Query is what is asked.
type Query struct {
	Text  string // see docs/search.md for what it may hold
	Limit int    // hits at most; 0 is 10
	Lang  string // only pages of this language; "" is any
}

// Hit is a page that was found.
type Hit struct {
	URL      string
	Title    string
	Lang     string
	Captured time.Time
	Snippet  Snippet
	Score    float64
	Rank     int // from 1
	Visit    storage.Ref
}

// MaxLimit bounds the hits of one query.
const MaxLimit = 1000

// Search finds pages. A query that asks for nothing finds nothing.
func (s *Searcher) Search(ctx context.Context, q Query) ([]Hit, error) {
	if q.Limit <= 0 {
		q.Limit = 10
	}
	q.Limit = min(q.Limit, MaxLimit)
	list, terms, err := s.candidates(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("search %q: %w", q.Text, err)
	}
	return s.hits(ctx, list, terms, q.Limit)
}

// candidates are the pages that have what was asked for, the best first.
func (s *Searcher) candidates(ctx context.Context, q Query) ([]candidate, []term, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked, lang := parse(q.Text), baseLanguage(q.Lang)
	langs := s.langs
	if lang != "" {
		langs = []string{lang}
	}
	if asked.empty() || len(langs) == 0 || q.Lang != "" && !slices.Contains(s.langs, lang) {
		return nil, nil, nil
	}
	expr, terms, err := s.compile(ctx, asked, langs)
	if err != nil {
		return nil, nil, err
	}
	most := max(mostCandidates, q.Limit)
	list, err := s.ask(ctx, expr, most, asked.sites, lang)
	if err == nil && len(list) == most && expr != "" {
		// Among so many, those with the words in title or URL may be missing.
		var more []candidate
		more, err = s.ask(ctx, "{title url} : ("+expr+")", most, asked.sites, lang)
		list = union(list, more)
	}
	if err == nil {
		err = s.rank(ctx, list, terms)
	}
	return list, terms, err
}

func union(list, more []candidate) []candidate {
	known := make(map[int64]bool, len(list))
	for i := range list {
		known[list[i].id] = true
	}
	for _, c := range more {
		if !known[c.id] {
			list = append(list, c)
		}
	}
	return list
}

// ask gets the best candidates by bm25; of no expression, the pages of a site.
func (s *Searcher) ask(ctx context.Context, expr string, most int, sites []string, lang string) (list []candidate, err error) {
	where, args := []string{"1"}, []any{}
	for _, site := range sites {
		where = append(where, `(substr(d.url, 8, ?) = ? OR substr(d.url, 9, ?) = ?)`)
		args = append(args, len(site), site, len(site), site)
	}
	if lang != "" {
		where, args = append(where, `d.lang = ?`), append(args, lang)
	}
	condition := strings.Join(where, " AND ")
	inner := `SELECT d.id AS id, 0.0 AS score FROM docs d WHERE ` + condition + ` LIMIT ?`
	switch {
	case expr != "" && len(args) > 0:
		inner = `SELECT d.id AS id, bm25(idx, ` + columnWeights + `) AS score FROM idx JOIN docs d ON d.id = idx.rowid WHERE idx MATCH ? AND ` + condition + ` LIMIT ?`
		args = append([]any{expr}, args...)
	case expr != "":
		inner = `SELECT rowid AS id, bm25(idx, ` + columnWeights + `) AS score FROM idx WHERE idx MATCH ? LIMIT ?`
		args = []any{expr}
	}
	if expr != "" {
		inner = `SELECT * FROM (` + inner + `) ORDER BY score LIMIT ?`
		args = append(args, max(mostWeighed, s.docs/10))
	}
	rows, err := s.db.QueryContext(ctx, `SELECT d.id, d.n, d.url, d.title, d.lang, d.raws, d.stems, d.last, coalesce(l.pages, 0), -m.score
		FROM (`+inner+`) m JOIN docs d ON d.id = m.id LEFT JOIN inlinks l ON l.id = m.id`, append(args, most)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c candidate
		var raws, stems, last string
		if err := rows.Scan(&c.id, &c.n, &c.url, &c.title, &c.lang, &raws, &stems, &last, &c.inlinks, &c.bm25); err != nil {
			return nil, err
		}
		c.raws, c.stems, c.last = strings.Fields(raws), strings.Fields(stems), strings.Fields(last)
		list = append(list, c)
	}
	return list, rows.Err()
}

// hits are the first candidates that may be found now, with their snippets.
func (s *Searcher) hits(ctx context.Context, list []candidate, terms []term, limit int) ([]Hit, error) {
	var hits []Hit
	var shown []shown
	for i := range list {
		if len(hits) == limit {
			break
		}
		c := &list[i]
		v, snippet, err := s.permitted(c)
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		hits = append(hits, Hit{URL: c.url, Title: v.Title, Lang: c.lang, Captured: v.At, Score: c.score, Rank: len(hits) + 1, Visit: v.Ref()})
		shown = append(shown, newShown(v, snippet))
	}
	return hits, s.snippets(ctx, hits, shown, terms)
}

// permitted reads the visit behind a candidate, if it may be found now and still
// stands for its URL, and how much of its text may be shown.
func (s *Searcher) permitted(c *candidate) (*storage.Visit, int, error) {
	visits, err := s.a.VisitsOf(uint64(c.id))
	if err != nil {
		return nil, 0, err
	}
	v, verdict := Judge(visits, s.o.Now())
	if !verdict.Searchable || v.N != c.n {
		return nil, 0, nil
	}
	return v, verdict.Snippet, nil
}

// Ranked is how many candidates a query has once they are in order: Search
// without permits and snippets, for those who measure.
func (s *Searcher) Ranked(ctx context.Context, q Query) (int, error) {
	q.Limit = 10
	list, _, err := s.candidates(ctx, q)
	return len(list), err
}
