package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"curtsy/storage/warc"
)

// scanner reads a segment whose index is lost, record by record.
type scanner struct {
	name  string
	file  *os.File
	size  int64
	w     *warc.Reader
	probe warc.Probe
	r     *Report
	found func(*Capture) error
	lost  func(url string)

	info Info
	open *Capture // whose records are being read
	torn bool     // what follows lies behind damage, and is no part of it
	end  int64    // behind the last good record of a capture
}

// scan reads a segment from end to end. What is damaged is told to the report
// and passed over; only found's error ends it.
func (s *scanner) scan() error {
	s.w = warc.NewReader(s.file, 0)
	for at := int64(0); at < s.size; {
		err := s.record()
		var stop *stopError
		switch {
		case err == io.EOF:
			return s.close()
		case errors.As(err, &stop):
			return stop.err
		case err == nil:
			at = s.w.End()
			continue
		}
		s.torn = true
		next := s.resync(at + 1)
		s.r.add(Problem{File: filepath.Join(warcDir, s.name), Offset: at, What: fmt.Sprintf("%d bytes cannot be kept: %v", next-at, err)})
		at = next
		s.w.Reset(io.NewSectionReader(s.file, at, s.size-at), at)
	}
	return s.close()
}

// stopError is an error of whoever is told, not of the segment.
type stopError struct{ err error }

func (e *stopError) Error() string { return e.err.Error() }

// record reads one record and puts it where it belongs.
func (s *scanner) record() error {
	h, err := s.w.Next()
	if err != nil {
		return err
	}
	s.r.Records++
	if h.Type == warc.TypeInfo {
		return s.warcinfo(h)
	}
	if s.info.ID == "" {
		s.info.ID = h.WarcinfoID // the warcinfo record is damaged, and this names it
	}
	if h.WarcinfoID != s.info.ID {
		// Behind damage, what looks like a record may be part of what a site
		// sent. It cannot know this id.
		return fmt.Errorf("a %s record of another segment", h.Type)
	}
	switch {
	case h.Type == warc.TypeResponse || h.Type == warc.TypeRevisit:
		return s.answer(h)
	case h.Type == warc.TypeMetadata:
		return s.metadata(h)
	}
	if err := readBlock(s.w, h, func(io.Reader) error { return nil }); err != nil {
		return err
	}
	return s.extend(h)
}

// extend makes a record part of the capture that it names. One whose capture
// is damaged is of no use.
func (s *scanner) extend(h *warc.Header) error {
	if s.open == nil || s.open.Visit.Record.ID != h.ConcurrentTo {
		return fmt.Errorf("a %s record beside no response", h.Type)
	}
	if !s.torn {
		s.open.Visit.Record.Length = s.w.End() - s.open.Visit.Record.Offset
	}
	return nil
}

func (s *scanner) warcinfo(h *warc.Header) error {
	var fields map[string]string
	err := readBlock(s.w, h, func(block io.Reader) (err error) {
		fields, err = readFields(block)
		return err
	})
	if err == nil && s.w.Offset() == 0 {
		s.info, s.end = infoOf(s.name, h, fields), s.w.End()
	}
	return err
}

// First is the first capture in the segments of dir that is wanted; nil if
// there is none.
func First(dir string, wanted func(*Capture) bool) *Capture {
	return firstOf(dir, segmentNames(dir), wanted)
}

func firstOf(dir string, names []string, wanted func(*Capture) bool) (first *Capture) {
	stop := errors.New("found")
	for _, name := range names {
		_, _ = scanSegment(dir, name, &Report{}, func(c *Capture) error {
			if !wanted(c) {
				return nil
			}
			first = c
			return stop
		}, func(string) {})
		if first != nil {
			return first
		}
	}
	return nil
}

// scanSegment reads one segment and says how much of it is of use.
func scanSegment(dir, name string, r *Report, found func(*Capture) error, lost func(url string)) (e segmentEntry, err error) {
	f, err := os.Open(filepath.Join(dir, warcDir, name))
	if err != nil {
		return e, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return e, err
	}
	s := &scanner{name: name, file: f, size: st.Size(), r: r, lost: lost, found: func(c *Capture) error {
		r.Visits++
		return found(c)
	}}
	if err := s.scan(); err != nil {
		return e, err
	}
	r.Segments++
	r.Bytes += s.end
	return segmentEntry{Size: s.end, InfoID: s.info.ID}, nil
}

// close tells of the capture whose records have been read.
func (s *scanner) close() error {
	c := s.open
	if s.open = nil; c == nil {
		return nil
	}
	s.end = c.Visit.Record.Offset + c.Visit.Record.Length
	return s.found(c)
}

// resync finds where the next record begins, at or behind an offset; the
// segment's end if there is none.
func (s *scanner) resync(from int64) int64 {
	magic := []byte{0x1f, 0x8b, 8}
	buf := make([]byte, 64<<10)
	for at := from; at < s.size; {
		n, _ := s.file.ReadAt(buf, at)
		i := bytes.Index(buf[:n], magic)
		switch {
		case i >= 0 && s.begins(at+int64(i)):
			return at + int64(i)
		case i >= 0:
			at += int64(i) + 1
		case n < len(buf):
			return s.size
		default:
			at += int64(n - len(magic) + 1)
		}
	}
	return s.size
}

// begins says whether a record begins at an offset.
func (s *scanner) begins(at int64) bool {
	var b [warc.ProbeSize]byte
	n, _ := s.file.ReadAt(b[:], at)
	return s.probe.Begins(b[:n])
}
