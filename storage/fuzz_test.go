package storage

import (
	"io"
	"strings"
	"testing"
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
