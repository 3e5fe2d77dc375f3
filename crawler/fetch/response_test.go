package fetch

import (
	"crypto/sha256"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// Each case is a server's response, valid or hostile, and the expected result. The server then closes
// the connection.
func TestResponses(t *testing.T) {
	t.Parallel()
	const ok = "HTTP/1.1 200 OK\r\n"
	many := func(n int, s string) string { return strings.Repeat(s, n) }
	tests := []struct {
		name, answer string
		kind         Kind   // of the error
		wire         string // the body as transferred
		payload      string // "=": the same as wire
		truncated    string
		head         string // "": not checked
	}{
		{name: "a page", answer: ok + "Content-Length: 5\r\n\r\nhello", wire: "hello", payload: "=",
			head: ok + "Content-Length: 5\r\n\r\n"},
		{name: "a page to the end of the connection", answer: ok + "\r\nhello", wire: "hello", payload: "="},
		{name: "an empty page", answer: ok + "Content-Length: 0\r\n\r\n", payload: "="},
		{name: "line feeds alone", answer: "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", wire: "hello", payload: "="},
		{name: "no reason phrase", answer: "HTTP/1.1 200\r\n\r\nx", wire: "x", payload: "="},
		{name: "HTTP/1.0", answer: "HTTP/1.0 200 OK\r\n\r\nx", wire: "x", payload: "="},
		{name: "chunks", answer: ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nfoo\r\n2;x=y\r\nba\r\n0\r\n\r\n",
			wire: "3\r\nfoo\r\n2;x=y\r\nba\r\n0\r\n\r\n", payload: "fooba"},
		{name: "chunks with a trailer", answer: ok +
			"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nA: b\r\nC: d\r\n\r\n",
			wire: "1\r\nx\r\n0\r\nA: b\r\nC: d\r\n\r\n", payload: "x"},
		{name: "chunks of an HTTP/1.0 server are its page",
			answer: "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
			wire:   "1\r\nx\r\n0\r\n\r\n", payload: "="},
		{name: "identity is no coding", answer: ok + "Transfer-Encoding: identity\r\nContent-Length: 1\r\n\r\nx",
			wire: "x", payload: "="},

		{name: "interim heads are dropped", answer: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + ok + "Content-Length: 1\r\n\r\nx", wire: "x", payload: "=", head: ok + "Content-Length: 1\r\n\r\n"},
		{name: "a flood of interim heads", answer: many(1000, "HTTP/1.1 100 Continue\r\n\r\n"), kind: KindProtocol},
		{name: "101", answer: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n", kind: KindProtocol},
		{name: "204 with a body", answer: "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello", payload: "="},
		{name: "304 with a length", answer: "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", payload: "="},

		{name: "bytes behind the length", answer: ok + "Content-Length: 5\r\n\r\nhello, and more",
			wire: "hello", payload: "="},
		{name: "bytes behind the chunks", answer: ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\nmore",
			wire: "1\r\nx\r\n0\r\n\r\n", payload: "x"},
		{name: "a short body", answer: ok + "Content-Length: 9\r\n\r\nhello", wire: "hello", payload: "=",
			truncated: "disconnect"},
		{name: "no body where one is due", answer: ok + "Content-Length: 9\r\n\r\n", payload: "=",
			truncated: "disconnect"},
		{name: "a cut chunk", answer: ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhel", wire: "5\r\nhel",
			payload: "hel", truncated: "disconnect"},
		{name: "no last chunk", answer: ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n", wire: "3\r\nhel\r\n",
			payload: "hel", truncated: "disconnect"},
		{name: "a chunk without a number", answer: ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\nzz\r\n",
			wire: "1\r\nx\r\n", payload: "x", truncated: "disconnect"},
		{name: "a chunk that is longer than it says",
			answer: ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nxyz\r\n0\r\n\r\n", wire: "1\r\nx", payload: "x",
			truncated: "disconnect"},
		{name: "a negative chunk", answer: ok + "Transfer-Encoding: chunked\r\n\r\n-1\r\nx\r\n", payload: "",
			truncated: "disconnect"},
		{name: "a chunk of 2^64", answer: ok + "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\nx\r\n",
			wire: "1000000000000000", payload: "", truncated: "disconnect"},
		{name: "an endless extension", answer: ok + "Transfer-Encoding: chunked\r\n\r\n1;" + many(1<<20, "x"),
			wire: "1;" + many(4094, "x"), payload: "", truncated: "disconnect"},
		{name: "an endless trailer", answer: ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + many(1<<17, "a: b\r\n"),
			wire: "0\r\n" + many(10922, "a: b\r\n") + "a: b", payload: "", truncated: "disconnect"},

		{name: "a length twice", answer: ok + "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx",
			wire: "x", payload: "="},
		{name: "two lengths", answer: ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxy", kind: KindProtocol},
		{name: "two lengths in a line", answer: ok + "Content-Length: 1, 2\r\n\r\nxy", kind: KindProtocol},
		{name: "a negative length", answer: ok + "Content-Length: -1\r\n\r\n", kind: KindProtocol},
		{name: "a signed length", answer: ok + "Content-Length: +1\r\n\r\nx", kind: KindProtocol},
		{name: "a length in hex", answer: ok + "Content-Length: 0x10\r\n\r\n", kind: KindProtocol},
		{name: "a length of 10^30", answer: ok + "Content-Length: 1" + many(30, "0") + "\r\n\r\n", kind: KindProtocol},
		{name: "an empty length", answer: ok + "Content-Length: \r\n\r\nx", wire: "x", payload: "="},
		{name: "a length and chunks", answer: ok +
			"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", wire: "1\r\nx\r\n0\r\n\r\n",
			payload: "x"},
		{name: "chunks twice", answer: ok + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", kind: KindProtocol},
		{name: "chunks that are not last", answer: ok + "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
			kind: KindProtocol},

		{name: "nothing", answer: "", kind: KindDisconnect},
		{name: "half a head", answer: ok + "Content-Le", kind: KindDisconnect},
		{name: "HTTP/0.9", answer: "<html>hello</html>", kind: KindProtocol},
		{name: "garbage before the status line", answer: "\r\n" + ok + "\r\n", kind: KindProtocol},
		{name: "HTTP/2", answer: "HTTP/2 200\r\n\r\n", kind: KindProtocol},
		{name: "HTTP/1.10", answer: "HTTP/1.10 200 OK\r\n\r\n", kind: KindProtocol},
		{name: "a TLS alert", answer: "\x15\x03\x01\x00\x02\x02\x46", kind: KindProtocol},
		{name: "a status of two digits", answer: "HTTP/1.1 20 OK\r\n\r\n", kind: KindProtocol},
		{name: "a status of four digits", answer: "HTTP/1.1 2000 OK\r\n\r\n", kind: KindProtocol},
		{name: "status 000", answer: "HTTP/1.1 000 ?\r\n\r\n", kind: KindProtocol},
		{name: "no status", answer: "HTTP/1.1\r\n\r\n", kind: KindProtocol},
		{name: "a megabyte of one line", answer: ok + "A: " + many(2<<20, "x"), kind: KindHead},
		{name: "a megabyte of status line", answer: "HTTP/1.1 200 " + many(2<<20, "x"), kind: KindHead},
		{name: "a million fields", answer: ok + many(1_000_000, "a: b\r\n") + "\r\n", kind: KindHead},
		{name: "20,000 fields", answer: ok + many(20_000, "a: b\r\n") + "\r\n", kind: KindHead},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := do(t, local(t, Options{}), say(t, tt.answer).url+"/")
			if kindOf(x.Err) != tt.kind {
				t.Fatalf("got error %v, want kind %q", x.Err, tt.kind)
			}
			wire, payload := all2(t, x)
			want := tt.payload
			if want == "=" {
				want = tt.wire
			}
			if wire != tt.wire || payload != want {
				t.Errorf("got wire %.80q, payload %.80q, want %.80q, %.80q", wire, payload, tt.wire, want)
			}
			if x.Truncated != tt.truncated || (x.Cut == nil) != (tt.truncated == "") {
				t.Errorf("got truncated %q (%v), want %q", x.Truncated, x.Cut, tt.truncated)
			}
			if tt.head != "" && string(x.Head) != tt.head {
				t.Errorf("got head %q, want %q", x.Head, tt.head)
			}
		})
	}
}

// all2 reads wire and payload twice and checks the digest.
func all2(t *testing.T, x *Exchange) (wire, payload string) {
	t.Helper()
	for range 2 {
		r, n := x.Wire()
		wire = all(t, r, n)
		r, n = x.Payload()
		payload = all(t, r, n)
	}
	if d, n := x.PayloadDigest(); d != sha256.Sum256([]byte(payload)) || n != int64(len(payload)) {
		t.Errorf("the digest of %d bytes is wrong", n)
	}
	return wire, payload
}

func TestHeaderFields(t *testing.T) {
	tests := []struct{ name, lines, field, want string }{
		{"plain", "A: b\r\n", "A", "b"},
		{"any case", "x-rObots-TAG: noindex\r\n", "X-Robots-Tag", "noindex"},
		{"blanks round the value", "A: \t b \t\r\n", "A", "b"},
		{"a blank before the colon", "A : b\r\n", "A", "b"},
		{"several", "A: b\r\na: c\r\n", "A", "b|c"},
		{"folded", "A: b\r\n c\r\n\td\r\nB: e\r\n", "A", "b c d"},
		{"a fold without a line", " c\r\nA: b\r\n", "A", "b"},
		{"NUL", "A: b\x00c\r\n", "A", "b c"},
		{"CR alone", "A: b\rc\r\n", "A", "b c"},
		{"no colon", "garbage\r\nA: b\r\n", "A", "b"},
		{"no name", ": x\r\nA: b\r\n", "A", "b"},
		{"a name that is none", "Sp ace: x\r\nA: b\r\n", "A", "b"},
		{"a value with colons", "A: http://x:1/\r\n", "A", "http://x:1/"},
		{"bytes that are no UTF-8", "A: \xe9\r\n", "A", "\xe9"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, status, h, err := parseHead([]byte("HTTP/1.1 200 OK\r\n" + tt.lines + "\r\n"))
			if got := strings.Join(h[tt.field], "|"); err != nil || status != 200 || got != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

// A field folded over nine thousand lines does not take quadratic time.
func TestManyFolds(t *testing.T) {
	head := "HTTP/1.1 200 OK\r\nA: b\r\n" + strings.Repeat(" "+strings.Repeat("x", 90)+"\r\n", 9_000) + "\r\n"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, h, err := parseHead([]byte(head))
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; err != nil || len(h.Get("A")) < 800_000 || n > 64<<20 {
		t.Errorf("%d bytes with %d MiB, %v", len(h.Get("A")), n>>20, err)
	}
}

// The body limit truncates a body, whatever its framing.
func TestBodyLimit(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 100_000)
	chunked := strings.Repeat("a\r\n0123456789\r\n", 100_000) + "0\r\n\r\n"
	tests := []struct {
		name, answer string
		most         int64
		wire         int64
		truncated    string
	}{
		{"by length", "Content-Length: 1000000\r\n\r\n" + long, 100_003, 100_003, "length"},
		{"to the end", "\r\n" + long, 100_003, 100_003, "length"},
		{"in chunks", "Transfer-Encoding: chunked\r\n\r\n" + chunked, 100_003, 100_003, "length"},
		{"as long as may be", "Content-Length: 1000000\r\n\r\n" + long, 1_000_000, 1_000_000, ""},
		{"as long as may be, to the end", "\r\n" + long, 1_000_000, 1_000_000, ""},
		{"as long as may be, in chunks", "Transfer-Encoding: chunked\r\n\r\n" + chunked, int64(len(chunked)),
			int64(len(chunked)), ""},
		{"one byte too long, in chunks", "Transfer-Encoding: chunked\r\n\r\n" + chunked, int64(len(chunked)) - 1,
			int64(len(chunked)) - 1, "length"},
		{"a tiny limit", "Content-Length: 1000000\r\n\r\n" + long, 1, 1, "length"},
	}
	for _, tt := range tests {
		for _, spill := range []int64{0, 1000, 1} {
			t.Run(tt.name+", in memory up to "+strconv.FormatInt(spill, 10), func(t *testing.T) {
				c := local(t, Options{MaxBody: tt.most, SpillAt: spill, Spill: spillTo(t.TempDir())})
				x := do(t, c, say(t, "HTTP/1.1 200 OK\r\n"+tt.answer).url+"/")
				if x.Err != nil {
					t.Fatal(x.Err)
				}
				wire, _ := all2(t, x)
				_, body, _ := strings.Cut(tt.answer, "\r\n\r\n")
				if strings.HasPrefix(tt.answer, "\r\n") {
					body = long
				}
				if int64(len(wire)) != tt.wire || wire != body[:tt.wire] || x.Truncated != tt.truncated {
					t.Errorf("got %d bytes, truncated %q, want %d, %q", len(wire), x.Truncated, tt.wire, tt.truncated)
				}
			})
		}
	}
}
