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
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"curtsy/storage"
)

// Save saves the archive in dir as of its last commit; a crawl may be writing to it. Without a
// new commit it writes nothing; otherwise it writes new parts of the segments and changes of
// crawl.db. Data is written before the pointer to it: segments and pieces, crawl.db, manifest.
// With last, all segments are sealed, since the next owner starts its own. After ErrFenced
// nothing of it counts.
func (a *Archive) Save(ctx context.Context, dir, prefix string, run Run, last bool) error {
	src, err := storage.OpenRead(dir)
	if err != nil {
		return fmt.Errorf("save %s: %w", a.site, err)
	}
	defer src.Close()
	commit, _, err := src.LastCommit()
	if err != nil {
		return fmt.Errorf("save %s: %w", a.site, err)
	}
	if !last && commit == a.commit {
		return a.owned(ctx)
	}
	a.saves++
	s := &saving{Archive: a, next: a.m, run: run}
	defer func() { os.Remove(s.file) }()
	if err := s.write(ctx, src, dir, prefix, last); err != nil {
		return fmt.Errorf("save %s: %w", a.site, err)
	}
	had := a.m
	a.m = s.next
	if err := a.swap(ctx); err != nil {
		a.m = had
		return err
	}
	a.commit, a.pages, a.ends = commit, s.pager.now, s.ends
	a.replaced(ctx, &had)
	return nil
}

// owned returns ErrFenced if another owner has claimed the site.
func (a *Archive) owned(ctx context.Context) error {
	_, tag, err := a.store.Get(ctx, a.site+"/MANIFEST")
	if err == nil && tag != a.tag || errors.Is(err, ErrNotFound) {
		return fmt.Errorf("%s: %w", a.site, ErrFenced)
	}
	return err
}

// saving is a save in progress.
type saving struct {
	*Archive
	next  Manifest
	run   Run
	pager pager
	ends  []int
	file  string // crawl.db or its changes, compressed, beside the archive
}

func (s *saving) write(ctx context.Context, src *storage.Archive, dir, prefix string, last bool) error {
	part, replaced := s.plan()
	list, err := s.snapshot(src, dir)
	if err != nil {
		return err
	}
	s.next.Seq, s.next.Run, s.next.Segments = int64(s.saves), s.run, nil
	for i, seg := range list {
		open := !last && i == len(list)-1 && strings.HasPrefix(seg.Name, prefix+"-")
		saved, err := s.segment(ctx, dir, seg, open)
		if err != nil {
			return err
		}
		s.next.Segments = append(s.next.Segments, saved)
	}
	if err := s.putDB(ctx, &part); err != nil {
		return err
	}
	if s.pager.after < 0 {
		s.next.DB, s.next.Deltas, s.ends = &part, nil, []int{s.saves}
		return nil
	}
	keep := len(s.m.Deltas) - replaced
	s.next.Deltas = append(slices.Clone(s.m.Deltas[:keep]), part)
	s.ends = append(slices.Clone(s.Archive.ends[:keep+1]), s.saves)
	return nil
}

// plan decides what of crawl.db is sent: the changes since the base or a delta, or a new base
// if the deltas exceed half of its size or the saved pages are unknown.
func (s *saving) plan() (part Blob, replaced int) {
	s.pager = pager{had: s.pages, save: s.saves, after: -1}
	part.Key = fmt.Sprintf("%s/db/e%d-%d.zst", s.site, s.next.Epoch, s.saves)
	deltas := int64(0)
	var saves []int
	for _, d := range s.m.Deltas {
		deltas += d.Size
		saves = append(saves, d.Saves)
	}
	if s.pages == nil || s.m.DB == nil || deltas > max(s.m.DB.Size/2, 64<<10) {
		return part, 0
	}
	replaced, part.Saves = fold(saves)
	s.pager.after = s.Archive.ends[len(saves)-replaced]
	return part, replaced
}

// End writes only how a run ended.
func (a *Archive) End(ctx context.Context, run Run) error {
	had := a.m
	a.saves++
	a.m.Seq, a.m.Run = int64(a.saves), run
	err := a.swap(ctx)
	if err != nil {
		a.m = had
	}
	return err
}

// replaced removes objects that the previous manifest named and this one does not. If that
// fails, as in a store that forbids deletion, they do no harm; Sweep tries again.
func (a *Archive) replaced(ctx context.Context, had *Manifest) {
	now := a.m.keys(a.site)
	for key := range had.keys(a.site) {
		if !now[key] && a.store.Remove(ctx, key) != nil {
			return
		}
	}
}

// keys returns the objects that a manifest names.
func (m *Manifest) keys(site string) map[string]bool {
	keys := map[string]bool{}
	if m.DB != nil {
		keys[m.DB.Key] = true
	}
	for _, d := range m.Deltas {
		keys[d.Key] = true
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

// snapshot writes crawl.db or its changes, compressed, to a file beside the archive.
func (s *saving) snapshot(src *storage.Archive, dir string) (list []storage.SegmentSize, err error) {
	f, err := os.CreateTemp(filepath.Dir(filepath.Clean(dir)), ".snapshot-*")
	if err != nil {
		return nil, err
	}
	s.file = f.Name()
	z, err := zstd.NewWriter(f, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(256<<10), zstd.WithLowerEncoderMem(true)) // larger buffers cost more than they save
	if err == nil {
		s.pager.w = bufio.NewWriter(z)
		if list, err = src.Snapshot(&s.pager); err == nil {
			err = s.pager.end()
		}
		err = errors.Join(err, z.Close())
	}
	return list, errors.Join(err, f.Close())
}

// segment saves the new part of a segment.
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
	var saves []int
	for _, p := range seg.Tail {
		saves = append(saves, p.Saves)
	}
	replaced, weight := fold(saves)
	keep, p := len(seg.Tail)-replaced, Piece{Offset: seg.Size, Saves: weight}
	if replaced > 0 {
		p.Offset = seg.Tail[keep].Offset
	}
	p.Size = s.Size - p.Offset
	p.Key = fmt.Sprintf("%s/tail/%s/%d+%d.e%d-%d", a.site, s.Name, p.Offset, p.Size, a.m.Epoch, a.saves)
	if err := a.store.Put(ctx, p.Key, io.NewSectionReader(f, p.Offset, p.Size)); err != nil {
		return seg, err
	}
	seg.Tail = append(seg.Tail[:keep:keep], p)
	seg.Size = s.Size
	return seg, nil
}

func (m *Manifest) segment(name string) Segment {
	if i := slices.IndexFunc(m.Segments, func(s Segment) bool { return s.Name == name }); i >= 0 {
		return m.Segments[i]
	}
	return Segment{Name: name}
}

func (s *saving) putDB(ctx context.Context, part *Blob) error {
	f, err := os.Open(s.file)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if part.Size, err = io.Copy(h, f); err != nil {
		return err
	}
	part.SHA256 = hex.EncodeToString(h.Sum(nil))
	if s.pager.after >= 0 {
		part.DBSize = int64(len(s.pager.now)) * pageSize
	}
	return s.store.Put(ctx, part.Key, io.NewSectionReader(f, 0, part.Size))
}

// Sweep removes objects that no manifest names: those of fenced owners, and of owners that died
// between data and pointer. Objects of later epochs belong to another owner.
func (a *Archive) Sweep(ctx context.Context) (n int, err error) {
	m, _, err := load(ctx, a.store, a.site)
	if err == nil && m.Epoch != a.m.Epoch {
		err = fmt.Errorf("%s: %w", a.site, ErrFenced)
	}
	if err != nil {
		return 0, err
	}
	named := a.m.keys(a.site)
	for _, part := range []string{"/db/", "/tail/", "/warc/"} {
		for key, err := range a.store.List(ctx, a.site+part) {
			if err != nil {
				return n, err
			}
			if epoch, ok := epochOf(key); named[key] || !ok || epoch > a.m.Epoch {
				continue
			}
			if err := a.store.Remove(ctx, key); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}
