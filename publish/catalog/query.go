package catalog

import (
	"cmp"
	"context"
	"database/sql"
	"iter"
	"time"

	"curtsy/internal/weburl"
	"curtsy/storage/crawllog"
)

// Capture is an index entry of one visit. It does not say what may be shown; the visit does.
type Capture struct {
	crawllog.Ref
	SURT    string
	URL     string
	At      time.Time
	Status  int    // 0: no answer
	MIME    string // without parameters
	Digest  string // of the payload, prefixed with the algorithm
	Kept    string // crawllog.KeptResponse, KeptRevisit, KeptElsewhere, KeptWithheld; "": nothing kept
	Segment string // the WARC file with its records; "" if it has none
	Offset  int64
	Length  int64 // of all its records
}

const columns = `id, surt, ts, url, status, mime, digest, kept, segment, offset, length`

// HasBody reports whether a body is archived, its own or that of an earlier capture.
func (c *Capture) HasBody() bool {
	return c.Kept == crawllog.KeptResponse || c.Kept == crawllog.KeptRevisit
}

// Captures returns the captures of a URL, oldest first, including visits without an answer.
func (c *Catalog) Captures(ctx context.Context, u weburl.URL) (list []Capture, err error) {
	for x, err := range c.captures(ctx, `surt = ? AND url = ? ORDER BY ts, id`, u.SURT(), u.String()) {
		if err != nil {
			return nil, err
		}
		list = append(list, *x)
	}
	return list, nil
}

// Range yields the captures whose SURT is in [from, to), by SURT and time. If to is "", there
// is no upper bound.
func (c *Catalog) Range(ctx context.Context, from, to string) iter.Seq2[*Capture, error] {
	return c.captures(ctx, `segment <> '' AND surt >= ? AND surt < ? ORDER BY surt, ts, id`, from,
		cmp.Or(to, "\U0010FFFF")) // SURTs are ASCII
}

// captures yields the captures that meet an SQL condition.
func (c *Catalog) captures(ctx context.Context, where string, args ...any) iter.Seq2[*Capture, error] {
	return func(yield func(*Capture, error) bool) {
		rows, err := c.db.QueryContext(ctx, `SELECT `+columns+` FROM captures WHERE `+where, args...)
		if err != nil {
			yield(nil, c.wrap("read", err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			var x Capture
			var id, ts int64
			err := rows.Scan(&id, &x.SURT, &ts, &x.URL, &x.Status, &x.MIME, &x.Digest, &x.Kept, &x.Segment,
				&x.Offset, &x.Length)
			x.Ref, x.At = refOf(id), time.Unix(0, ts).UTC()
			if !yield(&x, c.wrap("read", err)) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, c.wrap("read", err))
		}
	}
}

// Counts are the figures of an archive's start page.
type Counts struct {
	Captures int // visits with a record
	Kept     int // of them, with a body
	Texts    int // texts that are indexed for search
	From, To time.Time
}

// Counts computes the counts.
func (c *Catalog) Counts(ctx context.Context) (n Counts, err error) {
	var from, to sql.NullInt64
	err = c.db.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(kept IN ('response', 'revisit')), 0),
		min(ts), max(ts), (SELECT count(*) FROM docs)
		FROM captures WHERE segment <> ''`).Scan(&n.Captures, &n.Kept, &from, &to, &n.Texts)
	if from.Valid {
		n.From, n.To = time.Unix(0, from.Int64).UTC(), time.Unix(0, to.Int64).UTC()
	}
	return n, c.wrap("count", err)
}

// Tally is a value and the number of captures that have it.
type Tally struct {
	Name  string
	Count int
}

// mostTallies is the most values that Tallies returns of each kind.
const mostTallies = 8

// Tallies counts captures by status and by media type, most frequent first.
func (c *Catalog) Tallies(ctx context.Context) (statuses, types []Tally, err error) {
	if statuses, err = c.tally(ctx, "status"); err == nil {
		types, err = c.tally(ctx, "mime")
	}
	return statuses, types, c.wrap("count", err)
}

func (c *Catalog) tally(ctx context.Context, column string) (list []Tally, err error) {
	rows, err := c.db.QueryContext(ctx, `SELECT `+column+`, count(*) FROM captures
		WHERE segment <> '' AND `+column+` <> ''
		GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?`, mostTallies)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var t Tally
		if err := rows.Scan(&t.Name, &t.Count); err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, rows.Err()
}
