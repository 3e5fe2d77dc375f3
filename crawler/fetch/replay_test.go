package fetch

import (
	"bytes"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"curtsy/internal/weburl"
)

func TestReplayReadsWhatAnArchiveKeeps(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte("hello"))
	z.Close()
	c := New(Options{})
	defer c.Close()
	u, at := weburl.MustParse("http://h/"), time.Unix(1000, 0)
	for name, tc := range map[string]struct {
		head    string
		payload []byte
		status  int
		want    string
	}{
		"plain": {"HTTP/1.1 200 OK\r\n\r\n", []byte("hello"), 200, "hello"},
		"gzip": {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n",
			packed.Bytes(), 200, "hello"},
		"chunks, undone already": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
			[]byte("hello"), 200, "hello"},
		"gzip in transfer": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
			packed.Bytes(), 200, "hello"},
		"no body":                   {"HTTP/1.1 304 Not Modified\r\n\r\n", nil, 304, ""},
		"less than the head claims": {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", []byte("hello"), 200, "hello"},
	} {
		x, err := c.Replay(u, at, []byte(tc.head), tc.payload)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		body, _, err := x.Decoded(1000)
		if _, n := x.PayloadDigest(); string(body) != tc.want || err != nil || x.Status != tc.status ||
			string(x.Head) != tc.head || n != int64(len(tc.payload)) || !x.Start.Equal(at) {
			t.Errorf("%s: %d %q %v, want %d %q", name, x.Status, body, err, tc.status, tc.want)
		}
		x.Release()
	}
	if _, err := c.Replay(u, at, []byte("no head\r\n\r\n"), nil); err == nil {
		t.Error("what is no head was read as one")
	}
}
