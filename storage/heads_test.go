package storage

import (
	"errors"
	"io"
	"strings"
	"testing"

	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

func TestReadHTTP(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	const inChunks = ok + "Transfer-Encoding: chunked\r\n\r\n"
	for _, c := range []struct{ says, block, field, body string }{
		{"a line without a colon", ok + "this is no field\r\nA: b\r\n\r\nbody", "b", "body"},
		{"NUL in a value", ok + "A: b\x00c\r\n\r\nbody", "b c", "body"},
		{"a fold", ok + "A: b\r\n c\r\n\r\nbody", "b c", "body"},
		{"a line of CR alone", ok + "\r\r\nA: b\r\n\r\nbody", "b", "body"},
		{"a line as long as a buffer", ok + strings.Repeat("x", 64<<10) + "\r\nA: b\r\n\r\nbody", "b", "body"},
		{"a body that begins as a head ends", ok + "\r\n\r\n\r\n", "", "\r\n\r\n"},
		{"no body", ok + "A: b\n\n", "b", ""},
		{"transfer coding identity", ok + "Transfer-Encoding: identity\r\n\r\nbody", "", "body"},
		{"chunks of an HTTP/1.0 server", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", "",
			"1\r\nx\r\n0\r\n\r\n"},
		{"chunks", inChunks + "1;x=" + strings.Repeat("y", 4000) + "\r\na\r\n2 \r\nbc\r\n0\r\nA: b\r\n\r\n", "", "abc"},
		{"chunks too large to be read at once", inChunks + "186a0\r\n" + strings.Repeat("x", 100_000) + "\r\n0\r\n\r\n",
			"", strings.Repeat("x", 100_000)},
	} {
		r, err := readHTTP(strings.NewReader(c.block))
		if err != nil {
			t.Errorf("%s: %v", c.says, err)
			continue
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Status != 200 || r.Header.Get("A") != c.field || string(body) != c.body {
			t.Errorf("%s: %d, A is %q, body %.40q, %v; want %q, %.40q", c.says, r.Status, r.Header.Get("A"), body, err,
				c.field, c.body)
		}
	}
	for _, block := range []string{inChunks, inChunks + "5\r\nabc", inChunks + "3\r\nabc\r\n"} {
		r, err := readHTTP(strings.NewReader(block))
		if err == nil {
			_, err = io.Copy(io.Discard, r.Body)
		}
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut off, %q: %v", block, err)
		}
	}
	for _, block := range []string{"", "garbage\r\n\r\n", ok + "A: b\r\n",
		ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxy", ok + strings.Repeat("A: b\r\n", 20_000) + "\r\n",
		ok + strings.Repeat("x", 3<<20) + "\r\n\r\n"} {
		if _, err := readHTTP(strings.NewReader(block)); !errors.Is(err, ErrHead) {
			t.Errorf("%.60q: %v", block, err)
		}
	}
}

// A malformed head does not keep verify from checking the payload's digest.
func TestThePayloadBehindAnOddHeadIsVerified(t *testing.T) {
	d := warc.Sum("", []byte("body"))
	for body, want := range map[string]error{"body": nil, "bodx": errPayload} {
		block := "HTTP/1.1 200 OK\r\nthis is no field\r\nA: b\x00c\r\nTransfer-Encoding: identity\r\n\r\n" + body
		err := checkPayload(strings.NewReader(block), &warc.Header{PayloadDigest: d},
			&crawllog.Visit{Payload: crawllog.Payload{Digest: d, Length: 4}})
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", body, err)
		}
	}
}
