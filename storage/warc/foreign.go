package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Foreign reads WARC files of other programs, versions 0.17 to 1.1, without trusting them: with one gzip
// member per record, a whole file in one member or in members split anywhere, in zstd with or without a
// dictionary, or uncompressed. It is lenient: it accepts any line ends, folded fields, field names in
// any case and unknown digests. What cannot be read is skipped up to the next record.
type Foreign struct {
	in     *unpacked
	record *ForeignRecord
	left   int64 // octets of the block that were not read yet
	open   bool
	lost   bool // the position is not at a record
}

// ForeignRecord is a record of such a file.
type ForeignRecord struct {
	Header
	At     Place
	Number int    // number of the record in its file, from 1
	Raw    []byte // version line and fields, verbatim, with the blank line
	Member bool   // it begins a gzip member and, as far as it was read, is within it
	Apart  bool   // a Member, or the file is uncompressed: the record can be read by itself
	// Concurrent are the values of WARC-Concurrent-To, which may be repeated (ISO 28500 §5.7).
	Concurrent []string
}

// Place is where a record begins: Inside octets into the decompressed data that begins at Offset in the
// file.
type Place struct {
	Offset int64 `json:"offset"`
	Inside int64 `json:"inside,omitempty"`
}

func (p Place) String() string {
	if p.Inside == 0 {
		return fmt.Sprint(p.Offset)
	}
	return fmt.Sprintf("%d+%d", p.Offset, p.Inside)
}

// Unreadable is a part of a file that is not a valid record. Reading continues after it.
type Unreadable struct {
	At   Place
	What string
}

func (u *Unreadable) Error() string { return fmt.Sprintf("at %s: %s", u.At, u.What) }

// maxForeignHead bounds version line and fields of a record, in octets.
const maxForeignHead = 1 << 20

// maxConcurrent bounds the values in Concurrent.
const maxConcurrent = 16

// NewForeign reads from an offset of a file at which a record begins; number is its number. If r can seek,
// more is recovered after damage. The error is ErrNotWARC, or r cannot be read. The caller must Close it.
func NewForeign(r io.Reader, offset int64, number int) (*Foreign, error) {
	in, err := unpack(r, offset)
	if err != nil {
		return nil, err
	}
	return &Foreign{in: in, record: &ForeignRecord{Number: number - 1}}, nil
}

// Close frees the decompressor. It does not close the file.
func (f *Foreign) Close() { f.in.close() }

// Next reads to the next record; io.EOF at the end, an *Unreadable for an invalid one. The block can then be
// read with Read, and Finish says whether it is complete.
func (f *Foreign) Next() (*ForeignRecord, error) {
	if f.open {
		_ = f.Finish() // a caller that wants the error calls Finish
	}
	if f.lost {
		if err := f.in.resync(); err != nil {
			return nil, err
		}
		f.lost = false
	}
	if err := f.in.skipLineEnds(); err != nil {
		return nil, f.unreadable(f.in.place(), err)
	}
	r := &ForeignRecord{At: f.in.place(), Number: f.record.Number + 1}
	r.Member = f.in.atMember()
	r.Apart = r.Member || f.in.z == nil && f.in.zs == nil
	f.record = r
	var err error
	if r.Raw, err = f.readHead(); err != nil {
		return nil, f.unreadable(r.At, err)
	}
	if err := r.parse(); err != nil {
		return nil, f.unreadable(r.At, err)
	}
	f.left, f.open = r.Length, true
	return r, nil
}

// unreadable returns an *Unreadable, except for io.EOF and errors of the system.
func (f *Foreign) unreadable(at Place, err error) error {
	f.lost, f.open = true, false
	var bad *damagedMember
	switch {
	case err == io.EOF:
		return io.EOF
	case errors.Is(err, errRecord), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &bad):
		return &Unreadable{At: at, What: strings.TrimSuffix(err.Error(), ": "+errRecord.Error())}
	}
	return err
}

func (f *Foreign) readHead() ([]byte, error) {
	b, err := f.in.rec.Peek(len("WARC/"))
	switch {
	case len(b) == 0 && err != nil:
		return nil, err
	case string(b) != "WARC/":
		return nil, fmt.Errorf("no record begins here: %w", errRecord)
	}
	var raw []byte
	for begin := 0; ; {
		line, err := f.in.rec.ReadSlice('\n')
		if raw = append(raw, line...); len(raw) > maxForeignHead {
			return nil, fmt.Errorf("the record's header is longer than %d bytes: %w", maxForeignHead, errRecord)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, fmt.Errorf("the record's header is cut off: %w", err)
		}
		if len(bytes.TrimRight(raw[begin:], "\r\n")) == 0 {
			return raw, nil
		}
		begin = len(raw)
	}
}

// parse parses the fields. Of repeated fields the first counts.
func (r *ForeignRecord) parse() error {
	h := &r.Header
	h.Length = -1
	had := map[string]bool{}
	text := strings.ReplaceAll(string(r.Raw), "\r", "")
	_, text, _ = strings.Cut(text, "\n")
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		for strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\t") {
			var more string
			more, text, _ = strings.Cut(text, "\n")
			line += " " + strings.TrimSpace(more)
		}
		name, value, ok := strings.Cut(line, ":")
		name = strings.ToLower(strings.TrimSpace(name))
		if name == "warc-concurrent-to" && len(r.Concurrent) < maxConcurrent {
			r.Concurrent = append(r.Concurrent, unbracket(strings.TrimSpace(value)))
		}
		if !ok || had[name] {
			continue
		}
		had[name] = true
		h.set(name, strings.TrimSpace(value))
	}
	switch {
	case h.Type == "":
		return fmt.Errorf("no WARC-Type: %w", errRecord)
	case h.Length < 0:
		return fmt.Errorf("no usable Content-Length: %w", errRecord)
	}
	h.Type = strings.ToLower(h.Type)
	h.TargetURI, h.RefersToURI = unbracket(h.TargetURI), unbracket(h.RefersToURI)
	return nil
}

func unbracket(s string) string {
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(s, "<"), ">"))
}

// IsPlain reports whether Reader would parse the record's header to the same result.
func (r *ForeignRecord) IsPlain() bool {
	h, err := readHeader(bufio.NewReaderSize(bytes.NewReader(r.Raw), readerBuf), true)
	return err == nil && *h == r.Header
}

// Read reads the block of the current record.
func (f *Foreign) Read(p []byte) (int, error) {
	if f.left <= 0 {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), f.left)]
	if f.in.z != nil {
		most, err := f.in.ofMember(f.record.At.Offset)
		if err != nil {
			return 0, err
		}
		p = p[:min(len(p), most)]
		f.record.Member = f.record.Member && f.in.place().Offset == f.record.At.Offset
		f.record.Apart = f.record.Member
	}
	n, err := f.in.rec.Read(p)
	if f.left -= int64(n); f.left > 0 && err == io.EOF {
		err = io.ErrUnexpectedEOF
	} else if err == io.EOF {
		err = nil
	}
	return n, err
}

// Finish reads the rest of the current record. The error, an *Unreadable, says that the record is not as its
// header says.
func (f *Foreign) Finish() error {
	if !f.open {
		return nil
	}
	f.open = false
	at := f.record.At
	if _, err := io.Copy(io.Discard, f); err != nil {
		return f.unreadable(at, fmt.Errorf("%d bytes of its block are missing: %w", f.left, err))
	}
	err := f.in.skipLineEnds()
	var bad *damagedMember
	switch {
	case err == io.EOF:
		return nil
	case errors.As(err, &bad) && bad.at > at.Offset:
		return nil // it belongs to the next record, which meets the error again
	case err != nil:
		return f.unreadable(at, err)
	}
	if b, _ := f.in.rec.Peek(len("WARC/")); string(b) != "WARC/" && !f.in.atMember() {
		return f.unreadable(at, fmt.Errorf("its block does not end where its Content-Length says: %w", errRecord))
	}
	return nil
}
