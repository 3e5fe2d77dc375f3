package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"curtsy/storage"
)

// Save brings the archive in dir to the store, as of its last commit; a crawl
// may be writing to it. The order is data before the pointer to it: segments
// and pieces, crawl.db, the manifest. With last, all segments are sealed: the
// next owner begins one of its own. With ErrFenced nothing of it counts.
func (a *Archive) Save(ctx context.Context, dir, prefix string, run Run, last bool) error {
	db, list, err := snapshot(dir)
	if err != nil {
		return fmt.Errorf("save %s: %w", a.site, err)
	}
	defer os.Remove(db)
	next := a.m
	next.Seq++
	next.Run = run
	next.Segments = nil
	for i, s := range list {
		open := !last && i == len(list)-1 && strings.HasPrefix(s.Name, prefix+"-")
		seg, err := a.segment(ctx, dir, s, open)
		if err != nil {
			return fmt.Errorf("save %s: %w", a.site, err)
		}
		next.Segments = append(next.Segments, seg)
	}
	if next.DB, err = a.putDB(ctx, db, fmt.Sprintf("%s/db/e%d-%d.zst", a.site, next.Epoch, next.Seq)); err != nil {
		return fmt.Errorf("save %s: %w", a.site, err)
	}
	had := a.m
	a.m = next
	if err := a.swap(ctx); err != nil {
		a.m = had
		return err
	}
	return a.replaced(ctx, &had)
}

// replaced removes what the manifest before named and this one does not.
func (a *Archive) replaced(ctx context.Context, had *Manifest) (err error) {
	now := a.m.keys(a.site)
	for key := range had.keys(a.site) {
		if !now[key] {
			err = errors.Join(err, a.store.Remove(ctx, key))
		}
	}
	return err
}

// keys are the objects that a manifest names.
func (m *Manifest) keys(site string) map[string]bool {
	keys := map[string]bool{}
	if m.DB != nil {
		keys[m.DB.Key] = true
	}
	for _, s := range m.Segments {
		if s.Sealed {
			keys[site+"/warc/"+s.Name] = true
		}
		for _, p := range s.Tail {
			keys[p.Key] = true
		}
	}
	return keys
}

// snapshot writes crawl.db, compressed, to a file beside the archive.
func snapshot(dir string) (path string, list []storage.SegmentSize, err error) {
	src, err := storage.OpenRead(dir)
	if err != nil {
		return "", nil, err
	}
	defer src.Close()
	f, err := os.CreateTemp(filepath.Dir(filepath.Clean(dir)), ".snapshot-*")
	if err != nil {
		return "", nil, err
	}
	z, err := zstd.NewWriter(f, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(256<<10), zstd.WithLowerEncoderMem(true)) // one for each save: its buffers cost more than they find
	if err == nil {
		list, err = src.Snapshot(z)
		err = errors.Join(err, z.Close())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
	}
	return f.Name(), list, err
}

// segment brings what is new of a segment to the store.
func (a *Archive) segment(ctx context.Context, dir string, s storage.SegmentSize, open bool) (seg Segment, err error) {
	seg = a.m.segment(s.Name)
	if seg.Sealed {
		if seg.Size != s.Size {
			return seg, fmt.Errorf("%s: sealed with %d bytes, now has %d", s.Name, seg.Size, s.Size)
		}
		return seg, nil
	}
	f, err := os.Open(filepath.Join(dir, "warc", s.Name))
	if err != nil {
		return seg, err
	}
	defer f.Close()
	if !open {
		err := a.store.Put(ctx, a.site+"/warc/"+s.Name, io.NewSectionReader(f, 0, s.Size))
		return Segment{Name: s.Name, Size: s.Size, Sealed: true}, err
	}
	if s.Size < seg.Size {
		return seg, fmt.Errorf("%s: %d bytes were saved, now it has %d", s.Name, seg.Size, s.Size)
	}
	if s.Size == seg.Size {
		return seg, nil
	}
	p := Piece{Offset: seg.Size, Size: s.Size - seg.Size}
	p.Key = fmt.Sprintf("%s/tail/%s/%d+%d.e%d-%d", a.site, s.Name, p.Offset, p.Size, a.m.Epoch, a.m.Seq+1)
	if err := a.store.Put(ctx, p.Key, io.NewSectionReader(f, p.Offset, p.Size)); err != nil {
		return seg, err
	}
	seg.Tail = append(seg.Tail[:len(seg.Tail):len(seg.Tail)], p)
	seg.Size = s.Size
	return seg, nil
}

func (m *Manifest) segment(name string) Segment {
	for _, s := range m.Segments {
		if s.Name == name {
			return s
		}
	}
	return Segment{Name: name}
}

func (a *Archive) putDB(ctx context.Context, path, key string) (*Blob, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return nil, err
	}
	// A save that failed, and may have left the object, has the same number.
	if err := a.store.Remove(ctx, key); err != nil {
		return nil, err
	}
	return &Blob{key, n, hex.EncodeToString(h.Sum(nil))}, a.store.Put(ctx, key, io.NewSectionReader(f, 0, n))
}

// Sweep removes what no manifest names: what owners left that were fenced, or
// that died between data and pointer. Objects of later epochs are another's.
func (a *Archive) Sweep(ctx context.Context) (n int, err error) {
	if m, _, err := load(ctx, a.store, a.site); err != nil || m.Epoch != a.m.Epoch {
		return 0, errors.Join(err, fencedIf(err == nil, a.site))
	}
	named := a.m.keys(a.site)
	for _, part := range []string{"/db/", "/tail/", "/warc/"} {
		for o, err := range a.store.List(ctx, a.site+part) {
			if err != nil {
				return n, err
			}
			if epoch, ok := epochOf(o.Key); named[o.Key] || !ok || epoch > a.m.Epoch {
				continue
			}
			if err := a.store.Remove(ctx, o.Key); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

func fencedIf(is bool, site string) error {
	if is {
		return fmt.Errorf("%s: %w", site, ErrFenced)
	}
	return nil
}
