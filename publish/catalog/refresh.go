package catalog

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"

	"curtsy/internal/http1"
	"curtsy/internal/weburl"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// visitBits is how many low bits of a capture's id are the number of the visit.
const visitBits = 20

func idOf(r crawllog.Ref) (int64, error) {
	if r.URLID >= 1<<(63-visitBits) || r.N < 0 || r.N >= 1<<visitBits {
		return 0, &storage.DamageError{File: "crawl.db", What: fmt.Sprintf("no visit %d of URL %d", r.N, r.URLID)}
	}
	return int64(r.URLID)<<visitBits | int64(r.N), nil
}

func refOf(id int64) crawllog.Ref {
	return crawllog.Ref{URLID: uint64(id) >> visitBits, N: int(id & (1<<visitBits - 1))}
}

// batch is the number of captures written in one transaction.
const batch = 20000

// Refresh adds the visits that the archive has and index.db lacks, and deletes those that are
// gone. It decodes new visits only, and reads nothing if no commit was made since.
func (c *Catalog) Refresh(ctx context.Context, a *storage.Archive) error {
	version, last, err := a.LastCommit()
	if err != nil {
		return err
	}
	var had int
	err = c.db.QueryRowContext(ctx, `SELECT value FROM state WHERE name = 'version'`).Scan(&had)
	if err == nil && had == version {
		return nil
	}
	u := &update{ctx: ctx, c: c, last: last}
	if err := u.run(a); err != nil {
		return c.wrap("update", err)
	}
	_, err = c.db.ExecContext(ctx, `INSERT OR REPLACE INTO state VALUES('version', ?)`, version)
	return c.wrap("update", err)
}

// update merges the visits of the archive with the rows of index.db, both sorted by id.
type update struct {
	ctx  context.Context
	c    *Catalog
	last crawllog.Ref

	known   *sql.Rows // ids in index.db
	id      int64     // the current id of known
	more    bool
	tx      *sql.Tx
	put     *sql.Stmt
	todo    *sql.Stmt
	written int
	err     error // an error met where none can be returned
}

func (u *update) run(a *storage.Archive) (err error) {
	// A connection of its own has a snapshot that later writes do not change.
	if u.known, err = u.c.db.QueryContext(u.ctx, `SELECT id FROM captures ORDER BY id`); err != nil {
		return err
	}
	defer u.known.Close()
	defer func() {
		if u.tx != nil {
			u.tx.Rollback()
		}
	}()
	if err := u.next(); err != nil {
		return err
	}
	for v, err := range a.Visits(u.wanted) {
		if err == nil {
			err = u.add(v)
		}
		if err != nil {
			return err
		}
	}
	if u.err != nil {
		return u.err
	}
	for u.more {
		if err := u.drop(); err != nil {
			return err
		}
	}
	return u.commit()
}

func (u *update) next() error {
	if u.more = u.known.Next(); u.more {
		return u.known.Scan(&u.id)
	}
	return u.known.Err()
}

// wanted reports whether a visit is new, and drops the captures that precede it in index.db
// only.
func (u *update) wanted(r crawllog.Ref) bool {
	id, err := idOf(r)
	for err == nil && u.more && u.id < id {
		err = u.drop()
	}
	if err == nil && u.more && u.id == id {
		err = u.next()
		id = -1
	}
	if err != nil && u.err == nil {
		u.err = err
	}
	return u.err == nil && id >= 0
}

// drop deletes a capture that the archive no longer has.
func (u *update) drop() error {
	if err := u.begin(); err != nil {
		return err
	}
	if _, err := u.tx.ExecContext(u.ctx, `DELETE FROM captures WHERE id = ?`, u.id); err != nil {
		return err
	}
	if _, err := u.todo.ExecContext(u.ctx, u.id>>visitBits); err != nil {
		return err
	}
	return u.next()
}

// add inserts a new visit.
func (u *update) add(v *crawllog.Visit) error {
	if err := cmp.Or(u.ctx.Err(), u.begin()); err != nil {
		return err
	}
	id, err := idOf(v.Ref())
	if err != nil {
		return err
	}
	url := weburl.FromCanonical(v.URL)
	if url.IsZero() {
		return &storage.DamageError{File: "crawl.db", What: "the URL of a visit cannot be decoded"}
	}
	var r crawllog.Record
	if v.Record != nil {
		r = *v.Record
	}
	ctx := context.WithoutCancel(u.ctx) // a cancellable context costs a goroutine per statement
	_, err = u.put.ExecContext(ctx, id, url.SURT(), v.At.UnixNano(), v.URL, v.Status,
		http1.MediaType(v.ContentType), v.Labelled(), v.Kept, r.Segment, r.Offset, r.Length)
	if err != nil {
		return err
	}
	if _, err := u.todo.ExecContext(ctx, int64(v.URLID)); err != nil {
		return err
	}
	if u.written++; u.written%batch != 0 {
		return nil
	}
	u.c.watch(Progress{Step: "captures", Done: int64(v.URLID), Total: int64(u.last.URLID)})
	return u.commit()
}

// begin begins a transaction if none is open.
func (u *update) begin() (err error) {
	if u.tx != nil {
		return nil
	}
	if u.tx, err = u.c.db.BeginTx(u.ctx, nil); err != nil {
		return err
	}
	if u.put, err = u.tx.PrepareContext(u.ctx, `INSERT OR REPLACE INTO captures(`+columns+
		`) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`); err != nil {
		return err
	}
	u.todo, err = u.tx.PrepareContext(u.ctx, `INSERT OR IGNORE INTO todo VALUES(?)`)
	return err
}

func (u *update) commit() error {
	if u.tx == nil {
		return nil
	}
	tx := u.tx
	u.tx = nil
	return tx.Commit()
}
