// Package known finds payloads that other archives already hold. It reads their indexes (CDXJ, CDX
// with a header line, compressed or not, and those within a WACZ) and keeps them in files, sorted by
// digest, so that its memory does not grow with them.
package known

import (
	"archive/zip"
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"curtsy/internal/extsort"
	"curtsy/internal/weburl"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// Payloads is an index of payloads by digest. Its methods are safe for concurrent use.
type Payloads struct {
	sha1  bool     // some captures are known by SHA-1
	lines *os.File // per capture, sorted by digest: length as a uvarint, then lineKey, time, URL
	index *os.File // per capture, in the same order: 8 octets of the digest, and the offset in lines
	n     int64
}

const (
	indexEntry = 16
	timeForm   = "20060102150405"
	maxLine    = 1 << 20 // octets of an index line
	maxSame    = 1000    // captures of one payload that are searched for one of the same URL
)

// ErrNone reports that an index lists no response with a digest that can be compared.
var ErrNone = errors.New("lists no response of status 200 with a SHA-1 or SHA-256 digest")

// Open reads indexes. Its temporary files are in dir; Close removes them.
func Open(dir string, files []string) (p *Payloads, err error) {
	sorter := extsort.New(dir)
	defer sorter.Close()
	p = &Payloads{}
	for _, name := range files {
		n := 0
		add := func(line []byte) error {
			text := lineOf(line)
			if text == nil {
				return nil
			}
			n++
			p.sha1 = p.sha1 || text[sha1.Size] == sha1.Size
			return sorter.Add(text)
		}
		if err := readFile(name, add); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if n == 0 {
			return nil, fmt.Errorf("%s: %w", name, ErrNone)
		}
	}
	if err := p.write(dir, sorter); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// write creates the two files.
func (p *Payloads) write(dir string, sorter *extsort.Sorter) (err error) {
	for _, f := range []**os.File{&p.lines, &p.index} {
		if *f, err = os.CreateTemp(dir, ".curtsy-known-*"); err != nil {
			return err
		}
		_ = os.Remove((*f).Name()) // where the system can remove an open file, a kill leaves none behind
	}
	lines, index := bufio.NewWriter(p.lines), bufio.NewWriter(p.index)
	var at uint64
	var entry [indexEntry]byte
	for text, err := range sorter.Sorted() {
		if err != nil {
			return err
		}
		copy(entry[:8], text)
		binary.BigEndian.PutUint64(entry[8:], at)
		size := binary.AppendUvarint(nil, uint64(len(text)))
		at += uint64(len(size) + len(text))
		_, _ = index.Write(entry[:]) // Flush returns the error
		_, _ = lines.Write(size)
		_, _ = lines.Write(text)
		p.n++
	}
	return errors.Join(lines.Flush(), index.Flush())
}

// Close closes and removes the files.
func (p *Payloads) Close() (err error) {
	for _, f := range []*os.File{p.lines, p.index} {
		if f != nil {
			err = errors.Join(err, f.Close())
			_ = os.Remove(f.Name())
		}
	}
	return err
}

// Len returns the number of captures known.
func (p *Payloads) Len() int64 { return p.n }

// BySHA1 reports whether some captures are known by SHA-1.
func (p *Payloads) BySHA1() bool { return p.sha1 }

// Find returns a capture in another archive with the labelled digest, preferably one of the same URL;
// nil if none is known.
func (p *Payloads) Find(digest, url string) (*crawllog.Elsewhere, error) {
	octets := warc.DigestOctets(digest)
	if len(octets) < 8 {
		return nil, nil
	}
	key := lineKey(octets)
	at, err := p.first(key)
	if err != nil {
		return nil, err
	}
	var found *crawllog.Elsewhere
	for i := at; i < min(p.n, at+maxSame); i++ {
		text, err := p.line(i)
		if err != nil {
			return nil, err
		}
		rest, same := bytes.CutPrefix(text, key)
		if !same {
			if bytes.Compare(text[:8], key[:8]) > 0 {
				break
			}
			continue
		}
		t, err := time.Parse(timeForm, string(rest[:len(timeForm)]))
		c := &crawllog.Elsewhere{URL: string(rest[len(timeForm):]), At: t}
		if err == nil && (found == nil || c.URL == url) {
			found = c
		}
		if c.URL == url {
			break
		}
	}
	return found, nil
}

// first returns the position of the first entry whose digest prefix is not less than the key's.
func (p *Payloads) first(key []byte) (int64, error) {
	var entry [indexEntry]byte
	var failed error
	n := sort.Search(int(p.n), func(i int) bool {
		if _, err := p.index.ReadAt(entry[:], int64(i)*indexEntry); err != nil {
			failed = err
		}
		return bytes.Compare(entry[:8], key[:8]) >= 0
	})
	return int64(n), failed
}

// line returns the n-th line.
func (p *Payloads) line(n int64) ([]byte, error) {
	var entry [indexEntry]byte
	if _, err := p.index.ReadAt(entry[:], n*indexEntry); err != nil {
		return nil, err
	}
	at := int64(binary.BigEndian.Uint64(entry[8:]))
	r := bufio.NewReaderSize(io.NewSectionReader(p.lines, at, 1<<62-at), 512)
	size, err := binary.ReadUvarint(r)
	if err != nil {
		return nil, err
	}
	text := make([]byte, size)
	_, err = io.ReadFull(r, text)
	return text, err
}

// lineKey is the digest at the start of a line: its octets, then their number.
func lineKey(octets []byte) []byte { return append(octets, byte(len(octets))) }

// readFile calls line for each line of an index file.
func readFile(name string, line func([]byte) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	if head, _ := r.Peek(4); string(head) == "PK\x03\x04" {
		return readWACZ(name, line)
	}
	return readIndex(r, line)
}

// readWACZ reads the indexes of a WACZ (1.1.1 §4.2).
func readWACZ(name string, line func([]byte) error) error {
	z, err := zip.OpenReader(name)
	if err != nil {
		return err
	}
	defer z.Close()
	for _, f := range z.File {
		if lower := strings.ToLower(f.Name); !strings.HasPrefix(lower, "indexes/") || !strings.Contains(lower, ".cdx") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return err
		}
		err = errors.Join(readIndex(bufio.NewReaderSize(r, 64<<10), line), r.Close())
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

// readIndex calls line for each line of one index. CDX with a header line is converted to CDXJ.
func readIndex(r *bufio.Reader, line func([]byte) error) error {
	if head, _ := r.Peek(2); string(head) == "\x1f\x8b" {
		z, err := gzip.NewReader(r)
		if err != nil {
			return err
		}
		defer z.Close()
		r = bufio.NewReaderSize(z, 64<<10)
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var columns []string
	for lines.Scan() {
		text := lines.Bytes()
		if header, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "CDX "); ok && columns == nil {
			columns = strings.Fields(header)
			continue
		}
		if columns != nil {
			text = ofColumns(columns, strings.Fields(string(text)))
		}
		if err := line(text); err != nil {
			return err
		}
	}
	return lines.Err()
}

// columnNames are the CDX columns used, with their names in CDXJ.
var columnNames = map[string]string{"a": "url", "m": "mime", "s": "status", "k": "digest"}

// ofColumns converts a line of CDX to CDXJ.
func ofColumns(columns, values []string) []byte {
	fields, at := map[string]string{}, "-"
	for i, c := range columns[:min(len(columns), len(values))] {
		if name := columnNames[c]; name != "" {
			fields[name] = values[i]
		}
		if c == "b" {
			at = values[i]
		}
	}
	text, _ := json.Marshal(fields) // a map of strings always marshals
	return fmt.Appendf(nil, "- %s %s", at, text)
}

// lineOf converts a line of CDXJ to an entry of lines: digest, time and URL. It returns nil for
// anything but a response with status 200 and a usable digest.
func lineOf(line []byte) []byte {
	key, rest, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
	at, text, ok := bytes.Cut(rest, []byte(" "))
	if !ok || len(key) == 0 || key[0] == '!' || len(at) < len(timeForm) {
		return nil
	}
	var x struct {
		URL    string      `json:"url"`
		MIME   string      `json:"mime"`
		Status json.Number `json:"status"`
		Digest string      `json:"digest"`
	}
	if json.Unmarshal(text, &x) != nil || x.MIME == "warc/revisit" || x.Status != "200" {
		return nil
	}
	octets := warc.DigestOctets(x.Digest)
	t, err := time.Parse(timeForm, string(at[:len(timeForm)]))
	if octets == nil || err != nil {
		return nil
	}
	u, err := weburl.ParsePage(x.URL)
	if err != nil {
		return nil
	}
	return append(t.AppendFormat(lineKey(octets), timeForm), u.String()...)
}
