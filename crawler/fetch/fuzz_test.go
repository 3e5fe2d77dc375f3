package fetch

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"curtsy/internal/weburl"
)

// script is a connection whose peer sends text, piece octets at a time, and then closes.
type script struct {
	net.Conn
	text  []byte
	piece int
}

func (s *script) Read(b []byte) (int, error) {
	if len(s.text) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), s.piece)], s.text)
	s.text = s.text[n:]
	return n, nil
}

func (s *script) Write(b []byte) (int, error)      { return len(b), nil }
func (s *script) Close() error                     { return nil }
func (s *script) SetDeadline(time.Time) error      { return nil }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }

// scripts is a client all of whose connections are scripts.
type scripts struct {
	*Client
	next *script
}

func newScripts() *scripts {
	s := &scripts{}
	s.Client = New(Options{AllowHost: "127.0.0.1", SpillAt: 1 << 20, MaxHead: 1 << 14, MaxBody: 1 << 20,
		Dial: func(context.Context, string, string) (net.Conn, error) {
			return s.next, nil
		}})
	return s
}

// ask makes one exchange with a server that sends answer.
func (s *scripts) ask(answer []byte, piece int) *Exchange {
	s.pool.close() // no connection is kept
	s.next = &script{text: answer, piece: piece}
	return s.Do(context.Background(), Request{URL: weburl.MustParse("http://127.0.0.1/")})
}

var blankBeforeColon = regexp.MustCompile(`(?m)^[^:\r\n]*[ \t]+:`)

// FuzzResponse compares this client with net/http's reader where both accept a response, and a
// response that arrives at once with the same one in small pieces.
func FuzzResponse(f *testing.F) {
	for _, s := range []string{
		page, "", "HTTP/1.1 204 No\r\n\r\nx", "HTTP/1.0 200 OK\nA:b\n c\n\nxyz", "HTTP/1.1 100 C\r\n\r\n" + page,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nfoo\r\n0\r\nX: y\r\n\r\nrest",
		"HTTP/1.1 200 OK\r\nContent-Length: 3, 3\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08",
	} {
		f.Add([]byte(s), 7)
	}
	c := newScripts()
	f.Fuzz(func(t *testing.T, answer []byte, piece int) {
		x := c.ask(answer, 1<<20)
		defer x.Release()
		payload := payloadOf(t, x)
		y := c.ask(answer, 1+piece&63)
		defer y.Release()
		if kindOf(x.Err) != kindOf(y.Err) || x.Truncated != y.Truncated || !bytes.Equal(payload, payloadOf(t, y)) ||
			!bytes.Equal(x.Head, y.Head) {
			t.Fatalf("in pieces of %d: %v %q, in one: %v %q", 1+piece&63, y.Err, y.Truncated, x.Err, x.Truncated)
		}
		x.Decoded(1 << 16)
		if x.Err != nil || x.Truncated != "" || !bytes.HasPrefix(answer, x.Head) {
			return
		}
		if blankBeforeColon.Match(x.Head) {
			return // net/http reads another field name; RFC 9112 §5.1 removes the blank in a response
		}
		r, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(answer)), nil)
		if err != nil {
			return // this client is the more lenient one
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || x.Proto == "HTTP/1.0" && strings.Contains(strings.ToLower(string(x.Head)),
			"transfer-encoding") {
			return
		}
		if r.StatusCode != x.Status || !bytes.Equal(body, payload) {
			t.Errorf("got %d %q, net/http %d %q", x.Status, payload, r.StatusCode, body)
		}
	})
}

func payloadOf(t *testing.T, x *Exchange) []byte {
	r, n := x.Payload()
	return []byte(all(t, r, n))
}

// FuzzDecoded decodes arbitrary input with every coding and checks the limits.
func FuzzDecoded(f *testing.F) {
	for _, c := range []string{"gzip", "zlib", "raw", "br", "zstd"} {
		f.Add(strings.NewReplacer("zlib", "deflate", "raw", "deflate").Replace(c),
			[]byte(code(f, strings.Repeat("hello ", 50), c)))
	}
	f.Add("gzip, br", []byte(code(f, "hello", "gzip", "br")))
	c := newScripts()
	f.Fuzz(func(t *testing.T, coding string, body []byte) {
		coding = strings.Map(func(r rune) rune {
			if r < ' ' {
				return -1
			}
			return r
		}, coding)
		x := c.ask([]byte(answerOf(coding, string(body))), 1<<20)
		defer x.Release()
		const most = 1 << 16
		began := time.Now()
		b, cut, err := x.Decoded(most)
		if len(b) > most || cut && (len(b) == 0 && err != nil) || time.Since(began) > 20*time.Second {
			t.Errorf("%d bytes, cut %v, %v, in %v", len(b), cut, err, time.Since(began))
		}
		if r, n := x.Payload(); x.Err == nil && all(t, r, n) != string(body) {
			t.Error("the payload is not what came")
		}
	})
}
