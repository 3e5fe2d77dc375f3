package search

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"hash/fnv"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"curtsy/htmlmeta"
	"curtsy/publish"
	"curtsy/publish/catalog"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// Options of indexing. The zero value is usable.
type Options struct {
	// PDF reads PDF documents; nil: they are indexed by title and URL only.
	PDF PDF
	// Unread is called with PDF documents whose text cannot be read; it may be nil.
	Unread func(url string, why error)
	// Watch is called with the progress; it may be nil.
	Watch func(catalog.Progress)
	// Now returns the time; nil: time.Now.
	Now func() time.Time
}

func (o *Options) defaults() {
	if o.Watch == nil {
		o.Watch = func(catalog.Progress) {}
	}
	if o.Unread == nil {
		o.Unread = func(string, error) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}

const (
	batchText  = 8 << 20 // octets of text in one transaction
	batchPages = 4000
)

// Update indexes the URLs with new visits since the last call. It commits after some megabytes
// of text, so that documents and postings agree even if the process is killed, and the next
// call continues.
func Update(ctx context.Context, c *catalog.Catalog, a *storage.Archive, o Options) error {
	o.defaults()
	x := &indexer{ctx: ctx, a: a, db: c.DB(), o: o}
	left, err := x.count()
	if err != nil || left == 0 {
		return err
	}
	if err := x.siteLanguage(); err != nil {
		return err
	}
	if left, err = x.count(); err != nil {
		return err
	}
	for total := left; left > 0; {
		done, err := x.batch(total-left, total)
		if err != nil {
			return err
		}
		left -= done
		if done == 0 {
			break
		}
	}
	return nil
}

// indexer indexes pages. It is not safe for concurrent use.
type indexer struct {
	ctx context.Context
	a   *storage.Archive
	db  *sql.DB
	o   Options

	tokens tokenizer
	cut    []token // the tokens of the page's blocks
	ends   []int   // indices in cut where the blocks end
	site   string  // the language of most pages

	tx     *sql.Tx
	stmts  map[string]*sql.Stmt // prepared in tx, by SQL
	words  map[[2]string]bool   // words with their stems that may be missing in the index
	titles map[string]int       // by stem: additional titles with it
	links  map[int64]int        // by hash of a URL: additional pages that link to it
	seen   map[int64]bool       // link targets of the current page
	size   int
}

func (x *indexer) count() (n int64, err error) {
	err = x.db.QueryRowContext(x.ctx, `SELECT count(*) FROM todo`).Scan(&n)
	return n, err
}

// fewestSample is the least number of pages sampled to detect the language of a site.
const fewestSample = 64

// siteLanguage detects the language of most pages from a sample. It applies to pages whose own
// language is in doubt, including those indexed when the sample gave another language.
func (x *indexer) siteLanguage() error {
	ids, err := column[int64](x.ctx, x.db, `SELECT DISTINCT id >> 20 FROM captures
		WHERE (id >> 20) % max(1, (SELECT count(*) FROM captures) / ?) = 0 LIMIT 200`, fewestSample)
	if err != nil {
		return err
	}
	counts, best := map[string]int{}, ""
	for _, id := range ids {
		p, err := x.read(id, nil)
		if err != nil {
			return err
		}
		if p == nil {
			continue
		}
		x.cutBlocks(p.blocks)
		if lang := languageOf(p.lang, x.sample()); lang != "" {
			counts[lang]++
			if counts[lang] > counts[best] {
				best = lang
			}
		}
	}
	x.site = best
	_, err = x.db.ExecContext(x.ctx, `INSERT OR IGNORE INTO todo SELECT id FROM docs WHERE doubt AND lang != ?`, x.site)
	return err
}

// cutBlocks tokenizes the text of a page.
func (x *indexer) cutBlocks(blocks []htmlmeta.Block) {
	x.cut, x.ends = x.cut[:0], x.ends[:0]
	for i := range blocks {
		x.tokens.each(blocks[i].Text, func(k token) { x.cut = append(x.cut, k) })
		x.ends = append(x.ends, len(x.cut))
	}
}

// sample returns the first words of the tokenized page.
func (x *indexer) sample() []string {
	words := make([]string, min(len(x.cut), maxSample))
	for i := range words {
		words[i] = x.cut[i].word
	}
	return words
}

// batch indexes the next pages in one transaction.
func (x *indexer) batch(done, total int64) (n int64, err error) {
	if x.tx, err = x.db.BeginTx(x.ctx, nil); err != nil {
		return 0, err
	}
	defer x.tx.Rollback()
	x.stmts, x.words = map[string]*sql.Stmt{}, map[[2]string]bool{}
	x.titles, x.links, x.seen, x.size = map[string]int{}, map[int64]int{}, map[int64]bool{}, 0
	ids, err := column[int64](x.ctx, x.tx, `SELECT id FROM todo ORDER BY id LIMIT ?`, batchPages)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		if err := x.ctx.Err(); err != nil {
			return 0, err
		}
		if x.size > batchText {
			break
		}
		if err := x.take(id); err != nil {
			return 0, err
		}
		n++
		x.o.Watch(catalog.Progress{Step: "texts", Done: done + n, Total: total})
	}
	if n == 0 {
		return 0, nil
	}
	if err := cmp.Or(x.exec(`DELETE FROM todo WHERE id <= ?`, ids[n-1]), x.sums()); err != nil {
		return 0, err
	}
	return n, x.tx.Commit()
}

// prepared returns a prepared statement of the transaction.
func (x *indexer) prepared(query string) (s *sql.Stmt, err error) {
	if s = x.stmts[query]; s == nil {
		s, err = x.tx.PrepareContext(x.ctx, query)
		x.stmts[query] = s
	}
	return s, err
}

// exec executes a statement in the transaction. A cancellable context would cost a goroutine
// per statement; batch checks the context between pages.
func (x *indexer) exec(query string, args ...any) error {
	s, err := x.prepared(query)
	if err == nil {
		_, err = s.ExecContext(context.WithoutCancel(x.ctx), args...)
	}
	return err
}

// column reads a query with a single column.
func column[T any](ctx context.Context, from interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}, query string, args ...any) (list []T, err error) {
	rows, err := from.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var value T
		if err := rows.Scan(&value); err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	return list, rows.Err()
}

// page is a page to be indexed.
type page struct {
	text
	visit *crawllog.Visit
}

// read reads the current page of a URL; nil if it must not be found. Without pdf, PDF documents
// have no text.
func (x *indexer) read(id int64, pdf PDF) (*page, error) {
	visits, err := x.a.VisitsOf(uint64(id))
	if err != nil {
		return nil, err
	}
	v, verdict := Judge(visits, x.o.Now(), x.a.VisitsAt)
	if !verdict.Searchable {
		return nil, nil
	}
	t, err := readText(x.ctx, x.a, v, pdf, true)
	if t.unread != nil && err == nil {
		x.o.Unread(v.URL, t.unread)
	}
	return &page{text: t, visit: v}, err
}

// take updates the index for a URL.
func (x *indexer) take(id int64) error {
	p, err := x.read(id, x.o.PDF)
	if err != nil {
		return err
	}
	if err = x.forget(id); err == nil && p != nil {
		err = x.put(id, p)
	}
	return err
}

// forget removes a document from the index, with the links of its page.
func (x *indexer) forget(id int64) error {
	var n int
	var stems string
	s, err := x.prepared(`SELECT n, stems FROM docs WHERE id = ?`)
	if err == nil {
		err = s.QueryRowContext(context.WithoutCancel(x.ctx), id).Scan(&n, &stems)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, stem := range distinct(strings.Fields(stems)) {
		x.titles[stem]--
	}
	v, err := x.a.Visit(crawllog.Ref{URLID: uint64(id), N: n})
	if err != nil {
		return err
	}
	if v != nil { // otherwise it was pruned
		links, err := publish.Links(x.a, v)
		if err != nil {
			return err
		}
		x.countLinks(v.URL, links, -1)
	}
	return cmp.Or(x.exec(`DELETE FROM docs WHERE id = ?`, id), x.exec(`DELETE FROM idx WHERE rowid = ?`, id))
}

// put adds a document to the index.
func (x *indexer) put(id int64, p *page) error {
	x.cutBlocks(p.blocks)
	lang := languageOf(p.lang, x.sample())
	inDoubt := lang == ""
	if inDoubt {
		lang = x.site
	}
	if x.tokens.turkish = lang == "tr"; x.tokens.turkish {
		x.cutBlocks(p.blocks)
		defer func() { x.tokens.turkish = false }()
	}
	var body, head strings.Builder
	size, from := 0, 0
	for i := range p.blocks {
		size += len(p.blocks[i].Text)
	}
	body.Grow(size + size/16)
	for i, end := range x.ends {
		out := &body
		if p.blocks[i].Head {
			out = &head
		}
		for _, k := range x.cut[from:end] {
			x.stem(out, k, lang)
		}
		from = end
	}
	title, last := x.stems(p.title, lang), x.stems(unescaped(lastSegment(p.visit.URL)), lang)
	for _, stem := range distinct(strings.Fields(title)) {
		x.titles[stem]++
	}
	x.size += size + len(p.title) + 100
	x.countLinks(p.visit.URL, p.links, 1)
	return cmp.Or(
		x.exec(`INSERT INTO docs(id, name, n, url, title, lang, doubt, raws, stems, last)
			VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, id, nameOf(p.visit.URL), p.visit.N, p.visit.URL, p.title, lang,
			inDoubt, x.raws(p.title), title, last),
		x.exec(`INSERT INTO idx(rowid, title, head, body, url) VALUES(?, ?, ?, ?, ?)`, id, title,
			head.String(), body.String(), x.stems(unescaped(p.visit.URL), lang)))
}

// stem appends the indexed form of a word.
func (x *indexer) stem(out *strings.Builder, k token, lang string) {
	word := k.word
	if !k.pair {
		word = k.in(lang)
		if !k.noted {
			k.noted = true
			x.words[[2]string{cutWord(fold(k.word)), k.stem}] = true
		}
	}
	out.WriteString(word)
	out.WriteByte(' ')
}

// stems returns the indexed forms of the words of a text.
func (x *indexer) stems(text, lang string) string {
	var b strings.Builder
	x.tokens.each(text, func(k token) { x.stem(&b, k, lang) })
	return b.String()
}

// raws returns the unstemmed words of a title, one for each stem.
func (x *indexer) raws(title string) string {
	var b strings.Builder
	x.tokens.each(title, func(k token) {
		b.WriteString(cutWord(fold(k.word)))
		b.WriteByte(' ')
	})
	return b.String()
}

// countLinks counts the link targets of a page, each once: n is 1 for an added page and -1 for
// a removed one.
func (x *indexer) countLinks(url string, links []htmlmeta.Link, n int) {
	clear(x.seen)
	x.seen[nameOf(url)] = true
	for i := range links {
		if links[i].Kind != htmlmeta.Navigation {
			continue
		}
		if name := nameOf(links[i].URL.String()); !x.seen[name] {
			x.seen[name] = true
			x.links[name] += n
		}
	}
}

// nameOf identifies a link target in index.db, by the 64-bit FNV-1a hash of its URL.
func nameOf(url string) int64 {
	h := fnv.New64a()
	io.WriteString(h, url)
	return int64(h.Sum64())
}

// sums writes the counts of a batch.
func (x *indexer) sums() error {
	words := make([]any, 0, 2*len(x.words))
	order := func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }
	for _, w := range slices.SortedFunc(maps.Keys(x.words), order) {
		words = append(words, w[0], w[1])
	}
	return cmp.Or(x.insert(`INSERT OR IGNORE INTO words VALUES`, ``, words),
		x.insert(`INSERT INTO titles VALUES`, ` ON CONFLICT DO UPDATE SET docs = docs + excluded.docs`,
			counts(x.titles)),
		x.insert(`INSERT INTO inlinks VALUES`, ` ON CONFLICT DO UPDATE SET pages = pages + excluded.pages`,
			counts(x.links)))
}

// counts returns the keys with their non-zero numbers, sorted by key.
func counts[K cmp.Ordered](m map[K]int) (pairs []any) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if m[k] != 0 {
			pairs = append(pairs, k, m[k])
		}
	}
	return pairs
}

// insert inserts rows of two columns, many per statement, in key order for the sake of the
// B-tree.
func (x *indexer) insert(into, then string, pairs []any) error {
	for rows := range slices.Chunk(pairs, 2*200) {
		values := strings.Repeat(`, (?, ?)`, len(rows)/2)
		if err := x.exec(into+values[1:]+then, rows...); err != nil {
			return err
		}
	}
	return nil
}

// distinct removes duplicates.
func distinct(words []string) []string {
	seen := make(map[string]bool, len(words))
	out := words[:0]
	for _, w := range words {
		if !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}
