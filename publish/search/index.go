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

// Options of indexing. The zero value is good.
type Options struct {
	// PDF reads PDF documents; nil: they are found by title and URL alone.
	PDF PDF
	// Unread is told of PDF documents whose text cannot be read; nil is nobody.
	Unread func(url string, why error)
	// Watch is told how far the index is; nil is nobody.
	Watch func(catalog.Progress)
	// Now is the time; nil is time.Now.
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
	batchText  = 8 << 20 // octets of text that one transaction takes in
	batchPages = 4000
)

// Update reads the texts of the URLs whose visits are new since the last time. A
// transaction takes in some megabytes of text, so that after a kill at any moment
// the documents are those of the postings, and the next call goes on.
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

// indexer takes pages in. It is for one goroutine.
type indexer struct {
	ctx context.Context
	a   *storage.Archive
	db  *sql.DB
	o   Options

	tokens tokenizer
	cut    []token // the words of a page's blocks
	ends   []int   // in cut: where those of each block end
	site   string  // the language of most pages

	tx     *sql.Tx
	stmts  map[string]*sql.Stmt // of tx, by their text
	words  map[[2]string]bool   // word and its stem that the index may lack
	titles map[string]int       // stem → titles more
	links  map[int64]int        // name of a URL → pages more that link to it
	seen   map[int64]bool       // targets of the page that is read
	size   int
}

func (x *indexer) count() (n int64, err error) {
	err = x.db.QueryRowContext(x.ctx, `SELECT count(*) FROM todo`).Scan(&n)
	return n, err
}

// fewestSample is how many pages are looked at to tell the language of a site.
const fewestSample = 64

// siteLanguage is that of most pages of a sample: pages in doubt follow it, those too
// that were indexed when the sample was another.
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

// cutBlocks cuts the text of a page into words.
func (x *indexer) cutBlocks(blocks []htmlmeta.Block) {
	x.cut, x.ends = x.cut[:0], x.ends[:0]
	for i := range blocks {
		x.tokens.each(blocks[i].Text, func(k token) { x.cut = append(x.cut, k) })
		x.ends = append(x.ends, len(x.cut))
	}
}

// sample are the first words of the page that is cut.
func (x *indexer) sample() []string {
	words := make([]string, min(len(x.cut), maxSample))
	for i := range words {
		words[i] = x.cut[i].word
	}
	return words
}

// batch takes in the next pages in one transaction.
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

// prepared is a statement of the transaction.
func (x *indexer) prepared(query string) (s *sql.Stmt, err error) {
	if s = x.stmts[query]; s == nil {
		s, err = x.tx.PrepareContext(x.ctx, query)
		x.stmts[query] = s
	}
	return s, err
}

// exec runs a statement of the transaction. A context that can end would cost each a
// goroutine: batch looks at it between two pages.
func (x *indexer) exec(query string, args ...any) error {
	s, err := x.prepared(query)
	if err == nil {
		_, err = s.ExecContext(context.WithoutCancel(x.ctx), args...)
	}
	return err
}

// column reads the one column that a query has.
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

// page is a page that is to be found.
type page struct {
	text
	visit *crawllog.Visit
}

// read reads what stands for a URL; nil if it is not to be found. Without pdf, a
// PDF document has no text.
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

// take brings the index up to date about one URL.
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

// forget takes a document out of the index, with the links that its page had.
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
	if v != nil { // else it was pruned
		links, err := publish.Links(x.a, v)
		if err != nil {
			return err
		}
		x.countLinks(v.URL, links, -1)
	}
	return cmp.Or(x.exec(`DELETE FROM docs WHERE id = ?`, id), x.exec(`DELETE FROM idx WHERE rowid = ?`, id))
}

// put takes a document into the index.
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

// stem appends a word as the index has it.
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

// stems are the words of a text as the index has them.
func (x *indexer) stems(text, lang string) string {
	var b strings.Builder
	x.tokens.each(text, func(k token) { x.stem(&b, k, lang) })
	return b.String()
}

// raws are the words of a title as they stand there, one for each stem.
func (x *indexer) raws(title string) string {
	var b strings.Builder
	x.tokens.each(title, func(k token) {
		b.WriteString(cutWord(fold(k.word)))
		b.WriteByte(' ')
	})
	return b.String()
}

// countLinks counts the links of a page, one for each page it leads to: n is 1 for a
// page that comes and -1 for one that goes.
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

// nameOf is what index.db knows a URL by that links lead to: 64 bits of FNV-1a.
func nameOf(url string) int64 {
	h := fnv.New64a()
	io.WriteString(h, url)
	return int64(h.Sum64())
}

// sums writes what the pages of a batch add up to.
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

// counts are the keys of a map in order, each before its number, but for 0.
func counts[K cmp.Ordered](m map[K]int) (pairs []any) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if m[k] != 0 {
			pairs = append(pairs, k, m[k])
		}
	}
	return pairs
}

// insert puts in rows of two columns, many with one statement: in their order, for the
// sake of the tree that they go into.
func (x *indexer) insert(into, then string, pairs []any) error {
	for rows := range slices.Chunk(pairs, 2*200) {
		values := strings.Repeat(`, (?, ?)`, len(rows)/2)
		if err := x.exec(into+values[1:]+then, rows...); err != nil {
			return err
		}
	}
	return nil
}

// distinct drops what is there twice.
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
