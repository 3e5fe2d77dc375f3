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

// ErrFenced means that another worker has claimed the site; this one must drop its state of the
// site.
var ErrFenced = errors.New("another worker has claimed the site")

// ErrDamaged means that a manifest is invalid, or names objects outside of its site.
var ErrDamaged = errors.New("its manifest is damaged")

// Manifest describes an archive in the store. All objects that it names exist.
type Manifest struct {
	Version  int       `json:"version"`
	Seed     string    `json:"seed"`
	Epoch    int64     `json:"epoch"` // number of claims
	Seq      int64     `json:"seq"`   // saves in this epoch
	Owner    string    `json:"owner"` // the latest claimant
	Saved    time.Time `json:"saved"`
	Run      Run       `json:"run"`
	DB       *Blob     `json:"db,omitempty"`     // nil: nothing is saved yet
	Deltas   []Blob    `json:"deltas,omitempty"` // changes of crawl.db since, in order
	Segments []Segment `json:"segments,omitempty"`
}

// Run describes the latest run on an archive. A run is what one worker does for a site from its
// claim to its last save: the first crawl, the rest of an interrupted one, or a round, which
// updates known URLs.
type Run struct {
	Round  bool      `json:"round,omitempty"` // it updates known URLs
	Began  time.Time `json:"began"`
	Ended  time.Time `json:"ended"`            // zero while it runs
	Ending string    `json:"ending,omitempty"` // as in status
	Why    string    `json:"why,omitempty"`
	Fails  int       `json:"fails,omitempty"` // consecutive failed runs
	// Passes is the number of complete crawls of the site when the run began; nil: unknown. A
	// continued run is done when there is one more.
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

// Blob is an object with its checksum.
type Blob struct {
	Key    string `json:"key"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	Saves  int    `json:"saves,omitempty"`   // of a delta: number of saves it covers
	DBSize int64  `json:"db_size,omitempty"` // of a delta: size of crawl.db after it
}

// Segment is a WARC segment: one object once it is sealed, pieces before.
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
	Saves  int    `json:"saves,omitempty"` // number of saves it covers
}

// Versions of a manifest: the second has deltas, which older programs would ignore.
const (
	manifestVersion = 1
	withDeltas      = 2
)

// plain reports whether a name is valid for a site, segment or piece. Names become paths on the
// machine that restores the archive.
func plain(name string) bool {
	if name == "" || len(name) > 200 || name[0] == '.' {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r)
	})
}

// CheckName returns an error if a name is not valid for a site.
func CheckName(site string) error {
	if !plain(site) {
		return fmt.Errorf("%q cannot name a site in a store", site)
	}
	return nil
}

// below reports whether a key is that of an object directly below dir.
func below(key, dir string) bool {
	name, ok := strings.CutPrefix(key, dir+"/")
	return ok && plain(strings.ReplaceAll(name, "+", "_"))
}

// maxEpoch exceeds any real number of claims.
const maxEpoch = 1 << 50

// check rejects a manifest that is invalid or names objects of other sites. Others may write to
// the store, and the objects that a manifest names are read and removed.
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

// Load reads the manifest of a site; ErrNotFound if there is none.
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

// Archive is a site's archive in a store, claimed by one owner. It is not safe for concurrent
// use.
type Archive struct {
	store Store
	site  string
	m     Manifest
	tag   string

	saves  int    // attempts; each uses new object names, since a failed one may have left objects
	commit int    // the commit of crawl.db that was saved last; 0: none
	pages  []page // of the crawl.db saved last; nil: unknown
	ends   []int  // for the base and each delta: the save whose crawl.db it yields
}

// Claim makes owner the only one that may save the archive of a site, and starts a run.
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

// Manifest returns the manifest as last written.
func (a *Archive) Manifest() Manifest { return a.m }

// Prefix returns the prefix of segment names in this epoch, so that two owners never write the
// same name.
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
