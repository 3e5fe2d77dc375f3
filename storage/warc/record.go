// Package warc reads and writes WARC files: it writes records of WARC 1.1 (ISO 28500:2017), one gzip member
// per record, and reads these and those of other programs. It knows nothing of crawls.
package warc

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
)

// version is the first line of every record (ISO 28500 §4).
const version = "WARC/1.1"

// Record types used here (ISO 28500 §6).
const (
	TypeInfo       = "warcinfo"
	TypeResponse   = "response"
	TypeRequest    = "request"
	TypeMetadata   = "metadata"
	TypeRevisit    = "revisit"
	TypeConversion = "conversion"
)

// Profiles of revisit records (ISO 28500 §6.7).
const (
	ProfileIdentical   = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
	ProfileNotModified = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
)

// Header has the named fields of a record. Empty fields are not written.
type Header struct {
	Type          string
	ID            string // "urn:uuid:…", without angle brackets
	Date          time.Time
	TargetURI     string
	ContentType   string
	IP            netip.Addr
	ConcurrentTo  string // record ID
	WarcinfoID    string // record ID
	Filename      string // warcinfo only
	BlockDigest   string // "sha256:HEX", or from other programs "sha1:BASE32"
	PayloadDigest string
	Truncated     string // "length", "time", "disconnect"
	Profile       string // revisit only
	RefersTo      string // record ID
	RefersToURI   string
	RefersToDate  time.Time
	Protocol      string // "http/1.1", "tls/1.3"; several separated by a space
	CipherSuite   string
	Length        int64 // octets of the block
}

// dateFormat is the format of WARC-Date (ISO 28500 §5.4), in microseconds.
const dateFormat = "2006-01-02T15:04:05.000000Z"

// recordID is the text of a record ID, which stands in angle brackets in a record.
type recordID string

// fields are the named fields but Content-Length, in the order in which they are written. at returns where the
// value is: a *string, *recordID, *time.Time or *netip.Addr.
var fields = [...]struct {
	name string
	at   func(*Header) any
}{
	{"WARC-Type", func(h *Header) any { return &h.Type }},
	{"WARC-Record-ID", func(h *Header) any { return (*recordID)(&h.ID) }},
	{"WARC-Date", func(h *Header) any { return &h.Date }},
	{"WARC-Filename", func(h *Header) any { return &h.Filename }},
	{"WARC-Target-URI", func(h *Header) any { return &h.TargetURI }},
	{"WARC-IP-Address", func(h *Header) any { return &h.IP }},
	{"WARC-Concurrent-To", func(h *Header) any { return (*recordID)(&h.ConcurrentTo) }},
	{"WARC-Warcinfo-ID", func(h *Header) any { return (*recordID)(&h.WarcinfoID) }},
	{"WARC-Profile", func(h *Header) any { return &h.Profile }},
	{"WARC-Refers-To", func(h *Header) any { return (*recordID)(&h.RefersTo) }},
	{"WARC-Refers-To-Target-URI", func(h *Header) any { return &h.RefersToURI }},
	{"WARC-Refers-To-Date", func(h *Header) any { return &h.RefersToDate }},
	{"WARC-Protocol", func(h *Header) any { return &h.Protocol }},
	{"WARC-Cipher-Suite", func(h *Header) any { return &h.CipherSuite }},
	{"WARC-Block-Digest", func(h *Header) any { return &h.BlockDigest }},
	{"WARC-Payload-Digest", func(h *Header) any { return &h.PayloadDigest }},
	{"WARC-Truncated", func(h *Header) any { return &h.Truncated }},
	{"Content-Type", func(h *Header) any { return &h.ContentType }},
}

// append appends version line, fields and the empty line after them.
func (h *Header) append(b []byte) []byte {
	b = append(b, version...)
	b = append(b, "\r\n"...)
	for i := range fields {
		value := ""
		switch v := fields[i].at(h).(type) {
		case *string:
			value = *v
		case *recordID:
			if *v != "" {
				value = "<" + string(*v) + ">"
			}
		case *time.Time:
			if !v.IsZero() || v == &h.Date { // every record has a WARC-Date
				value = v.UTC().Format(dateFormat)
			}
		case *netip.Addr:
			if v.IsValid() {
				value = v.String()
			}
		}
		if value == "" {
			continue
		}
		b = append(b, fields[i].name...)
		b = append(b, ": "...)
		b = appendValue(b, value)
		b = append(b, "\r\n"...)
	}
	b = append(b, "Content-Length: "...)
	b = strconv.AppendInt(b, h.Length, 10)
	return append(b, "\r\n\r\n"...)
}

// set sets the field of a name in lower case from its text.
func (h *Header) set(name, value string) {
	if name == "content-length" {
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && n >= 0 {
			h.Length = n
		}
		return
	}
	at := fieldsByName[name]
	if at == nil {
		return
	}
	switch v := at(h).(type) {
	case *string:
		*v = value
	case *recordID:
		if *v == "" || name != "warc-concurrent-to" { // of several WARC-Concurrent-To the first
			*v = recordID(strings.TrimSuffix(strings.TrimPrefix(value, "<"), ">"))
		}
	case *time.Time:
		*v = parseDate(value)
	case *netip.Addr:
		*v, _ = netip.ParseAddr(value)
	}
}

// fieldsByName are fields[…].at by name in lower case.
var fieldsByName = func() map[string]func(*Header) any {
	all := map[string]func(*Header) any{}
	for _, f := range fields {
		all[strings.ToLower(f.name)] = f.at
	}
	return all
}()

// appendValue appends a field value without control characters, so that no value from the network can add a
// field.
func appendValue(b []byte, v string) []byte {
	for i := 0; i < len(v); i++ {
		if c := v[i]; c >= ' ' && c != 0x7f {
			b = append(b, c)
		}
	}
	return b
}

// NewID returns a new record ID, a version 4 UUID. It must be unique, but need not be secret.
func NewID() string {
	var u [16]byte
	binary.LittleEndian.PutUint64(u[:8], rand.Uint64())
	binary.LittleEndian.PutUint64(u[8:], rand.Uint64())
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return FormatID(u)
}

// FormatID returns the record ID for a UUID (RFC 9562 §4).
func FormatID(u [16]byte) string {
	h := hex.EncodeToString(u[:])
	return labelUUID + h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// ParseID returns the UUID of a record ID that FormatID wrote; ok is false for any other form.
func ParseID(s string) (u [16]byte, ok bool) {
	digits := strings.ReplaceAll(strings.TrimPrefix(s, labelUUID), "-", "")
	n, err := hex.Decode(u[:], []byte(digits[:min(len(digits), 2*len(u))]))
	return u, err == nil && n == len(u) && s == FormatID(u)
}

const labelUUID = "urn:uuid:"

// Encoder encodes records as gzip members. It is reusable, but not safe for concurrent use.
type Encoder struct {
	z    [Stored + 1]*gzip.Writer // by effort
	head []byte
}

// Effort is the compression effort.
type Effort int

// The efforts.
const (
	Small  Effort = iota // like gzip -6, for crawls that wait for the site anyway
	Quick                // like gzip -1
	Stored               // not compressed, for data that is already
)

// NewEncoder returns an Encoder.
func NewEncoder() *Encoder { return &Encoder{} }

// Append appends one record as one gzip member to dst: fields, block, and the two line ends that close a
// record. It sets h.Length to the length of the block.
func (e *Encoder) Append(dst []byte, h *Header, effort Effort, block ...[]byte) []byte {
	h.Length = 0
	parts := make([]io.Reader, len(block))
	for i, b := range block {
		h.Length += int64(len(b))
		parts[i] = bytes.NewReader(b)
	}
	out := bytes.NewBuffer(dst)
	_ = e.Stream(out, h, effort, parts...) // a bytes.Buffer never fails
	return out.Bytes()
}

// gzip returns the writer for an effort, reset to w.
func (e *Encoder) gzip(w io.Writer, effort Effort) *gzip.Writer {
	if z := e.z[effort]; z != nil {
		z.Reset(w)
		return z
	}
	level := [...]int{Small: gzip.DefaultCompression, Quick: gzip.BestSpeed, Stored: gzip.NoCompression}[effort]
	e.z[effort], _ = gzip.NewWriterLevel(w, level) // these levels are always valid
	return e.z[effort]
}

// Stream writes one record as one gzip member to w, for blocks too large for memory. block must have exactly
// h.Length octets.
func (e *Encoder) Stream(w io.Writer, h *Header, effort Effort, block ...io.Reader) error {
	z := e.gzip(w, effort)
	e.head = h.append(e.head[:0])
	if _, err := z.Write(e.head); err != nil {
		return err
	}
	var n int64
	for _, r := range block {
		m, err := io.Copy(z, r)
		n += m
		if err != nil {
			return err
		}
	}
	if n != h.Length {
		return fmt.Errorf("warc: block of %d bytes in a record of %d", n, h.Length)
	}
	if _, err := io.WriteString(z, "\r\n\r\n"); err != nil {
		return err
	}
	return z.Close()
}
