package crawllog

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"curtsy/internal/robotsmeta"
	"curtsy/storage/warc"
	"curtsy/usage"
)

// A visit in crawl.db is a row of its fields, in the order of packer.visit:
//
//	octet    row
//	uvarint  one bit per field, the first one lowest: whether it follows. A bool is only
//	         its bit; a struct has a bit, followed by its fields
//	…        the fields: numbers as zigzag varints; texts by packer.text
//
// It takes less space than deflated JSON, and a tenth of the time (docs/performance.md).
const row = 0x12

// common are texts that are encoded as a number only. They are part of the format: new ones may only be
// added at the end, up to manyCommon.
var common = [...]string{"", "page", "requisite", "prerequisite", "sitemap", "response", "revisit", "withheld",
	"whole", "empty",
	"configured delay 1s", "configured delay 0s", "text/html", "text/html; charset=utf-8", "text/html; charset=UTF-8",
	"utf-8",
	"text/css", "text/javascript", "application/javascript", "application/json", "application/pdf", "application/xml",
	"text/plain", "text/xml", "image/png", "image/jpeg", "image/gif", "image/svg+xml", "image/webp",
	"image/x-icon", "font/woff2",
	"windows-1251", "iso-8859-1", "en", "en-US", "ru", "de", "fr", "es", "*", "no rule applies",
	"robots.txt answered 404",
	"Allow: /", "Disallow:", "curtsy", "length", "noindex", "nofollow", "noarchive", "nosnippet", "meta",
	"X-Robots-Tag", "elsewhere"}

// manyCommon is the limit for common: a text of n octets is encoded with the number manyCommon+n.
const manyCommon = 64

var commonNumbers = func() map[string]int {
	numbers := make(map[string]int, len(common))
	for i, s := range common {
		numbers[s] = i
	}
	return numbers
}()

// packer encodes or decodes the fields of a visit, with one list of fields for both.
type packer struct {
	b    []byte
	has  uint64
	bit  int
	read bool
	err  error
}

// Pack encodes a visit as it is stored in crawl.db.
func Pack(v *Visit) ([]byte, error) {
	p := packer{b: make([]byte, 0, 320)}
	p.visit(v)
	b := binary.AppendUvarint(append(make([]byte, 0, len(p.b)+16), row), p.has)
	return append(b, p.b...), p.err
}

func unpackRow(b []byte, v *Visit) error {
	has, used := binary.Uvarint(b)
	p := packer{has: has, read: true}
	if used <= 0 {
		return errNotPacked
	}
	p.b = b[used:]
	p.visit(v)
	if p.err == nil && (len(p.b) > 0 || bits.Len64(has) > p.bit) {
		p.err = errNotPacked
	}
	return p.err
}

// visit defines the order of the fields, rarer ones last. It is part of the format: new fields must be
// added at the end.
func (p *packer) visit(v *Visit) {
	number(p, &v.URLID)
	number(p, &v.N)
	p.text(&v.URL, "")
	p.text(&v.Class, "")
	p.time(&v.At, time.Time{})
	number(p, &v.Waited)
	p.text(&v.Delay, "")
	number(p, &v.Took)
	number(p, &v.Status)
	p.text(&v.ContentType, "")
	p.text(&v.Charset, "")
	p.text(&v.Title, "")
	p.text(&v.Lang, "")
	number(p, &v.Links)
	number(p, &v.Length)
	p.digest(&v.Digest)
	p.text(&v.Body, "")
	p.text(&v.Kept, "")
	if there(p, &v.Record) {
		p.record(v.Record)
	}
	if there(p, &v.Robots) {
		p.robots(v.Robots, v.At)
	}
	p.text(&v.ETag, "")
	p.date(&v.LastModified)
	p.text(&v.Canonical, v.URL)
	if there(p, &v.Refers) {
		number(p, &v.Refers.URLID)
		number(p, &v.Refers.N)
	}
	number(p, &v.MaxAge)
	number(p, &v.Round)
	p.text(&v.Location, v.URL)
	p.text(&v.Target, v.URL)
	p.text(&v.Error, "")
	p.text(&v.Truncated, "")
	p.text(&v.Blocked, "")
	p.text(&v.Suspect, "")
	p.flag(&v.Bare)
	list(p, &v.Usage, func(s *usage.Statement) { p.statement(s, v.URL) })
	if there(p, &v.Directives) {
		p.group(func() { p.directives(v.Directives) })
	}
	if there(p, &v.Rendered) {
		p.group(func() { p.rendered(v.Rendered) })
	}
	if v.Record != nil {
		p.text(&v.Record.Label, "")
		if there(p, &v.Record.Elsewhere) {
			p.text(&v.Record.Elsewhere.URL, v.URL)
			p.time(&v.Record.Elsewhere.At, v.At)
		}
		list(p, &v.Record.Beside, func(x *Extent) {
			number(p, &x.Offset)
			number(p, &x.Length)
		})
	}
}

func (p *packer) record(r *Record) {
	p.segment(&r.Segment)
	number(p, &r.Offset)
	number(p, &r.Length)
	p.id(&r.ID)
}

func (p *packer) robots(r *Decision, at time.Time) {
	p.flag(&r.Allow)
	number(p, &r.Line)
	p.text(&r.Rule, "")
	p.text(&r.Group, "")
	p.text(&r.Version, "")
	p.time(&r.Fetched, at)
	p.text(&r.Differs, "")
}

func (p *packer) statement(s *usage.Statement, url string) {
	p.text((*string)(&s.Category), "")
	p.text((*string)(&s.Value), "")
	p.text(&s.Source, url)
	number(p, &s.Line)
	p.text(&s.By, "")
	p.text(&s.For, "")
	p.text(&s.Text, "")
	p.text(&s.License, "")
	p.text(&s.Policy, url)
}

// firstWords is the number of words in the first version of this format; later ones are encoded after the
// other fields.
const firstWords = 5

func (p *packer) directives(d *Directives) {
	var later []*bool
	for _, flag := range d.Words() {
		if p.bit < firstWords {
			p.flag(flag)
		} else {
			later = append(later, flag)
		}
	}
	if there(p, &d.MaxSnippet) {
		number(p, d.MaxSnippet)
	}
	if there(p, &d.UnavailableAfter) {
		p.time(d.UnavailableAfter, time.Time{})
	}
	list(p, &d.Sources, func(s *robotsmeta.Source) {
		p.text(&s.Directive, "")
		p.text(&s.From, "")
		p.text(&s.Text, "")
	})
	for _, flag := range later {
		p.flag(flag)
	}
}

func (p *packer) rendered(r *Rendered) {
	number(p, &r.Length)
	p.text(&r.SHA256, "")
	number(p, &r.Asked)
	list(p, &r.Missing, func(m *Missing) {
		p.text(&m.URL, "")
		p.text(&m.Why, "")
	})
	p.text(&r.Cut, "")
}

// field encodes or decodes the bit of the next field, and reports whether the field follows.
func (p *packer) field(set bool) bool {
	bit := uint64(1) << p.bit
	p.bit++
	if p.read {
		return p.err == nil && p.has&bit != 0
	}
	if set {
		p.has |= bit
	}
	return set
}

func (p *packer) flag(b *bool) { *b = p.field(*b) }

// there is field for a struct, which it allocates when decoding.
func there[T any](p *packer, v **T) bool {
	is := p.field(*v != nil)
	if is && p.read {
		*v = new(T)
	}
	return is
}

// list encodes or decodes a list: its length, then each element as a group.
func list[T any](p *packer, l *[]T, each func(*T)) {
	if !p.field(len(*l) > 0) {
		return
	}
	n := int64(len(*l))
	if p.varint(&n); p.read {
		if n < 0 || n > int64(len(p.b)) {
			p.fail()
			return
		}
		*l = make([]T, 0, min(n, 16))
	}
	for i := 0; int64(i) < n && p.err == nil; i++ {
		if p.read {
			*l = append(*l, *new(T))
		}
		p.group(func() { each(&(*l)[i]) })
	}
}

// group encodes or decodes fields with bits of their own.
func (p *packer) group(fields func()) {
	has, bit, before := p.has, p.bit, p.b
	p.has, p.bit = 0, 0
	if p.read {
		p.has = p.uvarint(0)
		fields()
	} else {
		p.b = nil
		fields()
		p.b = append(binary.AppendUvarint(before, p.has), p.b...)
	}
	p.has, p.bit = has, bit
}

func number[T ~int | ~int64 | ~uint64](p *packer, v *T) {
	if !p.field(*v != 0) {
		return
	}
	n := int64(*v)
	p.varint(&n)
	if p.read {
		*v = T(n)
	}
}

func (p *packer) varint(n *int64) {
	if !p.read {
		p.b = binary.AppendVarint(p.b, *n)
		return
	}
	x, used := binary.Varint(p.b)
	if used <= 0 {
		p.fail()
		return
	}
	*n, p.b = x, p.b[used:]
}

// uvarint encodes n, or returns the decoded number; 0 on error.
func (p *packer) uvarint(n uint64) uint64 {
	if !p.read {
		p.b = binary.AppendUvarint(p.b, n)
		return n
	}
	n, used := binary.Uvarint(p.b)
	if used <= 0 {
		p.fail()
		return 0
	}
	p.b = p.b[used:]
	return n
}

// octets returns the next n octets; nil on error.
func (p *packer) octets(n uint64) []byte {
	if p.err != nil || n > uint64(len(p.b)) {
		p.fail()
		return nil
	}
	b := p.b[:n]
	p.b = p.b[n:]
	return b
}

func (p *packer) fail() { p.b, p.err = nil, errNotPacked }

// text encodes or decodes a UTF-8 text that may share a prefix with like; if like is not empty, the length
// of the shared prefix comes first.
func (p *packer) text(s *string, like string) {
	if p.field(*s != "") {
		p.rawText(s, like)
	}
}

func (p *packer) rawText(s *string, like string) {
	if !p.read {
		p.writeText(*s, like)
		return
	}
	same := uint64(0)
	if like != "" {
		same = p.uvarint(0)
	}
	switch n := p.uvarint(0); {
	case same > uint64(len(like)) || n < manyCommon && n >= uint64(len(common)):
		p.fail()
	case n < manyCommon && same == 0:
		*s = common[n]
	case n < manyCommon:
		*s = like[:same] + common[n]
	case same == 0:
		*s = string(p.octets(n - manyCommon))
	default:
		*s = like[:same] + string(p.octets(n-manyCommon))
	}
	if !utf8.ValidString(*s) {
		p.fail() // Pack never writes this
	}
}

func (p *packer) writeText(s, like string) {
	if !utf8.ValidString(s) {
		s = string([]rune(s)) // replaces invalid UTF-8, as JSON does
	}
	if like != "" {
		same := 0
		for same < min(len(like), len(s)) && like[same] == s[same] {
			same++
		}
		p.uvarint(uint64(same))
		s = s[same:]
	}
	if n, ok := commonNumbers[s]; ok {
		p.uvarint(uint64(n))
		return
	}
	p.b = append(binary.AppendUvarint(p.b, manyCommon+uint64(len(s))), s...)
}

// time encodes or decodes a time: in ns before another, or since 1970 if that is zero. A time that does not
// fit is encoded as text after math.MinInt64.
func (p *packer) time(t *time.Time, before time.Time) {
	if !p.field(!t.IsZero()) {
		return
	}
	base, sign, n := int64(0), int64(1), int64(math.MinInt64)
	if inNanoseconds(before) {
		base, sign = before.UnixNano(), -1
	}
	if inNanoseconds(*t) {
		n = sign * (t.UnixNano() - base)
	}
	p.varint(&n)
	switch {
	case p.read && n != math.MinInt64:
		*t = time.Unix(0, base+sign*n).UTC()
	case p.read:
		var s string
		if p.rawText(&s, ""); t.UnmarshalText([]byte(s)) != nil {
			p.fail()
		}
	case n == math.MinInt64:
		b, err := t.MarshalText()
		if err != nil && p.err == nil {
			p.err = err
		}
		s := string(b)
		p.rawText(&s, "")
	}
}

// inNanoseconds reports whether a time is unchanged by conversion to ns since 1970.
func inNanoseconds(t time.Time) bool { return t == time.Unix(0, t.UnixNano()).UTC() }

// date encodes or decodes an HTTP date as seconds since 1970; any other text as text.
func (p *packer) date(s *string) {
	t, err := time.Time{}, error(nil)
	if !p.read {
		t, err = time.Parse(http.TimeFormat, *s)
	}
	is := err == nil && (p.read || t.UTC().Format(http.TimeFormat) == *s)
	if !p.field(is && *s != "") {
		p.text(s, "")
		return
	}
	p.field(false) // the bit of the text
	n := t.Unix()
	if p.varint(&n); p.read {
		*s = time.Unix(n, 0).UTC().Format(http.TimeFormat)
	}
}

// digest and id encode values of the usual form as octets, others as text.
func (p *packer) digest(s *string) {
	d, ok := warc.Digest{}, false
	if !p.read {
		d, ok = warc.ParseDigest(*s)
	}
	if p.sized(d[:], ok, s) {
		*s = d.String()
	}
}

func (p *packer) id(s *string) {
	u, ok := [16]byte{}, false
	if !p.read {
		u, ok = warc.ParseID(*s)
	}
	if p.sized(u[:], ok, s) {
		*s = warc.FormatID(u)
	}
}

// sized encodes or decodes octets, or a text if known is false. It reports whether octets were decoded.
func (p *packer) sized(b []byte, known bool, s *string) bool {
	if !p.field(known) {
		p.text(s, "")
		return false
	}
	p.field(false) // the bit of the text
	if p.read {
		return copy(b, p.octets(uint64(len(b)))) == len(b)
	}
	p.b = append(p.b, b...)
	return false
}

// segment encodes or decodes the name of a segment, with time and number as numbers if it has the form
// PREFIX-YYYYMMDDhhmmss-NNNNN.warc.gz.
func (p *packer) segment(s *string) {
	prefix, at, n, known := "", int64(0), int64(0), false
	if !p.read {
		prefix, at, n, known = partsOfSegment(*s)
	}
	if !p.field(known) {
		p.text(s, "")
		return
	}
	p.field(false) // the bit of the text
	p.rawText(&prefix, "")
	p.varint(&at)
	p.varint(&n)
	if p.read {
		*s = fmt.Sprintf("%s-%014d-%05d.warc.gz", prefix, at, n)
	}
}

func partsOfSegment(name string) (prefix string, at, n int64, ok bool) {
	stem, ok := strings.CutSuffix(name, ".warc.gz")
	i := len(stem) - len("-20060102150405-00000")
	if !ok || i <= 0 || stem[i] != '-' || stem[i+15] != '-' {
		return "", 0, 0, false
	}
	when, err1 := strconv.ParseUint(stem[i+1:i+15], 10, 63)
	number, err2 := strconv.ParseUint(stem[i+16:], 10, 63)
	return stem[:i], int64(when), int64(number), err1 == nil && err2 == nil
}
