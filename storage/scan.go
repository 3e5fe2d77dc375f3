package storage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"curtsy/storage/warc"
)

// Capture is a visit as its records alone tell of it: without the ids that
// crawl.db gave it.
type Capture struct {
	Visit *Visit
	Note  Note
	Via   string // the URL that led here
	Depth int    // links from the seed
	Noted bool   // its metadata record is there, and has a Note
}

// segmentName is how Curtsy names segments. Other files in the directory are
// somebody else's.
var segmentName = regexp.MustCompile(`-(\d{14}-\d{5}(-r\d+)?)\.warc\.gz$`)

// segmentNames lists the segments in the order in which they were written,
// whatever their prefix; a repaired one is in the place of the one that it was.
func segmentNames(dir string) []string {
	paths, _ := filepath.Glob(filepath.Join(dir, warcDir, "*.warc.gz"))
	var names []string
	for _, p := range paths {
		if name := filepath.Base(p); segmentName.MatchString(name) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return strings.Compare(segmentName.FindString(a), segmentName.FindString(b))
	})
	return names
}

// stem is the name of a segment without the mark of a repair.
func stem(name string) string {
	m := segmentName.FindStringSubmatchIndex(name)
	if m == nil || m[4] < 0 {
		return name
	}
	return name[:m[4]] + name[m[5]:]
}

// scanner reads a segment whose index is lost, record by record.
type scanner struct {
	name  string
	file  *os.File
	size  int64
	w     *warc.Reader
	r     *Report
	found func(*Capture) error
	lost  func(url string)

	info  Info
	infos string   // the warcinfo record that records name
	open  *Capture // whose records are being read
	torn  bool     // what follows lies behind damage, and is no part of it
	end   int64    // behind the last good record of a capture
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
	if s.infos == "" {
		s.infos = h.WarcinfoID
	}
	switch {
	case h.Type == warc.TypeInfo:
		return s.warcinfo(h)
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

// answer begins the capture of a response or of a revisit.
func (s *scanner) answer(h *warc.Header) error {
	if err := s.close(); err != nil {
		return &stopError{err}
	}
	v := s.visitOf(h)
	v.Kept = KeptResponse
	if h.Type == warc.TypeRevisit {
		v.Kept = KeptRevisit
	}
	if err := readBlock(s.w, h, func(block io.Reader) error { return readAnswer(block, h, v) }); err != nil {
		s.lost(h.TargetURI)
		return err
	}
	v.Record.Length = s.w.End() - v.Record.Offset
	s.open, s.torn = &Capture{Visit: v}, false
	return nil
}

func (s *scanner) visitOf(h *warc.Header) *Visit {
	return &Visit{URL: h.TargetURI, At: h.Date, Digest: h.PayloadDigest, Truncated: h.Truncated,
		Record: &Record{Segment: s.name, Offset: s.w.Offset(), ID: h.ID}}
}

// readAnswer takes from the block of a response what a visit says of it, and
// holds the payload against its digest.
func readAnswer(block io.Reader, h *warc.Header, v *Visit) error {
	var head bytes.Buffer
	r, err := ReadHTTP(io.TeeReader(block, &limited{&head, 64}))
	if err != nil { // a head too broken to read again; the block digest still guards it
		v.Status = statusOf(head.Bytes())
		return nil
	}
	v.Status, v.ContentType, v.Location = r.Status, r.Header.Get("Content-Type"), r.Header.Get("Location")
	if h.Type != warc.TypeResponse {
		return nil
	}
	d, n, err := warc.SumReader(r.Body)
	if err != nil && h.Truncated == "" {
		return err
	}
	if v.Length = n; h.PayloadDigest != "" && h.PayloadDigest != d.String() {
		return fmt.Errorf("%w: %d bytes, %s; the record says %s", errPayload, n, d, h.PayloadDigest)
	}
	return nil
}

// limited keeps the first octets of what is written to it.
type limited struct {
	*bytes.Buffer
	most int
}

func (l *limited) Write(p []byte) (int, error) {
	l.Buffer.Write(p[:min(len(p), max(l.most-l.Len(), 0))])
	return len(p), nil
}

// statusOf reads "HTTP/1.1 200".
func statusOf(head []byte) int {
	_, rest, _ := bytes.Cut(head, []byte(" "))
	n, _ := strconv.Atoi(string(rest[:min(len(rest), 3)]))
	return n
}

// metadata ends a capture, or is one by itself where the response is withheld.
func (s *scanner) metadata(h *warc.Header) error {
	var fields map[string]string
	if err := readBlock(s.w, h, func(block io.Reader) (err error) {
		fields, err = readFields(block)
		return err
	}); err != nil {
		return err
	}
	if h.ConcurrentTo == "" && fields["withheld"] != "" {
		if err := s.close(); err != nil {
			return &stopError{err}
		}
		v := s.visitOf(h)
		v.Kept = KeptWithheld
		v.Status, _ = strconv.Atoi(fields["status"])
		s.open, s.torn = &Capture{Visit: v}, false
		h.ConcurrentTo = v.Record.ID
	}
	if err := s.extend(h); err != nil {
		return err
	}
	s.open.read(fields)
	if err := s.close(); err != nil {
		return &stopError{err}
	}
	return nil
}

// read takes in what the metadata record says.
func (c *Capture) read(fields map[string]string) {
	c.Via = fields["via"]
	c.Depth, _ = strconv.Atoi(fields["hopsFromSeed"])
	c.Noted = json.Unmarshal([]byte(fields[FieldVisit]), &c.Note) == nil
	v := c.Visit
	if w := c.Note.Withheld; w != nil && v.Kept == KeptWithheld && w.URL == v.URL {
		w.Record, w.Kept, w.Digest, w.Title = v.Record, v.Kept, "", ""
		c.Visit, v = w, w
	}
	ms, _ := strconv.ParseInt(fields["fetchTimeMs"], 10, 64)
	v.Took, v.Class, v.Waited, v.Delay = time.Duration(ms)*time.Millisecond, c.Note.Class, c.Note.Waited, c.Note.Delay
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
	if s.info.ID == "" {
		s.info.ID = s.infos // damaged, and its records name it
	}
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
	s.w.Reset(io.NewSectionReader(s.file, at, s.size-at), at)
	_, err := s.w.Next()
	return err == nil
}
