package storage

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"

	"go.etcd.io/bbolt"

	"curtsy/frontier"
	"curtsy/internal/sum"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// Errors of opening an archive.
var (
	ErrNone  = errors.New("no archive here")
	ErrInUse = errors.New("in use by another curtsy")
	// ErrIrregular: a link, a pipe or the like is in the place of a file.
	ErrIrregular = errors.New("not a regular file: refusing to read or write it")
	// ErrSchema: whole, but of a later version.
	ErrSchema = errors.New("written by a later version of curtsy")
	// ErrOld: whole, but of an earlier version; a rebuild makes it one of this.
	ErrOld = errors.New("written by an earlier version of curtsy")
)

// DamageError says that an archive is not as it was written.
type DamageError struct {
	File string `json:"file"`
	// Offset, URL and Visit are said in a Report alone; an Offset of -1 is the file as a whole.
	Offset int64         `json:"offset"`
	URL    string        `json:"url,omitempty"`
	What   string        `json:"what"`
	Visit  *crawllog.Ref `json:"visit,omitempty"` // whose record is damaged
}

func (e *DamageError) Error() string { return e.File + ": " + e.What }

// Index says whether it is the index that is damaged, crawl.db, which can be
// rebuilt from the segments.
func (e *DamageError) Index() bool { return filepath.Base(e.File) == dbName }

// errDisk says that the disk refused a write. The archive is as it was at
// the last commit.
var errDisk = errors.New("write to the archive")

func diskError(err error) error { return fmt.Errorf("%w: %w", errDisk, err) }

// schema is the version of the on-disk format; it is raised when a reader of
// the version before would read wrongly. Schemas 5 and 6, whose visits are JSON, plain
// and packed, and 7, where all that a crawl says of itself is one row, are read as well; the
// first commit to such an archive makes it one of schema 8.
const (
	schema       = 8
	oldestSchema = 5
)

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
	bucketImports  = []byte("imports")
	keySchema      = []byte("schema")
	keyKey         = []byte("key")
	keyCrawl       = []byte("crawl")
	keyLasting     = []byte("crawl-lasting")
)

// LabelSHA1 is an Options.Label.
const LabelSHA1 = warc.LabelSHA1

// Options of an archive. The zero value is good.
type Options struct {
	Prefix      string // of segment names; "" is "curtsy"
	MinFree     int64  // bytes of the disk that stay free, a twentieth of it at most: else it counts as full
	SegmentSize int64  // octets after which a new segment begins; 0 is 1 GB
	Label       string // of the digests in new records: LabelSHA1, or "" for SHA-256
	Software    string // for the warcinfo records
	Operator    string
	UserAgent   string
	RobotsLine  string // "robots" of the warcinfo record: "classic" or what is obeyed
	// Crawl is what every segment says of the crawl, as JSON: whoever has the
	// segments alone can continue it. It must hold no secrets. nil is nothing.
	Crawl  any
	Logger *slog.Logger
	// Mend is for Salvage: the archive must be there, and its segments are left as they are
	// found. They may be missing or too short.
	Mend bool
	// Alone lets no other process read while this one writes: there is no socket.
	Alone bool
	// Fail is called at the named points of a commit, in tests that kill the
	// process there; nil does nothing.
	Fail func(point string)
}

// Archive is an archive directory, open for writing or reading.
type Archive struct {
	dir     *directory
	db      *bbolt.DB
	opts    Options
	key     [16]byte
	seg     *segment // the one being written; nil before the first record
	pend    pending
	opening sync.Mutex         // guards urls
	urls    *frontier.Frontier // nil until it is asked for
	file    *os.File           // crawl.db as db has it open
	mapsAll bool               // db never moves its map, and so never waits for readers to end
	gate    sync.Mutex         // held while a commit is written, or given to a reader
	sharing *readers           // while this writes; nil: nobody can read
	live    *liveWriter        // the crawl that writes while this reads; nil: none does
	synced  bool               // the group's records are durable
	// used counts transactions, by how much of crawl.db they look at; see release.
	used atomic.Int64
	broken
	// readers are of records that were read: their buffers are used again.
	readers sync.Pool
	opened  openedSegments
	facts   sidecars
}

// broken is what no longer works of an open archive.
type broken struct {
	// failed is why the archive takes no more: a transaction that ended in
	// doubt.
	failed error
	// stuck: a transaction panicked over a damaged crawl.db; see update. jammed: so
	// did one that was to read, as it began.
	stuck, jammed bool
	beginning     sync.Mutex // guards jammed
}

// Open opens the archive in dir for its one writer and makes it if there is
// none. What a killed crawl left behind the last commit is cut off.
func Open(dir string, o Options) (a *Archive, err error) {
	o.defaults()
	if !isSegment(o.Prefix + "-20060102150405-00000.warc.gz") {
		return nil, fmt.Errorf("%q cannot be the prefix of segment names", o.Prefix)
	}
	if o.Mend {
		d, err := look(dir)
		if err != nil {
			return nil, err
		}
		d.close()
	}
	d, err := makeDirectory(dir)
	if err != nil {
		return nil, err
	}
	defer d.closeOn(&err)
	for _, step := range []func() error{d.lockToWrite, d.neverLost, d.begin} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if a, err = d.openIndex(dbName, o, false); err != nil {
		return nil, err
	}
	if !o.Mend {
		err = d.metas()
	}
	if err == nil {
		err = a.recover()
	}
	if err != nil {
		a.closeDB()
		return nil, err
	}
	a.share()
	return a, nil
}

// OpenRead opens the archive in dir for reading, and changes nothing in it.
// Many may read at once, and while a crawl writes: then it is the state of that
// crawl's last commit. Where the system does not allow that, it is ErrInUse.
func OpenRead(dir string) (a *Archive, err error) {
	d, err := look(dir)
	if err != nil {
		return nil, err
	}
	defer d.closeOn(&err)
	o := Options{}
	o.defaults()
	return d.openIndex(dbName, o, true)
}

// look opens the directory of an archive that must be there: else it is ErrNone,
// or that its crawl.db is gone.
func look(dir string) (d *directory, err error) {
	d, err = openDirectory(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", dir, ErrNone)
	}
	if err != nil {
		return nil, err
	}
	defer d.closeOn(&err)
	if err := d.neverLost(); err != nil {
		return nil, err
	}
	st, err := d.stat(dbName)
	if errors.Is(err, fs.ErrNotExist) || err == nil && st.Size() == 0 {
		return nil, fmt.Errorf("%s: %w", dir, ErrNone)
	}
	return d, err
}

func (o *Options) defaults() {
	o.Prefix = cmp.Or(o.Prefix, "curtsy")
	o.SegmentSize = cmp.Or(o.SegmentSize, 1<<30)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.Alone = o.Alone || o.Mend
	if o.Fail == nil {
		o.Fail = func(string) {}
	}
}

// openIndex opens the archive with the index of that name. Its structure is
// checked unless it is known to be as this program left it.
func (d *directory) openIndex(name string, o Options, readOnly bool) (a *Archive, err error) {
	defer func() {
		if err != nil && a != nil && a.db != nil {
			a.closeDB()
		}
		if err != nil {
			a = nil
		}
	}()
	defer Guard(&err)()
	a = &Archive{dir: d, opts: o, pend: pending{digests: map[string]*crawllog.Visit{}, notes: map[string][]byte{}}}
	if name == dbName {
		if err := a.openFirst(readOnly); err != nil {
			return a, err
		}
		if a.live != nil {
			return a, a.view(a.check)
		}
		if err := d.readable(); err != nil {
			return a, err // nothing is looked up in what does not bear it
		}
		if readOnly {
			return a, a.view(a.check)
		}
		if err := errors.Join(a.db.Close(), d.unseal()); err != nil {
			return a, err
		}
	}
	if err := a.openDB(name, false); err != nil {
		return a, err
	}
	return a, a.view(a.check)
}

// openFirst opens crawl.db for a look at it, and for reading.
func (a *Archive) openFirst(readOnly bool) error {
	if !readOnly {
		return a.openDB(dbName, true)
	}
	err := a.dir.lock(false)
	if errors.Is(err, ErrInUse) {
		return a.openLive()
	}
	if err != nil {
		return err
	}
	return a.openDB(dbName, true)
}

// mappedSize is how much of the address space a writer's crawl.db takes: no crawl
// outgrows it, and so the map is never moved, for which bbolt would wait until
// nobody reads. It costs no memory and no room on the disk.
const mappedSize = min(1<<38, math.MaxInt>>1)

func (a *Archive) openDB(name string, readOnly bool) (err error) {
	o := bbolt.Options{
		Timeout:      lockTimeout,
		FreelistType: bbolt.FreelistMapType,
		ReadOnly:     readOnly,
		NoStatistics: true,
	}
	if !readOnly && strconv.IntSize == 64 && runtime.GOOS != "windows" {
		o.InitialMmapSize = mappedSize
	}
	a.db, a.file, err = a.dir.openDB(name, o)
	if errors.Is(err, syscall.ENOMEM) { // little address space is allowed (ulimit -v)
		o.InitialMmapSize = 0
		a.db, a.file, err = a.dir.openDB(name, o)
	}
	if err != nil {
		a.db = nil
		return openError(a.dir.file(name), err)
	}
	a.mapsAll = o.InitialMmapSize > 0
	a.grow()
	return nil
}

// grow sets by how much crawl.db is made longer at a time.
func (a *Archive) grow() {
	if !a.mapsAll {
		return
	}
	if st, err := a.file.Stat(); err == nil {
		a.db.AllocSize = int(min(max(st.Size()/16, 1<<15), 1<<24))
	}
}

// whole says whether all that belongs in crawl.db is there.
func (a *Archive) whole(tx *bbolt.Tx) error {
	for _, name := range [][]byte{bucketMeta, bucketSegments, bucketVisits, bucketDigests, bucketRobots, bucketBodies} {
		if tx.Bucket(name) == nil {
			return &DamageError{File: a.dir.file(dbName), What: "not a curtsy archive: bucket " +
				string(name) + " is missing"}
		}
	}
	return nil
}

func (a *Archive) check(tx *bbolt.Tx) error {
	path := a.dir.file(dbName)
	if err := a.whole(tx); err != nil {
		return err
	}
	m := tx.Bucket(bucketMeta)
	v := m.Get(keySchema)
	if len(v) != 4 {
		return &DamageError{File: path, What: "not a curtsy archive: no schema version"}
	}
	if got := binary.BigEndian.Uint32(v); got < oldestSchema {
		return fmt.Errorf("%s: %w: it has schema %d, this version reads %d", path, ErrOld, got, schema)
	} else if got > schema {
		return fmt.Errorf("%s: %w: it has schema %d, this version reads %d", path, ErrSchema, got, schema)
	}
	key, ok := sum.Open(keyKey, m.Get(keyKey))
	if !ok || len(key) != len(a.key) {
		return &DamageError{File: path, What: "its key cannot be decoded"}
	}
	copy(a.key[:], key)
	return nil
}

// Key is the archive's secret for fingerprints.
func (a *Archive) Key() [16]byte { return a.key }

// Dir is the archive's directory, as it was given.
func (a *Archive) Dir() string { return a.dir.path }

// Close ends the use of the archive. What was not committed is cut off.
func (a *Archive) Close() error {
	defer a.dir.close()
	a.closeFacts()
	a.opened.close()
	if a.seg != nil {
		a.seg.cut()
		a.seg.file.Close()
	}
	a.sharing.close()
	isWriter := !a.db.IsReadOnly() && !a.stuck && !a.isJammed() && a.failed == nil
	if err := a.closeDB(); err != nil || !isWriter {
		return err
	}
	a.dir.seal()
	return nil
}

// Crawl reads what the crawl last said of itself into v; false if nothing.
func (a *Archive) Crawl(v any) (ok bool, err error) {
	err = a.view(func(tx *bbolt.Tx) error {
		for _, key := range [][]byte{keyCrawl, keyLasting} {
			b := tx.Bucket(bucketMeta).Get(key)
			if b == nil {
				continue
			}
			ok = ok || string(key) == string(keyCrawl)
			b, whole := sum.Open(key, b)
			if !whole || json.Unmarshal(b, v) != nil {
				return &DamageError{File: a.dir.file(dbName), What: "the crawl's own entry cannot be decoded"}
			}
		}
		return nil
	})
	return ok, err
}

// parted is what a crawl says of itself where a part of it seldom changes: that has
// a row of its own, written when it has changed. Both are JSON objects; decoding
// one and then the other into a value gives the whole.
type parted interface {
	Parts() (often, lasting any)
}

// putCrawl keeps what the crawl says of itself; nil leaves it as it is.
func putCrawl(tx *bbolt.Tx, v any) error {
	var lasting any
	if p, ok := v.(parted); ok {
		v, lasting = p.Parts()
	}
	for _, row := range []struct {
		key []byte
		v   any
	}{{keyCrawl, v}, {keyLasting, lasting}} {
		if row.v == nil {
			continue
		}
		b, err := json.Marshal(row.v)
		if err != nil {
			return err
		}
		b = sum.Seal(row.key, b)
		if m := tx.Bucket(bucketMeta); !bytes.Equal(m.Get(row.key), b) {
			if err := m.Put(row.key, b); err != nil {
				return err
			}
		}
	}
	return nil
}
