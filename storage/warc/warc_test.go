package warc

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestRoundTrip(t *testing.T) {
	when := time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC)
	body := "HTTP/1.1 200 OK\r\n\r\nhello"
	want := Header{Type: TypeResponse, ID: NewID(), Date: when, TargetURI: "http://h/x",
		ContentType: "application/http; msgtype=response",
		IP:          netip.MustParseAddr("2001:db8::1"), WarcinfoID: NewID(), BlockDigest: Sum("", []byte(body)),
		PayloadDigest: Sum("", []byte("hello")), Truncated: "length", Length: int64(len(body))}
	var file bytes.Buffer
	e := NewEncoder()
	for _, effort := range []Effort{Small, Quick, Stored} {
		file.Write(e.Append(nil, &want, effort, []byte(body)))
	}
	r := NewReader(bytes.NewReader(file.Bytes()), 0)
	for i := range 3 {
		got, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if *got != want {
			t.Errorf("record %d: header\n%+v\nwant\n%+v", i, *got, want)
		}
		b, err := io.ReadAll(r)
		if err != nil || string(b) != body {
			t.Errorf("record %d: block %q, %v", i, b, err)
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("after the last record: %v, want EOF", err)
	}
	z, _ := gzip.NewReader(&file)
	if _, err := io.Copy(io.Discard, z); err != nil {
		t.Errorf("the standard gzip reader: %v", err)
	}
}

func TestTornRecordIsAnError(t *testing.T) {
	var file bytes.Buffer
	h := Header{Type: TypeMetadata, ID: NewID(), Date: time.Now(), Length: 3}
	if err := NewEncoder().Stream(&file, &h, Quick, strings.NewReader("abc")); err != nil {
		t.Fatal(err)
	}
	for n := 1; n < file.Len(); n++ {
		r := NewReader(bytes.NewReader(file.Bytes()[:n]), 0)
		_, err := r.Next()
		if err == nil {
			err = r.Finish()
		}
		if err == nil {
			t.Fatalf("cut at %d of %d: no error", n, file.Len())
		}
	}
}

func TestBlockOfWrongLengthIsAnError(t *testing.T) {
	h := Header{Type: TypeMetadata, ID: NewID(), Length: 2}
	if err := NewEncoder().Stream(io.Discard, &h, Stored, strings.NewReader("abc")); err == nil {
		t.Error("a block longer than declared was written")
	}
}

func TestNoFieldComesFromAValue(t *testing.T) {
	h := Header{Type: TypeResponse, TargetURI: "http://h/\r\nWARC-Type: warcinfo"}
	if s := string(h.append(nil)); strings.Count(s, "\r\nWARC-Type:") != 1 {
		t.Errorf("a value made a field:\n%s", s)
	}
}

func TestDigest(t *testing.T) {
	d := Digest(sha256.Sum256([]byte("hello")))
	if got, want := d.String(), "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"; got != want {
		t.Errorf("digest of hello = %s, want %s", got, want)
	}
	if back, ok := ParseDigest(d.String()); !ok || back != d {
		t.Error("the digest does not read back")
	}
	for _, label := range []string{d.String(), "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N"} { // of other programs
		l := NewLabelled(label)
		l.Write([]byte("hello"))
		if l.String() != label {
			t.Errorf("%s: %s", label, l)
		}
	}
	for _, s := range []string{"", "sha256:", "sha256:" + strings.Repeat("0", 63), "sha256:" + strings.Repeat("A", 64),
		"sha256:" + strings.Repeat("g", 64), "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N", strings.Repeat("0", 64)} {
		if _, ok := ParseDigest(s); ok {
			t.Errorf("%q is read as a digest", s)
		}
	}
}

func TestID(t *testing.T) {
	if id := NewID(); !regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) {
		t.Errorf("id %q is not a version 4 UUID", id)
	}
}

func FuzzReader(f *testing.F) {
	var file bytes.Buffer
	h := Header{Type: TypeMetadata, ID: NewID(), Date: time.Now(), Length: 3}
	file.Write(NewEncoder().Append(nil, &h, Quick, []byte("abc")))
	f.Add(file.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		r := NewReader(bytes.NewReader(b), 0)
		for {
			if _, err := r.Next(); err != nil {
				return
			}
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	body := []byte("<!DOCTYPE html><title>page 7</title>")
	for i := range 300 {
		body = fmt.Appendf(body, "<li class=\"item\"><a href=\"page-%d.html\">the page with number %d</a></li>\n",
			7*i%977, i)
	}
	h := Header{Type: TypeResponse, ID: NewID(), Date: time.Now(), TargetURI: "http://h/x"}
	e := NewEncoder()
	var dst []byte
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		dst = e.Append(dst[:0], &h, Quick, body)
	}
}
