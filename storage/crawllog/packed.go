package crawllog

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/klauspost/compress/flate"

	"curtsy/storage/warc"
)

// In schema 6 a visit was its JSON, deflated with a dictionary of frequent content. If it had a record, the
// values that do not compress preceded that as octets:
//
//	octet    packed, or packedFields
//	32       of packedFields: the digest of the payload
//	16       the UUID of the record
//	…        varints: At in ns since 1970, Robots.Fetched in ns before At, Waited, Took,
//	         Status, Links, Length, Record.Offset, Record.Length
//	…        RFC 1951, of the JSON without these
//
// In schema 5 it was plain JSON, which begins with a brace.
const (
	packed       = 0x10
	packedFields = 0x11
)

// maxUnpacked is more than the JSON of any visit, in octets.
const maxUnpacked = 4 << 20

// dictionary is part of the format.
const dictionary = `"class":"prerequisite","class":"requisite","content_type":"text/css","content_type":"image/png",` +
	`"canonical":"http","etag":"","last_modified":" GMT","directives":{"noindex":true,"sources":[{"directive":"` +
	`"robots":{"allow":true,"line":1,"rule":"Allow: /","group":"*","version":"",` +
	`"robots":{"allow":true,"rule":"no rule applies",` +
	`"kept":"revisit","record":{"segment":"","offset":0,"length":0,"id":""},"refers":{"url_id":1,"n":1}}` +
	`{"url_id":1,"n":1,"url":"https://.html","class":"page","at":"0001-01-01T00:00:00Z",` +
	`"delay":"configured delay 1s","content_type":"text/html; charset=utf-8","charset":"utf-8",` +
	`"title":"","lang":"en","length":0,` +
	`"robots":{"allow":true,"rule":"robots.txt answered 404","fetched":"0001-01-01T00:00:00Z"},` +
	`"kept":"response","record":{"segment":"curtsy-20260101000000-00000.warc.gz","offset":0,"length":0,"id":""}}`

// inflater is a reusable decompressor: making one costs more than decoding a visit.
type inflater struct {
	z    io.ReadCloser
	src  bytes.Reader
	text bytes.Buffer
}

var inflaters = sync.Pool{New: func() any { return &inflater{z: flate.NewReader(bytes.NewReader(nil))} }}

// fields are the values before the JSON.
type fields struct {
	digest warc.Digest
	id     [16]byte
	n      [9]int64 // the varints in order
}

// put sets the fields of the visit.
func (f *fields) put(v *Visit) {
	v.At = time.Unix(0, f.n[0]).UTC()
	if v.Robots != nil {
		v.Robots.Fetched = time.Unix(0, f.n[0]-f.n[1]).UTC()
	}
	v.Waited, v.Took, v.Status, v.Links, v.Length = time.Duration(f.n[2]), time.Duration(f.n[3]), int(f.n[4]),
		int(f.n[5]), f.n[6]
	v.Digest = f.digest.String()
	v.Record.Offset, v.Record.Length, v.Record.ID = f.n[7], f.n[8], warc.FormatID(f.id)
}

// read decodes the fields and returns the rest.
func (f *fields) read(b []byte) (rest []byte, err error) {
	if len(b) < len(f.digest)+len(f.id) {
		return nil, errNotPacked
	}
	b = b[copy(f.digest[:], b):]
	b = b[copy(f.id[:], b):]
	for i := range f.n {
		used := 0
		if f.n[i], used = binary.Varint(b); used <= 0 {
			return nil, errNotPacked
		}
		b = b[used:]
	}
	return b, nil
}

var errNotPacked = errors.New("not a visit")

// Unpack decodes what Pack or an earlier schema wrote into an empty visit.
func Unpack(b []byte, v *Visit) error {
	switch {
	case len(b) > 0 && b[0] == row:
		return unpackRow(b[1:], v)
	case len(b) == 0 || b[0] != packed && b[0] != packedFields:
		return json.Unmarshal(b, v)
	}
	var f fields
	hasFields, b := b[0] == packedFields, b[1:]
	if hasFields {
		var err error
		if b, err = f.read(b); err != nil {
			return err
		}
	}
	in := inflaters.Get().(*inflater)
	defer inflaters.Put(in)
	text, err := in.inflate(b)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil || !hasFields {
		return err
	}
	if v.Record == nil {
		return errNotPacked
	}
	f.put(v)
	return nil
}

// inflate decompresses the JSON of a visit; the result is valid until the next call. Its length is limited,
// since crawl.db may come from an untrusted source.
func (in *inflater) inflate(b []byte) ([]byte, error) {
	in.src.Reset(b)
	in.text.Reset()
	if err := in.z.(flate.Resetter).Reset(&in.src, []byte(dictionary)); err != nil {
		return nil, err
	}
	n, err := in.text.ReadFrom(io.LimitReader(in.z, maxUnpacked))
	if err == nil && n == maxUnpacked {
		err = errNotPacked
	}
	return in.text.Bytes(), err
}
