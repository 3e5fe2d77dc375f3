package catalog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"curtsy/storage"
)

// Progress is the progress of a build.
type Progress struct {
	Step        string // "captures", "texts"
	Done, Total int64
}

// Catalog is an open index.db.
type Catalog struct {
	db    *sql.DB
	place *place
	watch func(Progress)
}

// Options of Open. The zero value is usable.
type Options struct {
	// Watch is called with the progress of a build, on the goroutine that builds; it may be
	// nil.
	Watch func(Progress)
	// Cache is a directory for indexes of archives that are not writable; "" is the account's
	// cache directory.
	Cache string
}

// Open opens the index of an archive, rebuilds it if there is no trusted one, and brings its
// captures up to date. The archive must be open during Open and Refresh only.
func Open(ctx context.Context, a *storage.Archive, o Options) (*Catalog, error) {
	watch := o.Watch
	if watch == nil {
		watch = func(Progress) {}
	}
	var err error
	for _, p := range places(a, o.Cache) {
		c := &Catalog{place: p, watch: watch}
		if err = c.open(ctx, a); err == nil {
			return c, nil
		}
		c.Close()
		if !errors.Is(err, errPlace) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
			return nil, err
		}
	}
	return nil, err
}

func (c *Catalog) open(ctx context.Context, a *storage.Archive) error {
	if err := c.place.enter(); err != nil {
		return err
	}
	if !c.place.trusted(a) {
		if err := c.place.build(ctx, a, false); err != nil {
			return err
		}
	}
	err := c.use(ctx, a)
	if !corrupt(err) {
		return err
	}
	// index.db is derived data: rebuild it, whatever the damage.
	c.db.Close()
	c.db = nil
	if err := c.place.build(ctx, a, true); err != nil {
		return err
	}
	return c.use(ctx, a)
}

func (c *Catalog) use(ctx context.Context, a *storage.Archive) (err error) {
	if c.db, err = openFile(c.place.file()); err != nil {
		return err
	}
	return c.Refresh(ctx, a)
}

// corrupt reports whether SQLite finds its file damaged.
func corrupt(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code()&0xff == sqlite3.SQLITE_CORRUPT || e.Code()&0xff == sqlite3.SQLITE_NOTADB)
}

// Close closes the database and releases its lock.
func (c *Catalog) Close() error {
	var err error
	if c.db != nil {
		err = c.db.Close()
	}
	return errors.Join(err, c.place.leave())
}

// DB returns the database, for publish/search.
func (c *Catalog) DB() *sql.DB { return c.db }

// Path returns where index.db is: in the archive, or elsewhere if the archive's directory is
// not writable.
func (c *Catalog) Path() string { return c.place.file() }

func (c *Catalog) wrap(what string, err error) error {
	var damage *storage.DamageError
	if err == nil || errors.As(err, &damage) || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%s %s: %w", what, c.place.file(), err)
}

// conns is the maximum number of open connections.
const conns = 4

// openFile opens a trusted file. An archive from somebody else is untrusted input, so SQLite's
// protections against hostile files are on (https://www.sqlite.org/security.html).
func openFile(path string) (*sql.DB, error) {
	q := url.Values{"mode": {"rw"}, "_defensive": {"1"}, "_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(60000)", "trusted_schema(OFF)", "cell_size_check(ON)", "mmap_size(0)",
		"journal_mode(WAL)", "synchronous(NORMAL)", "cache_size(-8000)", "temp_store(MEMORY)",
	}}
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}
