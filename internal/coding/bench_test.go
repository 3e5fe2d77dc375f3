package coding

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"testing"
)

// BenchmarkGzip decodes a page that is in memory and one that comes from a reader.
func BenchmarkGzip(b *testing.B) {
	var coded bytes.Buffer
	z := gzip.NewWriter(&coded)
	for i := range 600 {
		fmt.Fprintf(z, "<li><a href=\"/page-%d.html\">The %dth of its kind</a> says what %d says</li>\n", i,
			i*7919%601, i*31)
	}
	z.Close()
	for name, open := range map[string]func() io.Reader{
		"memory": func() io.Reader { return bytes.NewReader(coded.Bytes()) },
		"stream": func() io.Reader { return io.MultiReader(bytes.NewReader(coded.Bytes())) },
	} {
		b.Run(name, func(b *testing.B) {
			var p Pool
			for b.Loop() {
				r, err := p.Open(open(), []string{"gzip"}, 1<<20)
				if err != nil {
					b.Fatal(err)
				}
				if n, err := io.Copy(io.Discard, r); err != nil || n < 30_000 {
					b.Fatal(n, err)
				}
				r.Close()
			}
		})
	}
}
