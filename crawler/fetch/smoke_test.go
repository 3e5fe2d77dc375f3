package fetch

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"curtsy/internal/weburl"
)

func TestSmoke(t *testing.T) {
	big := strings.Repeat("x", 300000)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/c" {
			io.WriteString(w, big)
			w.(http.Flusher).Flush()
			io.WriteString(w, "end")
			return
		}
		w.Header().Set("Content-Length", "300000")
		io.WriteString(w, big)
	}))
	defer s.Close()
	c := New(Options{AllowHost: "127.0.0.1", UserAgent: "curtsy/0", SpillAt: 100000})
	defer c.Close()
	for _, p := range []string{"/", "/c", "/"} {
		x := c.Do(context.Background(), Request{URL: weburl.MustParse(s.URL + p)})
		b, _, err := x.Decoded(1 << 20)
		t.Logf("%v %d %q %s %d %v %v %v %v\n%s%s", x.Err, x.Status, x.Truncated, x.Proto, len(b), err, x.FirstByte, x.Total, x.IP, x.RequestBytes, x.Head)
		x.Release()
	}
}
