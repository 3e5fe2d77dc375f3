package warc

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

func inflate(t testing.TB, member []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(member))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func page(i int) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<!DOCTYPE html><title>page %d</title>", i)
	for j := range 300 {
		fmt.Fprintf(&b, "<li class=\"item\"><a href=\"page-%d.html\">the page with number %d</a></li>\n", (i*j)%977, j)
	}
	return []byte(b.String())
}

func TestWhatTheDeflaterWritesInflates(t *testing.T) {
	d := &deflater{}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		src := page(i)
		switch i % 7 {
		case 1:
			src = src[:i%50]
		case 2:
			src = bytes.Repeat([]byte{byte(i)}, rng.IntN(100_000))
		case 3:
			src = make([]byte, rng.IntN(50_000))
			for j := range src {
				src[j] = byte(rng.Uint32())
			}
		case 4:
			src = bytes.Repeat(src[:rng.IntN(1000)], rng.IntN(100)) // far matches
		}
		if got := inflate(t, d.appendMember(nil, src)); !bytes.Equal(got, src) {
			t.Fatalf("record %d of %d bytes does not inflate to itself", i, len(src))
		}
		if got := inflate(t, appendStored([]byte("x"), src)[1:]); !bytes.Equal(got, src) {
			t.Fatalf("stored record %d of %d bytes does not inflate to itself", i, len(src))
		}
	}
}

func TestPagesAreCompressedAboutAsGzipDoes(t *testing.T) {
	d := &deflater{}
	var ours, theirs int
	for i := range 200 {
		src := page(i)
		ours += len(d.appendMember(nil, src))
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, 1)
		z.Write(src)
		z.Close()
		theirs += b.Len()
	}
	if float64(ours) > 1.2*float64(theirs) {
		t.Errorf("%d bytes, gzip -1 makes %d", ours, theirs)
	}
}

func FuzzDeflate(f *testing.F) {
	f.Add([]byte("hello hello hello hello"), 3)
	f.Add(page(1), 70)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		d := &deflater{}
		for i := range min(max(n, 1), 80) {
			src := b
			if i%2 == 1 {
				src = append(bytes.Repeat(b, 3), page(i)[:2000]...)
			}
			if !bytes.Equal(inflate(t, d.appendMember(nil, src)), src) {
				t.Fatalf("record %d does not inflate to itself", i)
			}
		}
	})
}

func BenchmarkDeflate(b *testing.B) {
	d := &deflater{}
	src := page(7)
	var dst []byte
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		dst = d.appendMember(dst[:0], src)
	}
	b.ReportMetric(float64(len(dst))/float64(len(src)), "ratio")
}
