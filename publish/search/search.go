package search

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"curtsy/publish"
	"curtsy/publish/catalog"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// Searcher answers queries about an archive. It is safe for concurrent use; queries are
// serialized except for reading snippets.
type Searcher struct {
	a *storage.Archive
	o Options

	db *sql.DB
	mu sync.Mutex // guards all below

	titles     map[string]float64 // by stem: the number of titles that have it
	titleCount *sql.Stmt
	docs       int
	langs      []string // languages of the documents, most frequent first
}

// Open updates the index and opens it for queries. The searcher must be closed before archive
// and catalog.
func Open(ctx context.Context, c *catalog.Catalog, a *storage.Archive, o Options) (*Searcher, error) {
	if err := Update(ctx, c, a, o); err != nil {
		return nil, err
	}
	return Attach(ctx, c, a, o)
}

// Attach opens the index for queries without updating it.
func Attach(ctx context.Context, c *catalog.Catalog, a *storage.Archive, o Options) (*Searcher, error) {
	o.defaults()
	s := &Searcher{a: a, o: o, db: c.DB()}
	var err error
	if s.titleCount, err = s.db.PrepareContext(ctx, `SELECT docs FROM titles WHERE stem = ?`); err != nil {
		return nil, err
	}
	return s, s.counts(ctx)
}

// Close closes the searcher, but not the catalog.
func (s *Searcher) Close() error { return s.titleCount.Close() }

// counts reads the number of documents and their languages.
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

// Documents returns the number of indexed pages.
func (s *Searcher) Documents() int { return s.docs }

// Query is a search query.
type Query struct {
	Text  string // for the syntax see docs/search.md
	Limit int    // most hits; 0: 10
	Skip  int    // hits to skip, at most MaxSkip
	Lang  string // only pages in this language; "": any
}

// Found is the result of a search. Total may include documents whose permit has expired since
// they were indexed.
type Found struct {
	Hits  []Hit
	Total int
}

// Hit is a page found by a search.
type Hit struct {
	URL      string
	Title    string
	Lang     string
	Captured time.Time
	Snippet  Snippet
	Score    float64
	Rank     int // from 1
}

// Piece is a part of a snippet.
type Piece struct {
	Text   string
	Marked bool // it matches the query
}

// Pieces splits a snippet at its marks.
func (s Snippet) Pieces() (list []Piece) {
	at := 0
	for _, m := range s.Marks {
		list = append(list, Piece{Text: s.Text[at:m[0]]}, Piece{s.Text[m[0]:m[1]], true})
		at = m[1]
	}
	if at < len(s.Text) {
		list = append(list, Piece{Text: s.Text[at:]})
	}
	return list
}

// MaxLimit is the most hits of a query, MaxSkip the most hits skipped.
const (
	MaxLimit = 1000
	MaxSkip  = 10_000
)

// Search finds pages. An empty query finds nothing.
func (s *Searcher) Search(ctx context.Context, q Query) (found Found, err error) {
	if q.Limit <= 0 {
		q.Limit = 10
	}
	q.Limit, q.Skip = min(q.Limit, MaxLimit), max(0, min(q.Skip, MaxSkip))
	list, terms, total, err := s.candidates(ctx, q)
	if err != nil {
		return found, fmt.Errorf("search %q: %w", q.Text, err)
	}
	var hidden int
	found.Hits, hidden, err = s.hits(ctx, list, terms, q)
	found.Total = max(total-hidden, 0)
	if len(found.Hits) > 0 {
		found.Total = max(found.Total, q.Skip+len(found.Hits))
	}
	return found, err
}

// candidates returns the best matching pages, best first, and the number of all.
func (s *Searcher) candidates(ctx context.Context, q Query) ([]candidate, []term, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked, lang := parse(q.Text), baseLanguage(q.Lang)
	langs := s.langs
	if lang != "" {
		langs = []string{lang}
	}
	if asked.empty() || len(langs) == 0 || q.Lang != "" && !slices.Contains(s.langs, lang) {
		return nil, nil, 0, nil
	}
	expr, terms, err := s.compile(ctx, asked, langs)
	if err != nil {
		return nil, nil, 0, err
	}
	// Rounded up, so that consecutive pages of hits use the same candidates.
	most := max(mostCandidates, q.Skip+q.Limit+mostCandidates-1) / mostCandidates * mostCandidates
	w := wanted{expr: expr, most: most, sites: asked.sites, lang: lang}
	list, err := s.ask(ctx, w)
	if err == nil && len(list) == w.most && expr != "" {
		// With so many, pages that have the words in title or URL may be missing, so they are
		// added. rank sorts them by title; bm25 would double the cost.
		var more []candidate
		more, err = s.ask(ctx, wanted{expr: "{title url} : (" + expr + ")", named: true, most: 2 * w.most,
			sites: w.sites, lang: lang})
		list = union(list, more)
	}
	if err == nil && asked.bare() > 2 && (len(list) == 0 || len(list) < fewestFound && asked.asks()) {
		list, terms, w, err = s.relaxed(ctx, asked, langs, w)
	}
	if err == nil {
		err = s.rank(ctx, list, terms)
	}
	total := len(list)
	if err == nil && total >= w.most {
		inner, args := w.matching()
		err = s.db.QueryRowContext(ctx, `SELECT count(*) FROM `+inner, args...).Scan(&total)
	}
	return list, terms, total, err
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

// wanted is a request for candidates.
type wanted struct {
	expr  string // "": all pages of the sites
	named bool   // in order of discovery, without bm25
	most  int
	sites []string
	lang  string
}

// matching returns the FROM clause for all matching pages.
func (w *wanted) matching() (sql string, args []any) {
	switch {
	case w.expr == "":
		sql = `docs d WHERE 1`
	case len(w.sites) == 0 && w.lang == "":
		return `idx WHERE idx MATCH ?`, []any{w.expr}
	default:
		sql, args = `idx JOIN docs d ON d.id = idx.rowid WHERE idx MATCH ?`, []any{w.expr}
	}
	for _, site := range w.sites {
		sql += ` AND (substr(d.url, 8, ?) = ? OR substr(d.url, 9, ?) = ?)`
		args = append(args, len(site), site, len(site), site)
	}
	if w.lang != "" {
		sql, args = sql+` AND d.lang = ?`, append(args, w.lang)
	}
	return sql, args
}

// query returns the SQL query for ids and scores of candidates, given the number of documents.
func (w *wanted) query(docs int) (sql string, args []any) {
	from, args := w.matching()
	if w.expr == "" {
		return `SELECT d.id AS id, 0.0 AS score FROM ` + from + ` LIMIT ?`, append(args, w.most)
	}
	if w.named {
		return `SELECT idx.rowid AS id, 0.0 AS score FROM ` + from + ` LIMIT ?`, append(args, w.most)
	}
	weighed := max(mostWeighed, docs/15, w.most)
	return `SELECT * FROM (SELECT idx.rowid AS id, bm25(idx, ` + columnWeights + `) AS score FROM ` + from +
			` LIMIT ?) ORDER BY score LIMIT ?`,
		append(args, weighed, w.most)
}

// ask returns candidates: the best by bm25, or the first discovered.
func (s *Searcher) ask(ctx context.Context, w wanted) (list []candidate, err error) {
	inner, args := w.query(s.docs)
	rows, err := s.db.QueryContext(ctx, `SELECT d.id, d.n, d.url, d.lang, d.raws, d.stems, d.last,
		coalesce(l.pages, 0), -m.score
		FROM (`+inner+`) m JOIN docs d ON d.id = m.id LEFT JOIN inlinks l ON l.name = d.name`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c candidate
		var raws, stems, last string
		if err := rows.Scan(&c.id, &c.n, &c.url, &c.lang, &raws, &stems, &last, &c.inlinks, &c.bm25); err != nil {
			return nil, err
		}
		c.raws, c.stems, c.last = strings.Fields(raws), strings.Fields(stems), strings.Fields(last)
		list = append(list, c)
	}
	return list, rows.Err()
}

// hits returns the requested candidates that may still be found, with their snippets; hidden
// counts those before the last that may not.
func (s *Searcher) hits(ctx context.Context, list []candidate, terms []term, q Query) (hits []Hit,
	hidden int, err error) {
	var pages []shown
	skip := q.Skip
	for i := range list {
		if len(hits) == q.Limit {
			break
		}
		c := &list[i]
		v, most, err := s.permitted(c)
		if err != nil {
			return nil, 0, err
		}
		if v == nil {
			hidden++
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		hits = append(hits, Hit{URL: c.url, Title: v.Title, Lang: c.lang, Captured: v.At, Score: c.score,
			Rank: q.Skip + len(hits) + 1})
		pages = append(pages, shown{v, most})
	}
	return hits, hidden, s.snippets(ctx, hits, pages, terms)
}

// permitted reads the visit of a candidate, if it is still current and may be found, and how
// long its snippet may be.
func (s *Searcher) permitted(c *candidate) (*crawllog.Visit, int, error) {
	visits, err := s.a.VisitsOf(uint64(c.id))
	if err != nil {
		return nil, 0, err
	}
	v, verdict := Judge(visits, s.o.Now(), s.a.VisitsAt)
	if !verdict.Searchable || v.N != c.n {
		return nil, 0, nil
	}
	if verdict.Snippet == publish.NoLimit {
		return v, snippetLength, nil
	}
	return v, min(verdict.Snippet, snippetLength), nil
}
