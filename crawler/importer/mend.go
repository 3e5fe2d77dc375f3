package importer

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"curtsy/internal/http1"
)

// maxHead bounds the HTTP head of a response, in octets, as in the archive.
const maxHead = 1 << 20

// errNoHead reports that a block does not begin with an HTTP head.
var errNoHead = errors.New("no HTTP head begins its block")

// splitHead splits the head from the beginning of a block; body is the offset of the body. If whole
// says that begin is the entire block, the blank line may be missing.
func splitHead(begin []byte, whole bool) (head []byte, body int, err error) {
	if !bytes.HasPrefix(begin, []byte("HTTP/")) {
		return nil, 0, errNoHead
	}
	if end, _ := http1.HeadEnd(begin, 0, 0); end >= 0 {
		return begin[:end:end], end, nil
	}
	if !whole {
		return nil, 0, fmt.Errorf("its HTTP head is longer than %d bytes", maxHead)
	}
	return append(bytes.TrimRight(bytes.Clone(begin), "\r\n"), "\r\n\r\n"...), len(begin), nil
}

// mender corrects a head so that it describes its body. Programs that record what a browser gives
// them store decoded bodies under heads that name codings, and HTTP/2 status lines. A field that
// does not apply is renamed to X-Orig-…, as those programs do, and the original head is kept in the
// metadata.
type mender struct {
	lines []string // the status line and the fields, without line ends
	said  []string // what was corrected
}

// mend returns the corrected head and what was corrected; said is nil if head is returned
// unchanged. body is the beginning of the body; bare says that no coding is left in it.
func mend(head, body []byte, bare bool) (mended []byte, said []string, err error) {
	m := &mender{lines: strings.Split(strings.ReplaceAll(strings.TrimRight(string(head), "\r\n"), "\r\n", "\n"), "\n")}
	if err := m.status(); err != nil {
		return nil, nil, err
	}
	h, err := m.fields()
	if err != nil {
		return nil, nil, err
	}
	if te := http1.Tokens(h["Transfer-Encoding"]); len(te) > 0 {
		chunk, isChunked := firstChunk(body)
		if bare || te[len(te)-1] != "chunked" || !isChunked {
			m.rename("Transfer-Encoding", "the body is not in the transfer coding that its head names")
		} else {
			body = chunk // the content coding begins in its data
		}
	}
	if ce := http1.Tokens(h["Content-Encoding"]); len(ce) > 0 && (bare || !isCoded(ce[len(ce)-1], body)) {
		m.rename("Content-Encoding", "the body is not in the content coding that its head names")
	}
	if h, err = m.fields(); err != nil {
		return nil, nil, err
	}
	if _, err := http1.FrameOf("HTTP/1.1", http.StatusOK, h); err != nil {
		m.rename("Content-Length", err.Error())
	}
	if len(m.said) == 0 {
		return head, nil, nil
	}
	return []byte(strings.Join(m.lines, "\r\n") + "\r\n\r\n"), m.said, nil
}

// status rewrites the status line as HTTP/1.1 if it is not one of HTTP/1.
func (m *mender) status() error {
	if _, _, err := http1.ParseStatus(m.lines[0]); err == nil {
		return nil
	}
	proto, rest, _ := strings.Cut(m.lines[0], " ")
	code, words, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	n, err := strconv.Atoi(code)
	if err != nil || n < 100 || n > 999 {
		return fmt.Errorf("its status line is %.60q", m.lines[0])
	}
	m.lines[0] = fmt.Sprintf("HTTP/1.1 %d %s", n, words)
	m.said = append(m.said, "the status line is of "+strings.ToValidUTF8(proto[:min(len(proto), 20)], ""))
	return nil
}

func (m *mender) fields() (http.Header, error) {
	_, _, h, err := http1.ParseHead([]byte(strings.Join(m.lines, "\r\n") + "\r\n\r\n"))
	return h, err
}

// rename prefixes all fields called name with X-Orig-, so that they have no effect.
func (m *mender) rename(name, why string) {
	for i, line := range m.lines[1:] {
		if n, _, ok := strings.Cut(line, ":"); ok && strings.EqualFold(strings.TrimSpace(n), name) {
			m.lines[i+1] = "X-Orig-" + line
		}
	}
	m.said = append(m.said, why)
}

// firstChunk returns the available data of the first chunk; ok is false if body does not begin with one.
func firstChunk(body []byte) (data []byte, ok bool) {
	var c http1.Chunks
	for rest := body; len(rest) > 0; {
		data, n, err := c.Next(rest)
		if err != nil {
			return nil, false
		}
		if len(data) > 0 || c.Ended() {
			return data, true
		}
		rest = rest[n:]
	}
	return nil, len(body) > 0 // a chunk size only
}

// isCoded reports whether a body may be in a coding, judged by the magic number if it has one.
func isCoded(coding string, body []byte) bool {
	magic := map[string]string{"gzip": "\x1f\x8b", "x-gzip": "\x1f\x8b", "zstd": "\x28\xb5\x2f\xfd"}[coding]
	return len(body) == 0 || magic == "" || bytes.HasPrefix(body, []byte(magic))
}
