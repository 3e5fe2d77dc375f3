package storage

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"curtsy/internal/sum"
)

// FuzzReadHTTP: a kept response, whatever a damaged segment makes of it, reads
// back or is an error, and is never longer than what is there.
func FuzzReadHTTP(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nfoo\r\n2;x=y\r\nba\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1;eeeeeeeeeeeeeeeeeeeeee\r\nx\r\n", 50) + "0\r\nA: b\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\nx",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nx", "HTTP/1.0 304 X\n\n", "", "\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, block []byte) {
		r, err := ReadHTTP(strings.NewReader(string(block)))
		if err != nil {
			return
		}
		n, _ := io.Copy(io.Discard, r.Body)
		if n > int64(len(block)-len(r.Head)) {
			t.Errorf("%d octets of body in a block of %d", n, len(block))
		}
	})
}

// FuzzVisit: whatever stands in crawl.db in the place of a visit is that visit
// or an error, its sum right or wrong.
func FuzzVisit(f *testing.F) {
	good := []byte(`{"url":"http://h/","url_id":1,"n":2,"at":"2026-03-01T12:00:00Z","status":200,"kept":"response","digest":"sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ","length":3,"record":{"segment":"s","offset":1,"length":2,"id":"i"}}`)
	f.Add(Ref{1, 2}.key(), good, true)
	f.Add(Ref{1, 3}.key(), good, true)
	f.Add(Ref{1, 2}.key(), good[:40], true)
	f.Add([]byte{}, []byte("null"), true)
	f.Add(Ref{1, 2}.key(), []byte{1, 2, 3}, false)
	f.Fuzz(func(t *testing.T, key, value []byte, sealed bool) {
		if sealed {
			value = sum.Seal(key, value)
		}
		v, err := readVisit(key, value)
		if (v == nil) == (err == nil) {
			t.Errorf("%q: %v, %v", value, v, err)
		}
		if err == nil && !sealed {
			if _, ok := sum.Open(key, value); !ok {
				t.Errorf("%q: read with a wrong sum", value)
			}
		}
	})
}

// FuzzFreelist: the first pages of any file are whole or not, without a panic,
// and no more is read than a list of free pages can have.
func FuzzFreelist(f *testing.F) {
	page := make([]byte, 256)
	binary.NativeEndian.PutUint64(page[128:], 2)
	binary.NativeEndian.PutUint16(page[136:], isFreelist)
	binary.NativeEndian.PutUint16(page[138:], 1)
	binary.NativeEndian.PutUint64(page[144:], 3)
	f.Add(page, int64(64), int64(2), int64(4))
	f.Add(page[:100], int64(64), int64(1), int64(1))
	f.Add([]byte{}, int64(0), int64(-1), int64(1)<<62)
	f.Fuzz(func(t *testing.T, b []byte, pageSize, id, pages int64) {
		file := bytes.NewReader(b)
		if m, whole := readMeta(file, 0); whole {
			goodFreelist(file, m)
		}
		good := goodFreelist(file, meta{pageSize: pageSize, freelist: id, pages: pages})
		if good && id >= pages {
			t.Errorf("page %d of %d is a list", id, pages)
		}
	})
}
