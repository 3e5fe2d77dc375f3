package catalog

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"curtsy/storage"
)

const (
	fileName = "index.db"
	lockName = "index.lock" // held shared while index.db is open, exclusively while it is replaced
	keyName  = "index.key"
)

// errPlace means that the index cannot be kept in a directory.
var errPlace = errors.New("not writable, or it already holds the index.db of another archive")

// place is a directory for an index.db, with the secret that signs it.
type place struct {
	dir    string
	secret []byte // of this account, to sign index.db
	temp   bool   // deleted when the process ends
	lock   *flock.Flock
}

func (p *place) file() string { return filepath.Join(p.dir, fileName) }

// places lists where the index of an archive may be, best first: beside crawl.db, in the
// account's cache, in a temporary directory. Without a cache directory there is no stored
// secret and no file would be trusted again, so only the temporary directory is left.
func places(a *storage.Archive, cache string) []*place {
	temporary := &place{secret: newSecret(), temp: true}
	if cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return []*place{temporary}
		}
		cache = filepath.Join(base, "curtsy")
	}
	secret, err := secretIn(cache)
	if err != nil {
		return []*place{temporary}
	}
	abs, err := filepath.Abs(a.Dir())
	if err != nil {
		abs = a.Dir()
	}
	sum := sha256.Sum256([]byte(abs))
	own := filepath.Join(cache, "index-"+hex.EncodeToString(sum[:8]))
	return []*place{{dir: a.Dir(), secret: secret}, {dir: own, secret: secret}, temporary}
}

// secretIn reads the account's secret, and creates it the first time.
func secretIn(cache string) ([]byte, error) {
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(cache, keyName)
	if secret, err := os.ReadFile(path); err == nil && len(secret) == sha256.Size {
		return secret, nil
	}
	f, err := os.CreateTemp(cache, keyName)
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	secret := newSecret()
	_, err = f.Write(secret)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(f.Name(), path); err != nil { // another process was faster, or the file is damaged
		if again, err := os.ReadFile(path); err == nil && len(again) == sha256.Size {
			return again, nil
		}
		return secret, os.Rename(f.Name(), path)
	}
	return secret, nil
}

func newSecret() []byte {
	secret := make([]byte, sha256.Size)
	rand.Read(secret) // never fails
	return secret
}

// enter creates the directory if needed and takes the shared lock.
func (p *place) enter() (err error) {
	if p.temp {
		p.dir, err = os.MkdirTemp("", "curtsy-index-")
	} else if _, e := os.Stat(p.dir); errors.Is(e, fs.ErrNotExist) {
		err = os.MkdirAll(p.dir, 0o700)
	}
	if err != nil {
		return err
	}
	path := filepath.Join(p.dir, lockName)
	if st, err := os.Lstat(path); err == nil && !st.Mode().IsRegular() {
		if err := os.Remove(path); err != nil {
			return errors.Join(errPlace, err)
		}
	}
	p.lock = flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o644))
	if err := p.lock.RLock(); err != nil {
		return errors.Join(errPlace, err)
	}
	return nil
}

// leave releases the lock and deletes a temporary directory.
func (p *place) leave() error {
	if p.lock == nil {
		return nil
	}
	err := p.lock.Close()
	p.lock = nil
	if p.temp {
		err = errors.Join(err, os.RemoveAll(p.dir))
	}
	return err
}

// signature authenticates a file that this account made for this archive with these tables. It
// is stored in two header fields of the SQLite file that are reserved for applications, so that
// it can be checked before SQLite parses anything.
func (p *place) signature(a *storage.Archive) (userVersion, applicationID []byte) {
	key := a.Key()
	h := hmac.New(sha256.New, p.secret)
	h.Write([]byte(analysis + tables))
	h.Write(key[:])
	sum := h.Sum(nil)
	return sum[:4], sum[4:8]
}

// Offsets in the header (https://www.sqlite.org/fileformat.html, 1.3).
const (
	headSize        = 100
	userVersionAt   = 60
	applicationIDAt = 68
)

// trusted reports whether index.db exists and has this account's signature.
func (p *place) trusted(a *storage.Archive) bool {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		st, err := os.Lstat(p.file() + suffix)
		if suffix != "" && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || !st.Mode().IsRegular() {
			return false
		}
	}
	// A hostile rollback journal could name a file to delete; WAL mode leaves none.
	if _, err := os.Lstat(p.file() + "-journal"); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	f, err := os.OpenFile(p.file(), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, headSize)
	if _, err := io.ReadFull(f, head); err != nil {
		return false
	}
	version, id := p.signature(a)
	return hmac.Equal(head[userVersionAt:userVersionAt+4], version) &&
		hmac.Equal(head[applicationIDAt:applicationIDAt+4], id)
}
