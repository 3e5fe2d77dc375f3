// Package extsort sorts more lines than fit in memory: it sorts runs in memory, writes them to
// temporary files, and merges these while they are read.
package extsort

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"os"
	"slices"
)

// runSize is the number of octets of lines and their index that are sorted in memory at once.
const runSize = 16 << 20

// Sorter takes lines in any order and returns them sorted by octets.
type Sorter struct {
	dir   string
	size  int
	buf   []byte
	lines []line
	runs  []*os.File
}

type line struct{ from, to uint32 }

const sizeOfLine = 8

// New makes a sorter with temporary files in dir. Close removes them.
func New(dir string) *Sorter { return &Sorter{dir: dir, size: runSize} }

// Add copies a line, which may contain any octets.
func (s *Sorter) Add(text []byte) error {
	if len(s.lines) > 0 && len(s.buf)+len(text)+sizeOfLine*len(s.lines) > s.size {
		if err := s.spill(); err != nil {
			return err
		}
	}
	from := uint32(len(s.buf))
	s.buf = append(s.buf, text...)
	s.lines = append(s.lines, line{from, uint32(len(s.buf))})
	return nil
}

func (s *Sorter) of(l line) []byte { return s.buf[l.from:l.to] }

func (s *Sorter) sort() {
	slices.SortFunc(s.lines, func(a, b line) int {
		return cmp.Or(bytes.Compare(s.of(a), s.of(b)), cmp.Compare(a.from, b.from))
	})
}

// spill writes the lines in memory to a file as a sorted run.
func (s *Sorter) spill() error {
	s.sort()
	f, err := os.CreateTemp(s.dir, ".curtsy-sort-*")
	if err != nil {
		return err
	}
	s.runs = append(s.runs, f)
	_ = os.Remove(f.Name()) // on Unix, the file vanishes even if the process is killed
	w := bufio.NewWriterSize(f, 256<<10)
	var size [binary.MaxVarintLen64]byte
	for _, l := range s.lines {
		n := binary.PutUvarint(size[:], uint64(l.to-l.from))
		_, _ = w.Write(size[:n]) // Flush returns the error
		_, _ = w.Write(s.of(l))
	}
	s.buf, s.lines = s.buf[:0], s.lines[:0]
	return w.Flush()
}

// Sorted yields the lines in order. A line is valid until the next one. Nothing may be added
// afterwards.
func (s *Sorter) Sorted() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if err := s.merge(func(text []byte) bool { return yield(text, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

func (s *Sorter) merge(yield func([]byte) bool) error {
	if len(s.runs) == 0 {
		s.sort()
		for _, l := range s.lines {
			if !yield(s.of(l)) {
				return nil
			}
		}
		return nil
	}
	if len(s.lines) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
		s.buf, s.lines = nil, nil
	}
	h, err := s.open()
	if err != nil {
		return err
	}
	for len(h) > 0 {
		if !yield(h[0].text) {
			return nil
		}
		switch err := h[0].next(); {
		case err == io.EOF:
			heap.Pop(&h)
		case err != nil:
			return err
		default:
			heap.Fix(&h, 0)
		}
	}
	return nil
}

// open opens all runs for reading.
func (s *Sorter) open() (h runs, err error) {
	for i, f := range s.runs {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		r := &run{n: i, r: bufio.NewReaderSize(f, 64<<10)}
		if err := r.next(); err != nil {
			return nil, err
		}
		h = append(h, r)
	}
	heap.Init(&h)
	return h, nil
}

// Close removes the temporary files.
func (s *Sorter) Close() error {
	var all error
	for _, f := range s.runs {
		all = errors.Join(all, f.Close())
		_ = os.Remove(f.Name())
	}
	s.runs, s.buf, s.lines = nil, nil, nil
	return all
}

// run is a sorted file being merged.
type run struct {
	n    int
	r    *bufio.Reader
	text []byte
}

// next reads the next line; io.EOF after the last.
func (r *run) next() error {
	n, err := binary.ReadUvarint(r.r)
	if err != nil {
		return err
	}
	r.text = slices.Grow(r.text[:0], int(n))[:n]
	if _, err = io.ReadFull(r.r, r.text); err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// runs is a heap with the smallest line first.
type runs []*run

func (h runs) Len() int { return len(h) }
func (h runs) Less(i, j int) bool {
	return cmp.Or(bytes.Compare(h[i].text, h[j].text), h[i].n-h[j].n) < 0
}
func (h runs) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *runs) Push(x any)   { *h = append(*h, x.(*run)) }
func (h *runs) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
