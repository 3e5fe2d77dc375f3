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
	// ErrIrregular reports a link, a pipe or the like in place of a regular file.
	ErrIrregular = errors.New("not a regular file: refusing to read or write it")
	// ErrSchema reports an archive of a later version.
	ErrSchema = errors.New("written by a later version of curtsy")
	// ErrOld reports an archive of an earlier version that can only be rebuilt.
	ErrOld = errors.New("written by an earlier version of curtsy")
)

// DamageError reports that data of an archive was damaged after it was written.
type DamageError struct {
	File string `json:"file"`
	// Offset, URL and Visit are set in a Report only. Offset -1 stands for the whole file.
	Offset int64         `json:"offset"`
	URL    string        `json:"url,omitempty"`
	What   string        `json:"what"`
	Visit  *crawllog.Ref `json:"visit,omitempty"` // the visit whose record is damaged
}

func (e *DamageError) Error() string { return e.File + ": " + e.What }

// Index reports whether crawl.db is damaged, which can be rebuilt from the segments.
func (e *DamageError) Index() bool { return filepath.Base(e.File) == dbName }

// errDisk reports that the system refused a write. The archive is as after the last commit.
var errDisk = errors.New("write to the archive")

func diskError(err error) error { return fmt.Errorf("%w: %w", errDisk, err) }

// schema is the version of the on-disk format. It is raised when readers of the previous version would
// misread the data. Schemas 5 and 6 (visits as JSON, plain and compressed) and 7 (the crawl's state in one
// value) are read too; the first commit converts such an archive to schema 8.
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

// LabelSHA1 is a value of Options.Label.
const LabelSHA1 = warc.LabelSHA1

// Options of an archive. The zero value is usable.
type Options struct {
	Prefix      string // prefix of segment names; "" is "curtsy"
	MinFree     int64  // bytes of the disk to leave free, at most a twentieth of it; with less it is full
	SegmentSize int64  // octets from which on a new segment is begun; 0 is 1 GiB
	Label       string // algorithm of digests in new records: LabelSHA1, or "" for SHA-256
	Software    string // field of the warcinfo records, like Operator and UserAgent
	Operator    string
	UserAgent   string
	RobotsLine  string // "robots" of the warcinfo record: "classic" or what is obeyed
	// Crawl is stored as JSON in the warcinfo record of every segment, so that the crawl can be
	// continued from the segments alone. It must contain no secrets. nil is nothing.
	Crawl  any
	Logger *slog.Logger
	// Mend opens an existing archive for Salvage: its segments, which may be missing or too
	// short, are not changed.
	Mend bool
	// Alone keeps other processes from reading during the crawl: there is no socket.
	Alone bool
	// Fail is called at named points of a commit, for tests that kill the process there; nil
	// does nothing.
	Fail func(point string)
}

// Archive is an archive directory, open for writing or reading.
type Archive struct {
	dir     *directory
	db      *bbolt.DB
	opts    Options
	key     [16]byte
	seg     *segment // the segment being written; nil before the first record
	pend    pending
	opening sync.Mutex         // guards urls
	urls    *frontier.Frontier // nil until Frontier is called
	file    *os.File           // the file that db has open
	mapsAll bool               // db's memory map is large enough never to be moved, so it never waits for readers
	gate    sync.Mutex         // held while a commit is written or a reader joins
	sharing *readers           // of a writer: those who read meanwhile; nil: reading is not possible
	live    *liveWriter        // of a reader: the crawl that writes meanwhile; nil: none does
	synced  bool               // the group's records have been synced
	// used counts transactions, weighted by how much of crawl.db they read; see release.
	used atomic.Int64
	broken
	opened openedSegments
	facts  sidecars
}

// broken says what of an open archive no longer works.
type broken struct {
	// failed is why nothing more is written: it is unknown whether a transaction was committed.
	failed error
	// stuck: a transaction panicked because of a damaged crawl.db; see update. jammed: a
	// transaction did so when it began.
	stuck, jammed bool
	beginning     sync.Mutex // guards jammed
}

// Open opens the archive in dir for its only writer, and creates it if there is none. What a killed crawl
// wrote after its last commit is removed. The caller must Close it.
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
	for _, step := range []func() error{func() error { return d.lock(true) }, d.neverLost, d.begin} {
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

// OpenRead opens the archive in dir for reading, without changing it. Several processes may read at once,
// even while a crawl writes; they then see the state of its last commit at the time of opening. If the
// system does not support that, the error is ErrInUse. The caller must Close it.
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

// look opens the directory of an existing archive. The error is ErrNone if there is none, or a DamageError
// if its crawl.db is missing.
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

// openIndex opens the archive with the named database. It checks the structure of crawl.db unless the seal
// says that it is unchanged since this program closed it.
func (d *directory) openIndex(name string, o Options, readOnly bool) (a *Archive, err error) {
	defer func() {
		if err != nil && a.db != nil {
			a.closeDB()
		}
		if err != nil {
			a = nil
		}
	}()
	defer Guard(&err)()
	a = &Archive{dir: d, opts: o, pend: pending{digests: map[string]*crawllog.Visit{}, notes: map[string]any{}},
		opened: openedSegments{all: map[string]openedSegment{}}, facts: sidecars{all: map[string]*sidecar{}}}
	if name == dbName {
		if err := a.openFirst(readOnly); err != nil {
			return a, err
		}
		if a.live != nil {
			return a, a.view(a.check)
		}
		if err := d.readable(); err != nil {
			return a, err // nothing may be looked up in a damaged structure
		}
		if readOnly {
			return a, a.view(a.check)
		}
		if err := errors.Join(a.db.Close(), d.remove(sealName)); err != nil {
			return a, err
		}
	}
	if err := a.openDB(name, false); err != nil {
		return a, err
	}
	return a, a.view(a.check)
}

// openFirst opens crawl.db to check it, and for reading.
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

// mappedSize is the size of the memory map of a writer's crawl.db. It is more than any crawl needs, so that
// bbolt never moves the map, for which it would have to wait for all readers. It costs address space
// only.
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
	if errors.Is(err, syscall.ENOMEM) { // the address space is limited (ulimit -v)
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

// grow sets by how much crawl.db grows at a time.
func (a *Archive) grow() {
	if !a.mapsAll {
		return
	}
	if st, err := a.file.Stat(); err == nil {
		a.db.AllocSize = int(min(max(st.Size()/16, 1<<15), 1<<24))
	}
}

// whole returns an error if a bucket of crawl.db is missing.
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

// Key returns the archive's secret key for fingerprints.
func (a *Archive) Key() [16]byte { return a.key }

// Dir returns the archive's directory as it was passed to Open.
func (a *Archive) Dir() string { return a.dir.path }

// Close closes the archive. What was not committed is removed.
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

// Crawl decodes the state that the crawl last committed into v; ok is false if there is none.
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

// parted is a crawl's state of which a part seldom changes. That part is stored separately, when it has
// changed. Both are JSON objects; decoding both into one value gives the whole.
type parted interface {
	Parts() (often, lasting any)
}

// putCrawl stores the state of the crawl; nil leaves it unchanged.
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
