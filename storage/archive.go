package storage

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"curtsy/frontier"
	"curtsy/internal/sum"
)

// Errors of opening an archive.
var (
	ErrNone  = errors.New("no archive here")
	ErrInUse = errors.New("in use by another curtsy")
	// ErrSchema: whole, but of another version.
	ErrSchema = errors.New("an archive of another version of curtsy")
)

// DamageError says that an archive is not as it was written.
type DamageError struct {
	File string
	What string
}

func (e *DamageError) Error() string { return e.File + ": " + e.What }

// Index says whether it is the index that is damaged, crawl.db, which can be
// rebuilt from the segments.
func (e *DamageError) Index() bool { return filepath.Base(e.File) == dbName }

// DiskError says that the disk refused a write. The archive is as it was at
// the last commit.
type DiskError struct{ Err error }

func (e *DiskError) Error() string { return "write to the archive: " + e.Err.Error() }
func (e *DiskError) Unwrap() error { return e.Err }

// schema is the version of the on-disk format; it is raised when a reader of
// the version before would read wrongly.
const schema = 4

const (
	dbName  = "crawl.db"
	warcDir = "warc"
)

var (
	bucketMeta     = []byte("meta")
	bucketSegments = []byte("segments")
	bucketVisits   = []byte("visits")
	bucketDigests  = []byte("digests")
	bucketRobots   = []byte("robots")
	bucketBodies   = []byte("bodies")
	keySchema      = []byte("schema")
	keyKey         = []byte("key")
	keyCrawl       = []byte("crawl")
)

// Options of an archive. The zero value is good.
type Options struct {
	Prefix      string // of segment names; "" is "curtsy"
	MinFree     int64  // bytes of the disk that stay free, but a twentieth of it at most: a commit that would take them is refused as by a full disk
	SegmentSize int64  // octets after which a new segment begins; 0 is 1 GB
	Software    string // for the warcinfo records
	Operator    string
	UserAgent   string
	RobotsLine  string // "robots" of the warcinfo record: "classic" or what is obeyed
	// Crawl is what every segment says of the crawl, as JSON: whoever has the
	// segments alone can go on with it. It must hold no secrets. nil is nothing.
	Crawl  any
	Logger *slog.Logger
	// Fail is called at the named points of a commit, in tests that kill the
	// process there; nil does nothing.
	Fail func(point string)
}

// Archive is an archive directory, open for writing or reading.
type Archive struct {
	dir     string
	db      *bbolt.DB
	opts    Options
	key     [16]byte
	seg     *segment // the one being written; nil before the first record
	pend    pending
	urls    *frontier.Frontier // nil until it is asked for
	synced  bool               // the group's records are durable
	commits int
	// failed is why the archive takes no more: a transaction that ended in
	// doubt.
	failed error
	// stuck: a transaction panicked over a damaged crawl.db; see Update.
	stuck bool
}

// Open opens the archive in dir for its one writer and makes it if there is
// none. What a killed crawl left behind the last commit is cut off.
func Open(dir string, o Options) (*Archive, error) {
	if err := os.MkdirAll(filepath.Join(dir, warcDir), 0o755); err != nil {
		return nil, err
	}
	if err := neverLost(dir); err != nil {
		return nil, err
	}
	if err := begin(dir); err != nil {
		return nil, err
	}
	a, err := open(dir, o, false)
	if err != nil {
		return nil, err
	}
	err = metas(dir)
	if err == nil {
		err = a.recover()
	}
	if err != nil {
		a.closeDB()
		return nil, err
	}
	return a, nil
}

// OpenRead opens the archive in dir for reading. Many may read at once, but
// not while a crawl writes (ErrInUse).
func OpenRead(dir string) (*Archive, error) {
	if err := Look(dir); err != nil {
		return nil, err
	}
	return open(dir, Options{}, true)
}

// Look says what speaks against an archive being in dir: ErrNone, or that
// its crawl.db is gone.
func Look(dir string) error {
	if err := neverLost(dir); err != nil {
		return err
	}
	st, err := os.Stat(filepath.Join(dir, dbName))
	if errors.Is(err, fs.ErrNotExist) || err == nil && st.Size() == 0 {
		return fmt.Errorf("%s: %w", dir, ErrNone)
	}
	return err
}

func open(dir string, o Options, readOnly bool) (*Archive, error) {
	o.defaults()
	if err := neverLost(dir); err != nil {
		return nil, err
	}
	return openFile(dir, dbName, o, readOnly)
}

func (o *Options) defaults() {
	if o.Prefix == "" {
		o.Prefix = "curtsy"
	}
	if o.SegmentSize == 0 {
		o.SegmentSize = 1 << 30
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Fail == nil {
		o.Fail = func(string) {}
	}
}

// openFile opens the archive in dir with the index of that name.
func openFile(dir, name string, o Options, readOnly bool) (a *Archive, err error) {
	path := filepath.Join(dir, name)
	defer func() {
		if err != nil && a != nil {
			a.closeDB()
			a = nil
		}
	}()
	defer Guard(&err)()
	if err := whole(path); err != nil {
		return nil, err
	}
	db, err := openDB(path, bbolt.Options{
		Timeout:      lockTimeout,
		FreelistType: bbolt.FreelistMapType,
		ReadOnly:     readOnly,
		NoStatistics: true,
	})
	if err != nil {
		return nil, openError(path, err)
	}
	a = &Archive{dir: dir, db: db, opts: o}
	return a, a.db.View(a.check)
}

func (a *Archive) check(tx *bbolt.Tx) error {
	path := filepath.Join(a.dir, dbName)
	for _, name := range [][]byte{bucketMeta, bucketSegments, bucketVisits, bucketDigests, bucketRobots, bucketBodies} {
		if tx.Bucket(name) == nil {
			return &DamageError{File: path, What: "not an archive of curtsy: bucket " + string(name) + " is missing"}
		}
	}
	m := tx.Bucket(bucketMeta)
	v := m.Get(keySchema)
	if len(v) != 4 {
		return &DamageError{File: path, What: "not an archive of curtsy: no schema version"}
	}
	if got := binary.BigEndian.Uint32(v); got != schema {
		return fmt.Errorf("%s: %w: written with schema %d, this curtsy reads %d", path, ErrSchema, got, schema)
	}
	key, ok := sum.Open(keyKey, m.Get(keyKey))
	if !ok || len(key) != len(a.key) {
		return &DamageError{File: path, What: "its key does not read back"}
	}
	copy(a.key[:], key)
	return nil
}

// Key is the archive's secret for fingerprints.
func (a *Archive) Key() [16]byte { return a.key }

// Dir is the archive's directory.
func (a *Archive) Dir() string { return a.dir }

// Close ends the use of the archive. What was not committed is cut off.
func (a *Archive) Close() error {
	if a.seg != nil {
		a.seg.cut()
		a.seg.file.Close()
	}
	return a.closeDB()
}

// Crawl reads what the crawl last said of itself into v; false if nothing.
func (a *Archive) Crawl(v any) (ok bool, err error) {
	err = a.db.View(func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketMeta).Get(keyCrawl)
		if ok = b != nil; !ok {
			return nil
		}
		b, whole := sum.Open(keyCrawl, b)
		if !whole || json.Unmarshal(b, v) != nil {
			return &DamageError{File: filepath.Join(a.dir, dbName), What: "the crawl's own entry does not read back"}
		}
		return nil
	})
	return ok, err
}

// putCrawl keeps what the crawl says of itself; nil leaves it as it is.
func putCrawl(tx *bbolt.Tx, v any) error {
	if v == nil {
		return nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return tx.Bucket(bucketMeta).Put(keyCrawl, sum.Seal(keyCrawl, b))
}
