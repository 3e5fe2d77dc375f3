package store

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"curtsy/storage"
)

// epochs matches the epoch in object names: "e12-3.zst" of a crawl.db, "100+20.e12-3" of a
// piece, "curtsy-e12-20260102030405-00000.warc.gz".
var epochs = regexp.MustCompile(`(?:/db/e|\.e)(\d{1,18})-[^/]*$|-e(\d{1,18})-\d{14}-[^/]*$`)

func epochOf(key string) (int64, bool) {
	m := epochs.FindStringSubmatch(key)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(m[1]+m[2], 10, 64)
	return n, err == nil
}

// Restore writes the archive of a manifest to dir, which must not exist. On an error nothing is
// left.
func Restore(ctx context.Context, s Store, m *Manifest, dir string) error {
	return restored(ctx, s, m, dir, func(string, map[uint64]int) error { return nil })
}

// Restore writes the claimed archive to dir, which must not exist. Save does not send unchanged
// parts of it again.
func (a *Archive) Restore(ctx context.Context, dir string) error {
	return restored(ctx, a.store, &a.m, dir, a.inherit)
}

// inherit marks the pages of a restored crawl.db as saved: those of the base by save 0, those
// of each delta by the save of its number.
func (a *Archive) inherit(dir string, from map[uint64]int) error {
	src, err := storage.OpenRead(dir)
	if err != nil {
		return err
	}
	defer src.Close()
	commit, _, err := src.LastCommit()
	if err != nil {
		return err
	}
	f, err := os.Open(filepath.Join(dir, "crawl.db"))
	if err != nil {
		return err
	}
	defer f.Close()
	p := pager{w: bufio.NewWriter(io.Discard)}
	if _, err := io.Copy(&p, f); err != nil {
		return err
	}
	for i := range p.now {
		p.now[i].save = from[uint64(i)]
	}
	a.commit, a.pages, a.saves, a.ends = commit, p.now, len(a.m.Deltas), nil
	for i := range len(a.m.Deltas) + 1 {
		a.ends = append(a.ends, i)
	}
	return p.end()
}

func restored(ctx context.Context, s Store, m *Manifest, dir string,
	then func(dir string, from map[uint64]int) error) error {
	if m.DB == nil {
		return fmt.Errorf("restore %s: nothing of it has been saved yet: %w", dir, ErrNotFound)
	}
	if _, err := os.Lstat(dir); err == nil {
		return fmt.Errorf("restore %s: it already exists", dir)
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Clean(dir)), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(filepath.Clean(dir)), ".restore-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	from, err := restore(ctx, s, m, tmp)
	if err == nil {
		err = then(tmp, from)
	}
	if err != nil {
		return fmt.Errorf("restore %s: %w", dir, err)
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	return os.Rename(tmp, dir)
}

// restore writes the files, and returns for each page of crawl.db that came from deltas the
// number of the last one, from 1.
func restore(ctx context.Context, s Store, m *Manifest, dir string) (from map[uint64]int, err error) {
	if err := os.Mkdir(filepath.Join(dir, "warc"), 0o755); err != nil {
		return nil, err
	}
	site := m.DB.Key[:strings.LastIndex(m.DB.Key, "/db/")]
	for _, seg := range m.Segments {
		if err := restoreSegment(ctx, s, site, seg, filepath.Join(dir, "warc", seg.Name)); err != nil {
			return nil, err
		}
	}
	path := filepath.Join(dir, "crawl.db")
	err = unpacked(ctx, s, m.DB, path, func(r io.Reader) error {
		return create(path, func(w io.Writer) error {
			_, err := io.Copy(w, r)
			return err
		})
	})
	from = map[uint64]int{}
	for i, d := range m.Deltas {
		if err == nil {
			err = unpacked(ctx, s, &d, path, func(r io.Reader) error {
				return restoreDelta(path, r, d.DBSize, func(page uint64) { from[page] = i + 1 })
			})
		}
	}
	return from, err
}

func restoreDelta(path string, r io.Reader, size int64, had func(page uint64)) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(apply(f, r, size, had), f.Sync(), f.Close())
}

// restoreSegment writes a segment, truncated to the size in the manifest. The object may be
// longer, if a fenced owner wrote it.
func restoreSegment(ctx context.Context, s Store, site string, seg Segment, path string) error {
	pieces := seg.Tail
	if seg.Sealed {
		pieces = []Piece{{Key: site + "/warc/" + seg.Name, Size: seg.Size}}
	}
	return create(path, func(w io.Writer) error {
		for _, p := range pieces {
			if err := copyObject(ctx, s, p.Key, p.Size, w); err != nil {
				return err
			}
		}
		return nil
	})
}

func create(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	err = write(f)
	return errors.Join(err, f.Sync(), f.Close())
}

func copyObject(ctx context.Context, s Store, key string, size int64, w io.Writer) error {
	r, has, err := s.Open(ctx, key)
	if err != nil {
		return err
	}
	defer r.Close()
	if has < size {
		return fmt.Errorf("%s: %d bytes, the manifest says %d", key, has, size)
	}
	_, err = io.CopyN(w, r, size)
	return err
}

// unpacked copies a part of crawl.db, verifies its checksum, and passes its decompressed
// content to use.
func unpacked(ctx context.Context, s Store, b *Blob, path string, use func(io.Reader) error) error {
	packed := path + ".zst"
	defer os.Remove(packed)
	h := sha256.New()
	err := create(packed, func(w io.Writer) error { return copyObject(ctx, s, b.Key, b.Size, io.MultiWriter(w, h)) })
	if err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != b.SHA256 {
		return fmt.Errorf("%s: checksum mismatch", b.Key)
	}
	f, err := os.Open(packed)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return err
	}
	defer z.Close()
	return use(z)
}
