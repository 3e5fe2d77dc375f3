package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// scanner reads a segment record by record, without crawl.db.
type scanner struct {
	name  string
	file  *os.File
	size  int64
	w     *warc.Reader
	probe warc.Probe
	r     *Report
	found func(*crawllog.Recovered) error
	lost  func(url string)

	info Info
	open *crawllog.Recovered // the capture whose records are being read
	torn bool                // there was damage since: further records do not extend its length
	end  int64               // end of the last valid record of a capture
	stop error               // error of found, not of the segment
}

// read opens the segment and scans it.
func (s *scanner) read(d *directory, from int64) error {
	f, err := d.open(segmentFile(s.name))
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	s.file, s.size = f, st.Size()
	return s.scan(from)
}

// scan reads a segment from an offset to its end. Damage is reported and skipped; it fails only if found
// returns an error or the segment cannot be read at present, which is not damage.
func (s *scanner) scan(from int64) error {
	s.w = warc.NewReader(io.NewSectionReader(s.file, from, s.size-from), from)
	for at := from; at < s.size; {
		err := s.record()
		switch {
		case err == io.EOF:
			return s.close()
		case s.stop != nil:
			return s.stop
		case err == nil:
			at = s.w.End()
			continue
		case IsDisk(err):
			return err
		}
		s.torn = true
		next, broken := s.resync(at + 1)
		if broken != nil {
			return broken
		}
		s.r.add(DamageError{File: segmentFile(s.name), Offset: at, What: fmt.Sprintf("%d bytes cannot be kept: %v",
			next-at, err)})
		at = next
		s.w.Reset(io.NewSectionReader(s.file, at, s.size-at), at)
	}
	return s.close()
}

// record reads one record and processes it by its type.
func (s *scanner) record() error {
	h, err := s.w.Next()
	if err != nil {
		return err
	}
	s.r.Records++
	if h.Type == warc.TypeInfo {
		return s.warcinfo(h)
	}
	if s.info.id == "" {
		s.info.id = h.WarcinfoID // the warcinfo record is damaged; this record has its id
	}
	if h.WarcinfoID != s.info.id {
		// After damage, what looks like a record may be content from a site, which cannot know this id.
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

// extend adds a record to the capture that it refers to. If that is damaged, the record is useless.
func (s *scanner) extend(h *warc.Header) error {
	of := h.ConcurrentTo
	if h.Type == warc.TypeConversion { // conversion records must not have WARC-Concurrent-To (ISO 28500 §5.7)
		of = h.RefersTo
	}
	if s.open == nil || s.open.Visit.Record.ID != of {
		return fmt.Errorf("a %s record without a response", h.Type)
	}
	if !s.torn {
		s.open.Visit.Record.Length = s.w.End() - s.open.Visit.Record.Offset
	}
	return nil
}

func (s *scanner) warcinfo(h *warc.Header) error {
	var fields map[string]string
	err := readBlock(s.w, h, func(block io.Reader) (err error) {
		fields, err = warc.ReadFields(block)
		return err
	})
	if err == nil && s.w.Offset() == 0 {
		s.info, s.end = infoOf(s.name, h, fields), s.w.End()
	}
	return err
}

// Captures iterates over the captures in the segments of dir, oldest segment first, without crawl.db. What cannot
// be read is left out.
func Captures(dir string) iter.Seq[*crawllog.Recovered] {
	return func(yield func(*crawllog.Recovered) bool) {
		d, err := openDirectory(dir)
		if err != nil {
			return
		}
		defer d.close()
		names, _ := d.segmentNames()
		for _, name := range names {
			_, err := d.scanSegment(name, &Report{}, func(c *crawllog.Recovered) error {
				if !yield(c) {
					return errEnough
				}
				return nil
			}, func(string) {})
			if err == errEnough {
				return
			}
		}
	}
}

// holdsMore reports whether a segment has more captures from an offset on than a kill can leave.
func (d *directory) holdsMore(name string, from int64, infoID string) (bool, error) {
	n := 0
	s := &scanner{name: name, r: &Report{}, lost: func(string) {}, info: Info{id: infoID},
		found: func(*crawllog.Recovered) error {
			if n++; n > MaxGroup {
				return errEnough
			}
			return nil
		}}
	err := s.read(d, from)
	if err == errEnough {
		return true, nil
	}
	return false, err
}

// errEnough ends a scan.
var errEnough = errors.New("enough")

// scanSegment reads one segment and returns the entry for its valid part.
func (d *directory) scanSegment(name string, r *Report, found func(*crawllog.Recovered) error,
	lost func(url string)) (e segmentEntry, err error) {
	s := &scanner{name: name, r: r, lost: lost, found: func(c *crawllog.Recovered) error {
		r.Visits++
		return found(c)
	}}
	if err := s.read(d, 0); err != nil {
		return e, err
	}
	r.Segments++
	r.Bytes += s.end
	return segmentEntry{Size: s.end, InfoID: s.info.id}, nil
}

// close passes the open capture to found.
func (s *scanner) close() error {
	c := s.open
	if s.open = nil; c == nil {
		return nil
	}
	s.end = c.Visit.Record.Offset + c.Visit.Record.Length
	s.stop = s.found(c)
	return s.stop
}

// resync returns the offset of the next record at or after an offset; the end of the segment if there is
// none.
func (s *scanner) resync(from int64) (int64, error) {
	magic := []byte{0x1f, 0x8b, 8}
	buf := make([]byte, 64<<10)
	var probe [warc.ProbeSize]byte
	for at := dataFrom(s.file, from, s.size); at < s.size; at = dataFrom(s.file, at, s.size) {
		n, err := s.file.ReadAt(buf, at)
		if err != nil && err != io.EOF {
			return at, err
		}
		i := bytes.Index(buf[:n], magic)
		switch {
		case i >= 0:
			at += int64(i)
			m, err := s.file.ReadAt(probe[:], at)
			if err != nil && err != io.EOF {
				return at, err
			}
			if s.probe.Begins(probe[:m]) {
				return at, nil
			}
			at++
		case n < len(buf):
			return s.size, nil
		default:
			at += int64(n - len(magic) + 1)
		}
	}
	return s.size, nil
}
