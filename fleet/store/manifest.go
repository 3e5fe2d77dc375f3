package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// ErrFenced says that another worker has claimed the site: what this one holds of it
// is dropped.
var ErrFenced = errors.New("another worker has claimed the site")

// ErrDamaged says that a manifest cannot be used, or leads out of its site.
var ErrDamaged = errors.New("its manifest is damaged")

// Manifest says what an archive in the store is. All that it names is there.
type Manifest struct {
	Version  int       `json:"version"`
	Seed     string    `json:"seed"`
	Epoch    int64     `json:"epoch"` // how often it was claimed
	Seq      int64     `json:"seq"`   // saves of this epoch
	Owner    string    `json:"owner"` // who claimed it last
	Saved    time.Time `json:"saved"`
	Run      Run       `json:"run"`
	DB       *Blob     `json:"db,omitempty"`     // nil: nothing is saved yet
	Deltas   []Blob    `json:"deltas,omitempty"` // what changed of crawl.db since, in order
	Segments []Segment `json:"segments,omitempty"`
}

// Run is how the last run over the archive goes, or went. A run is what one worker does for a
// site from its claim to its last save: the first crawl, the rest of one that was cut off, or
// a round, which visits again what is known.
type Run struct {
	Round  bool      `json:"round,omitempty"` // it visits again what is known
	Began  time.Time `json:"began"`
	Ended  time.Time `json:"ended"`            // zero while it runs
	Ending string    `json:"ending,omitempty"` // as status has it
	Why    string    `json:"why,omitempty"`
	Fails  int       `json:"fails,omitempty"` // runs that failed, one after another
	// Passes is how often the whole site had been crawled when the run began; nil: not
	// known. A run that is continued is done when there is one more.
	Passes *int `json:"passes,omitempty"`
	Counts
}

// Counts are the URLs of an archive by state.
type Counts struct {
	Discovered  int   `json:"discovered"`
	Fetched     int   `json:"fetched"`
	Failed      int   `json:"failed"`
	Disregarded int   `json:"disregarded"`
	Queued      int   `json:"queued"`
	Bytes       int64 `json:"bytes"`
}

// Blob is an object, with its sum.
type Blob struct {
	Key    string `json:"key"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	Saves  int    `json:"saves,omitempty"`   // of a delta: of how many saves it is
	DBSize int64  `json:"db_size,omitempty"` // of a delta: of crawl.db with it
}

// Segment is a WARC segment: an object of its own once it is sealed, until then
// pieces of it.
type Segment struct {
	Name   string  `json:"name"`
	Size   int64   `json:"size"`
	Sealed bool    `json:"sealed,omitempty"`
	Tail   []Piece `json:"tail,omitempty"` // in order, without gaps
}

// Piece is a part of a segment.
type Piece struct {
	Key    string `json:"key"`
	Offset int64  `json:"offset"`
	Size   int64  `json:"size"`
	Saves  int    `json:"saves,omitempty"` // of how many saves it is
}

// Versions of a manifest: the second has deltas, which older programs would not apply.
const (
	manifestVersion = 1
	withDeltas      = 2
)

// plain says whether a site, a segment or a piece may be called so: their names
// become paths on whatever machine restores the archive.
func plain(name string) bool {
	if name == "" || len(name) > 200 || name[0] == '.' {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r)
	})
}

// CheckName refuses what cannot name a site in a store.
func CheckName(site string) error {
	if !plain(site) {
		return fmt.Errorf("%q cannot name a site in a store", site)
	}
	return nil
}

// below says whether a key is that of one object right below dir.
func below(key, dir string) bool {
	name, ok := strings.CutPrefix(key, dir+"/")
	return ok && plain(strings.ReplaceAll(name, "+", "_"))
}

// maxEpoch is more than any site is claimed.
const maxEpoch = 1 << 50

// check refuses a manifest that is not sound, or names what is not the site's: others may
// write to the store, and what a manifest names is read and removed.
func (m *Manifest) check(site string) error {
	if m.Version < manifestVersion || m.Version > withDeltas {
		return fmt.Errorf("%s: its manifest has version %d, this version of curtsy reads up to %d", site,
			m.Version, withDeltas)
	}
	bad := func(what string) error { return fmt.Errorf("%s: %w: %s", site, ErrDamaged, what) }
	if m.Epoch < 0 || m.Epoch > maxEpoch || m.Seq < 0 {
		return bad("its epoch")
	}
	if m.DB != nil && (!below(m.DB.Key, site+"/db") || m.DB.Size < 0) {
		return bad("crawl.db is not where it should be")
	}
	for _, d := range m.Deltas {
		if m.DB == nil || !below(d.Key, site+"/db") || d.Size < 0 || d.DBSize < 0 {
			return bad("the parts of crawl.db")
		}
	}
	names := map[string]bool{}
	for _, s := range m.Segments {
		if !plain(s.Name) || s.Size < 0 || names[s.Name] {
			return bad("a segment's name or size")
		}
		names[s.Name] = true
		at := int64(0)
		for _, p := range s.Tail {
			if p.Offset != at || p.Size <= 0 || !below(p.Key, site+"/tail/"+s.Name) {
				return bad("the pieces of " + s.Name)
			}
			at += p.Size
		}
		if !s.Sealed && at != s.Size {
			return bad("the pieces of " + s.Name + " do not make up its size")
		}
	}
	return nil
}

// Load reads the manifest of a site; ErrNotFound where there is none.
func Load(ctx context.Context, s Store, site string) (Manifest, error) {
	m, _, err := load(ctx, s, site)
	return m, err
}

func load(ctx context.Context, s Store, site string) (m Manifest, tag string, err error) {
	if err := CheckName(site); err != nil {
		return m, "", err
	}
	b, tag, err := s.Get(ctx, site+"/MANIFEST")
	if err != nil {
		return m, "", err
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, "", fmt.Errorf("%s: %w: %w", site, ErrDamaged, err)
	}
	return m, tag, m.check(site)
}

// Archive is a site's archive in a store, claimed by one owner. It is for one
// goroutine at a time.
type Archive struct {
	store Store
	site  string
	m     Manifest
	tag   string

	saves  int    // tries, each with names of its own: one that failed may have left objects
	commit int    // of crawl.db, that was saved last; 0: none
	pages  []page // of crawl.db as it was saved last; nil: not known
	ends   []int  // of the base and of each delta, the save that it brings crawl.db to
}

// Claim makes owner the one that may save the archive of a site, and begins a
// run of it.
func Claim(ctx context.Context, s Store, site, seed, owner string, run Run) (*Archive, error) {
	m, tag, err := load(ctx, s, site)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	if m.Seed != "" && m.Seed != seed {
		return nil, fmt.Errorf("%s: the store holds the crawl of %s, not of %s", site, m.Seed, seed)
	}
	run.Counts = m.Run.Counts
	m.Version, m.Seed, m.Owner, m.Run = manifestVersion, seed, owner, run
	m.Epoch++
	m.Seq = 0
	a := &Archive{store: s, site: site, m: m, tag: tag}
	return a, a.swap(ctx)
}

// Manifest is what was last written.
func (a *Archive) Manifest() Manifest { return a.m }

// Prefix is what the names of segments begin with in this epoch: two owners
// never write one name.
func (a *Archive) Prefix(base string) string { return fmt.Sprintf("%s-e%d", base, a.m.Epoch) }

func (a *Archive) swap(ctx context.Context) error {
	a.m.Saved = time.Now().UTC()
	if a.m.Version = manifestVersion; len(a.m.Deltas) > 0 {
		a.m.Version = withDeltas
	}
	b, err := json.MarshalIndent(&a.m, "", " ")
	if err != nil {
		return err
	}
	tag, err := swap(ctx, a.store, a.site+"/MANIFEST", b, a.tag)
	if errors.Is(err, ErrConflict) {
		return fmt.Errorf("%s: %w", a.site, ErrFenced)
	}
	if err == nil {
		a.tag = tag
	}
	return err
}
