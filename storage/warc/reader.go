package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
)

// errRecord reports that data is not a valid record.
var errRecord = errors.New("not a WARC 1.1 record")

// maxHead bounds the fields of one record, in octets.
const maxHead = 64 << 10

// Reader reads records one after another, each in a gzip member.
type Reader struct {
	Any    bool // accept any WARC version and uncompressed records
	src    counter
	buf    *bufio.Reader
	z      gzip.Reader
	inZ    *bufio.Reader // the output of z
	rec    *bufio.Reader // inZ, or buf if the record is uncompressed
	left   int64         // octets of the block not yet read
	offset int64
	open   bool
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

const readerBuf = 32 << 10 // octets of the longest line of a header

// NewReader reads from src, which begins at the given offset of the segment.
func NewReader(src io.Reader, offset int64) *Reader {
	r := &Reader{buf: bufio.NewReaderSize(nil, 64<<10), inZ: bufio.NewReaderSize(nil, readerBuf)}
	r.Reset(src, offset)
	return r
}

// Reset makes the reader start again on src.
func (r *Reader) Reset(src io.Reader, offset int64) {
	r.src = counter{src, offset}
	r.buf.Reset(&r.src)
	r.offset, r.open, r.left = offset, false, 0
}

// Offset returns where the record last returned by Next begins.
func (r *Reader) Offset() int64 { return r.offset }

// pos returns the offset up to which compressed data has been consumed.
func (r *Reader) pos() int64 { return r.src.n - int64(r.buf.Buffered()) }

// Next reads to the next record and returns its header; io.EOF at the end. The block can then be read with
// Read. After any other error, which means a damaged or invalid record, Reset must be called before the
// reader is used again.
func (r *Reader) Next() (*Header, error) {
	if r.open {
		if err := r.Finish(); err != nil {
			return nil, err
		}
	}
	r.offset = r.pos()
	if _, err := r.buf.Peek(1); err == io.EOF {
		return nil, io.EOF
	}
	if err := r.member(); err != nil {
		return nil, fmt.Errorf("record at %d: %w", r.offset, err)
	}
	h, err := readHeader(r.rec, r.Any)
	if err != nil {
		return nil, fmt.Errorf("record at %d: %w", r.offset, err)
	}
	r.left, r.open = h.Length, true
	return h, nil
}

func (r *Reader) member() error {
	if b, _ := r.buf.Peek(len("WARC/")); r.Any && string(b) == "WARC/" {
		r.rec = r.buf
		return nil
	}
	if err := r.z.Reset(r.buf); err != nil {
		return err
	}
	r.z.Multistream(false)
	r.inZ.Reset(&r.z)
	r.rec = r.inZ
	return nil
}

// Read reads the block of the current record.
func (r *Reader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, io.EOF
	}
	n, err := r.rec.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	if err == io.EOF && r.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	if err == io.EOF {
		err = nil
	}
	return n, err
}

// Finish reads the rest of the current record, and checks its end and the member's checksum. End then
// returns where the next record begins.
func (r *Reader) Finish() error {
	if !r.open {
		return nil
	}
	r.open = false
	if _, err := io.Copy(io.Discard, r); err != nil {
		return fmt.Errorf("record at %d: %w", r.offset, err)
	}
	if r.Any {
		return r.finishAny()
	}
	var tail [4]byte
	if _, err := io.ReadFull(r.rec, tail[:]); err != nil || string(tail[:]) != "\r\n\r\n" {
		return fmt.Errorf("record at %d: end: %w", r.offset, errRecord)
	}
	// gzip checks the checksum only when it is read to the end of the member.
	if _, err := r.rec.ReadByte(); err != io.EOF {
		if err == nil {
			err = errRecord
		}
		return fmt.Errorf("record at %d: end: %w", r.offset, err)
	}
	return nil
}

// finishAny skips line ends of any kind and number after a block.
func (r *Reader) finishAny() error {
	for {
		b, err := r.rec.ReadByte()
		if err == nil && b != '\r' && b != '\n' {
			if r.rec == r.buf {
				return r.rec.UnreadByte() // the next record begins here
			}
			err = errRecord
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("record at %d: end: %w", r.offset, err)
		}
	}
}

// CopyMembers copies the records in a part of a file, each as a gzip member; uncompressed ones are
// compressed. It returns the octets written.
func CopyMembers(w io.Writer, f io.ReaderAt, offset, length int64) (n int64, err error) {
	section := func(from, to int64) io.Reader { return io.NewSectionReader(f, from, to-from) }
	var begin [len("WARC/")]byte
	if _, err := f.ReadAt(begin[:], offset); err != nil || string(begin[:]) != "WARC/" {
		return io.Copy(w, section(offset, offset+length))
	}
	r := NewReader(section(offset, offset+length), offset)
	r.Any = true
	var written octets
	to := io.MultiWriter(w, &written)
	for z := gzip.NewWriter(nil); ; {
		if _, err = r.Next(); err == io.EOF {
			return int64(written), nil
		}
		if err == nil {
			err = r.Finish()
		}
		if err == nil {
			z.Reset(to)
			_, err = io.Copy(z, section(r.offset, r.End()))
		}
		if err == nil {
			err = z.Close()
		}
		if err != nil {
			return int64(written), err
		}
	}
}

// octets counts what is written to it.
type octets int64

func (n *octets) Write(p []byte) (int, error) {
	*n += octets(len(p))
	return len(p), nil
}

// Probe recognizes the beginnings of records.
type Probe struct {
	src bytes.Reader
	z   gzip.Reader
}

// ProbeSize is how many octets Probe needs.
const ProbeSize = 512

// Begins reports whether b is the beginning of a record.
func (p *Probe) Begins(b []byte) bool { return p.line(b) == version }

// beginsAny is Begins for any WARC version.
func (p *Probe) beginsAny(b []byte) bool { return strings.HasPrefix(p.line(b), "WARC/") }

// line decompresses as much of b as a version line has.
func (p *Probe) line(b []byte) string {
	p.src.Reset(b)
	var line [len(version)]byte
	err := p.z.Reset(&p.src)
	if err == nil {
		_, err = io.ReadFull(&p.z, line[:])
	}
	if err != nil {
		return ""
	}
	return string(line[:])
}

// End returns the offset after the last finished record.
func (r *Reader) End() int64 { return r.pos() }

// readHeader parses version line and fields. any accepts every version, and URLs in angle brackets as in
// 1.0.
func readHeader(r *bufio.Reader, any bool) (*Header, error) {
	line, err := readLine(r)
	if err != nil {
		return nil, err
	}
	if line != version && !(any && strings.HasPrefix(line, "WARC/")) {
		return nil, errRecord
	}
	h := &Header{Length: -1}
	for size := 0; ; {
		line, err := readLine(r)
		if err != nil {
			return nil, err
		}
		if line == "" {
			break
		}
		if size += len(line); size > maxHead {
			return nil, errRecord
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, errRecord
		}
		h.set(strings.ToLower(name), strings.TrimSpace(value))
	}
	if h.Type == "" || h.Length < 0 {
		return nil, errRecord
	}
	if any {
		h.TargetURI, h.RefersToURI = unbracket(h.TargetURI), unbracket(h.RefersToURI)
	}
	return h, nil
}

func readLine(r *bufio.Reader) (string, error) {
	line, err := r.ReadSlice('\n')
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(line), "\r\n"), nil
}

// dateForms are the forms of WARC-Date (ISO 28500 §5.4): of 1.1, which allows any precision, of earlier
// versions, and of ARC files.
var dateForms = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05", "20060102150405",
	"2006-01-02T15:04Z", "2006-01-02T15:04",
	"2006-01-02", "2006-01", "2006"}

// parseDate parses a date; zero if it is invalid.
func parseDate(value string) time.Time {
	for _, form := range dateForms {
		if t, err := time.Parse(form, value); err == nil {
			return t
		}
	}
	return time.Time{}
}
