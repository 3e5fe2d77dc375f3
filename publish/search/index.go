package search

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"hash/fnv"
	"io"
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
	site   string // the language of most pages

	tx     *sql.Tx
	stmts  map[string]*sql.Stmt // of tx, by their text
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
		if lang := languageOf(p.lang, x.sample(&p.text)); lang != "" {
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

// sample are the first words of a text.
func (x *indexer) sample(t *text) (words []string) {
	for _, b := range t.blocks {
		if len(words) >= maxSample {
			break
		}
		x.tokens.each(b.Text, func(k token) { words = append(words, k.word) })
	}
	return words
}

// batch takes in the next pages in one transaction.
func (x *indexer) batch(done, total int64) (n int64, err error) {
	if x.tx, err = x.db.BeginTx(x.ctx, nil); err != nil {
		return 0, err
	}
	defer x.tx.Rollback()
	x.stmts = map[string]*sql.Stmt{}
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
	if err := x.sums(); err != nil {
		return 0, err
	}
	return n, x.tx.Commit()
}

// exec runs a statement of the transaction, and prepares it the first time.
func (x *indexer) exec(query string, args ...any) (err error) {
	s := x.stmts[query]
	if s == nil {
		if s, err = x.tx.PrepareContext(x.ctx, query); err != nil {
			return err
		}
		x.stmts[query] = s
	}
	_, err = s.ExecContext(x.ctx, args...)
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
	if err == nil {
		err = x.exec(`DELETE FROM todo WHERE id = ?`, id)
	}
	return err
}

// forget takes a document out of the index, with the links that its page had.
func (x *indexer) forget(id int64) error {
	var n int
	var stems string
	err := x.tx.QueryRowContext(x.ctx, `SELECT n, stems FROM docs WHERE id = ?`, id).Scan(&n, &stems)
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
	lang := languageOf(p.lang, x.sample(&p.text))
	inDoubt := lang == ""
	if inDoubt {
		lang = x.site
	}
	x.tokens.turkish = lang == "tr"
	defer func() { x.tokens.turkish = false }()
	var body, head strings.Builder
	for _, b := range p.blocks {
		out := &body
		if b.Head {
			out = &head
		}
		if err := x.stems(out, b.Text, lang); err != nil {
			return err
		}
		x.size += len(b.Text)
	}
	var title, url, last strings.Builder
	if err := errors.Join(x.stems(&title, p.title, lang), x.stems(&url, unescaped(p.visit.URL), lang),
		x.stems(&last, unescaped(lastSegment(p.visit.URL)), lang)); err != nil {
		return err
	}
	for _, stem := range distinct(strings.Fields(title.String())) {
		x.titles[stem]++
	}
	x.size += len(p.title) + 100
	x.countLinks(p.visit.URL, p.links, 1)
	return cmp.Or(
		x.exec(`INSERT INTO docs(id, name, n, url, title, lang, doubt, raws, stems, last)
			VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, id, nameOf(p.visit.URL), p.visit.N, p.visit.URL, p.title, lang,
			inDoubt, x.raws(p.title), title.String(), last.String()),
		x.exec(`INSERT INTO idx(rowid, title, head, body, url) VALUES(?, ?, ?, ?, ?)`, id, title.String(),
			head.String(), body.String(), url.String()))
}

// stems appends the words of a text as the index has them.
func (x *indexer) stems(out *strings.Builder, text, lang string) (err error) {
	x.tokens.each(text, func(k token) {
		word := k.word
		if !k.pair {
			word = k.in(lang)
			if !k.noted {
				k.noted = true
				err = cmp.Or(err, x.exec(`INSERT OR IGNORE INTO words VALUES(?, ?)`, cutWord(fold(k.word)), k.stem))
			}
		}
		out.WriteString(word)
		out.WriteByte(' ')
	})
	return err
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
	for stem, n := range x.titles {
		if n == 0 {
			continue
		}
		if err := x.exec(`INSERT INTO titles VALUES(?, ?) ON CONFLICT DO UPDATE SET docs = docs + excluded.docs`,
			stem, n); err != nil {
			return err
		}
	}
	for name, n := range x.links {
		if n == 0 {
			continue
		}
		if err := x.exec(`INSERT INTO inlinks VALUES(?, ?) ON CONFLICT DO UPDATE SET pages = pages + excluded.pages`,
			name, n); err != nil {
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
