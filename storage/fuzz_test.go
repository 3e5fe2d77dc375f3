package storage

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"curtsy/internal/robotsmeta"
	"curtsy/internal/sum"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
	"curtsy/usage"
)

// FuzzReadHTTP: a kept response in a damaged segment reads back or gives an error, and is never longer
// than the stored octets.
func FuzzReadHTTP(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nfoo\r\n2;x=y\r\nba\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1;eeeeeeeeeeeeeeeeeeeeee\r\nx\r\n",
			50) + "0\r\nA: b\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\nx",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nx", "HTTP/1.0 304 X\n\n", "", "\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, block []byte) {
		r, err := readHTTP(strings.NewReader(string(block)))
		if err != nil {
			return
		}
		n, _ := io.Copy(io.Discard, r.Body)
		if n > int64(len(block)-len(r.Head)) {
			t.Errorf("%d octets of body in a block of %d", n, len(block))
		}
	})
}

// FuzzVisit: any octets in place of a visit in crawl.db are that visit or give an error, whether the
// checksum is right or wrong.
func FuzzVisit(f *testing.F) {
	good := []byte(`{"url":"http://h/","url_id":1,"n":2,"at":"2026-03-01T12:00:00Z","status":200,"kept":"response","digest":"sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae","length":3,"record":{"segment":"s","offset":1,"length":2,"id":"i"}}`)
	f.Add(crawllog.Ref{URLID: 1, N: 2}.Key(), good, true)
	f.Add(crawllog.Ref{URLID: 1, N: 3}.Key(), good, true)
	f.Add(crawllog.Ref{URLID: 1, N: 2}.Key(), good[:40], true)
	f.Add([]byte{}, []byte("null"), true)
	f.Add(crawllog.Ref{URLID: 1, N: 2}.Key(), []byte{1, 2, 3}, false)
	at := time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)
	v := &crawllog.Visit{Asked: crawllog.Asked{URLID: 1, N: 2, URL: "http://h/", At: at}, Answer: crawllog.Answer{Status: 200}, Payload: crawllog.Payload{Length: 3, Digest: warc.Sum("", []byte("foo"))}, Stored: crawllog.Stored{Kept: crawllog.KeptResponse, Record: &crawllog.Record{Segment: "curtsy-20260301120000-00000.warc.gz", Offset: 9, Length: 3,
		ID: warc.NewID()}}, Robots: &crawllog.Decision{Allow: true, Fetched: at}}
	for range 3 { // with and without a record, and with rare fields
		whole, err := crawllog.Pack(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(v.Ref().Key(), whole, true)
		f.Add(v.Ref().Key(), whole[:len(whole)-5], true)
		if v.Record = nil; len(v.Usage) == 0 {
			v.Directives = &crawllog.Directives{NoIndex: true,
				Sources: []robotsmeta.Source{{Directive: "noindex", From: "meta", Text: "none"}}}
			v.Usage, v.Rendered = []usage.Statement{{Line: 1, By: "b"}},
				&crawllog.Rendered{Missing: []crawllog.Missing{{URL: "u", Why: "w"}}}
		}
	}
	f.Fuzz(func(t *testing.T, key, value []byte, sealed bool) {
		if sealed {
			value = sum.Seal(key, value)
		}
		v, err := readVisit(key, value)
		if (v == nil) == (err == nil) {
			t.Errorf("%q: %v, %v", value, v, err)
		}
		if err == nil {
			var again crawllog.Visit
			if b, err := crawllog.Pack(v); err != nil || crawllog.Unpack(b, &again) != nil || again.URL != v.URL ||
				!again.At.Equal(v.At) {
				t.Errorf("%q: packed anew it is %+v, %v", value, again, err)
			}
		}
		if err == nil && !sealed {
			if _, ok := sum.Open(key, value); !ok {
				t.Errorf("%q: read with a wrong sum", value)
			}
		}
	})
}

// FuzzScan: whatever a segment contains, a rebuild reads it to its end, and every record found lies
// within the file.
func FuzzScan(f *testing.F) {
	e := warc.NewEncoder()
	block := []byte("HTTP/1.1 200 OK\r\n\r\nbody")
	h := &warc.Header{Type: warc.TypeResponse, ID: warc.NewID(), TargetURI: "http://h/",
		PayloadDigest: warc.Sum("", []byte("body"))}
	response := e.Append(nil, h, warc.Small, block)
	fields := []byte("withheld: all\r\n" + `curtsy-visit: {"class":"page"}` + "\r\n")
	withheld := e.Append(nil, &warc.Header{Type: warc.TypeMetadata, ID: warc.NewID(), TargetURI: "http://h/2"},
		warc.Small, fields)
	f.Add(append(bytes.Clone(response), withheld...))
	f.Add(append(response[:len(response)/2], withheld...))
	f.Add(bytes.Repeat([]byte{0x1f, 0x8b, 8}, 20))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		name := "f-20260101000000-00000.warc.gz"
		if err := errors.Join(os.Mkdir(filepath.Join(dir, warcDir), 0o755),
			os.WriteFile(filepath.Join(dir, warcDir, name), b, 0o644)); err != nil {
			t.Fatal(err)
		}
		end := int64(0)
		d, err := openDirectory(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer d.close()
		entry, err := d.scanSegment(name, &Report{}, func(c *crawllog.Recovered) error {
			r := c.Visit.Record
			if r.Offset < end || r.Length <= 0 || r.Offset+r.Length > int64(len(b)) {
				t.Errorf("a capture at %+v of %d bytes, behind %d", *r, len(b), end)
			}
			end = r.Offset + r.Length
			return nil
		}, func(string) {})
		if err != nil || entry.Size > int64(len(b)) {
			t.Errorf("%+v, %v", entry, err)
		}
	})
}
