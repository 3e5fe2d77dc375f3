package coding

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"unicode/utf8"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// layer starts decoding one coding of r.
func (p *Pool) layer(coding string, r io.Reader, most int64) (*Reader, error) {
	l := &Reader{coding: coding, left: most + 1, pool: p, in: p.buffered(r)}
	l.r = l.in
	head, _ := l.in.Peek(256) // may be shorter
	var err error
	switch coding {
	case "gzip", "x-gzip":
		err = l.openGzip(head)
	case "deflate":
		l.openDeflate(head)
	case "br":
		l.openBrotli(head)
	case "zstd":
		err = l.openZstd(head)
	default:
		if len(head) > 0 && !isText(head) { // some servers send charsets such as "utf-8" as the coding of text
			err = errors.New("unknown coding")
		}
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// members reads all members of a gzip file (RFC 1952 §2.2). It ignores trailing data that is
// not a member.
type members struct {
	z  *gzip.Reader
	in *bufio.Reader
	n  int
}

func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.z.Read(p)
		if n > 0 && err == io.EOF {
			return n, nil // EOF is returned again on the next call
		}
		if err != io.EOF {
			return n, err
		}
		if m.n++; m.n == maxMembers {
			return 0, errors.New("more than 100000 members")
		}
		if head, _ := m.in.Peek(3); !isGzip(head) || m.z.Reset(m.in) != nil {
			return 0, io.EOF
		}
		m.z.Multistream(false)
	}
}

func (l *Reader) openGzip(head []byte) error {
	if !isGzip(head) {
		l.alien = isAlien(head, gzipMagic)
		return nil
	}
	z, _ := l.pool.gzips.Get().(*gzip.Reader)
	if z == nil {
		z = new(gzip.Reader)
	}
	if err := z.Reset(l.in); err != nil {
		return err
	}
	z.Multistream(false)
	l.r = &members{z: z, in: l.in}
	l.put = func() { l.pool.gzips.Put(z) }
	return nil
}

// openDeflate accepts the zlib format that the standard requires (RFC 9110 §8.4.1.2) and the
// raw deflate stream that some servers send instead.
func (l *Reader) openDeflate(head []byte) {
	switch {
	case isZlib(head):
		if z, err := zlib.NewReader(l.in); err == nil {
			l.r = z
			return
		}
	case isText(head):
		return
	}
	l.r = flate.NewReader(l.in)
}

func (l *Reader) openBrotli(head []byte) {
	if isText(head) {
		return
	}
	z, _ := l.pool.brotlis.Get().(*brotli.Reader)
	if z == nil {
		z = brotli.NewReader(nil)
	}
	z.Reset(l.in)
	l.r, l.put = z, func() { l.pool.brotlis.Put(z) }
}

// maxWindow is the largest window that a zstd content coding may use (RFC 9659 §3); it limits
// the decoder's memory.
const maxWindow = 8 << 20

func (l *Reader) openZstd(head []byte) error {
	if !isZstd(head) {
		l.alien = isAlien(head, zstdMagic)
		return nil
	}
	z, _ := l.pool.zstds.Get().(*zstd.Decoder)
	if z == nil {
		var err error
		z, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return err
		}
	}
	if err := z.Reset(l.in); err != nil {
		return err
	}
	l.r = z
	l.put = func() {
		z.Reset(nil)
		l.pool.zstds.Put(z)
	}
	return nil
}

// isGzip, isZlib and isZstd detect the first octets defined by RFC 1952, 1950 and 8878.
func isGzip(b []byte) bool { return bytes.HasPrefix(b, gzipMagic) }

var gzipMagic, zstdMagic = []byte{0x1f, 0x8b, 8}, []byte{0x28, 0xb5, 0x2f, 0xfd}

// isAlien reports whether a body that does not begin with its coding's magic octets is not a
// document without the coding either, by the rules of browsers: it is damaged.
func isAlien(head, magic []byte) bool {
	if len(head) == 0 {
		return false
	}
	kind := http.DetectContentType(head)
	return bytes.HasPrefix(magic, head) || kind == "application/octet-stream" || kind == "application/x-gzip"
}

func isZlib(b []byte) bool {
	return len(b) >= 2 && b[0]&0x0f == 8 && b[0]>>4 <= 7 && (uint(b[0])<<8|uint(b[1]))%31 == 0
}

func isZstd(b []byte) bool {
	skippable := len(b) >= 4 && b[0]&0xf0 == 0x50 && bytes.Equal(b[1:4], []byte{0x2a, 0x4d, 0x18})
	return skippable || bytes.HasPrefix(b, zstdMagic)
}

// isText reports whether b begins like text; brotli and raw deflate have no magic octets. No
// brotli stream begins with "<", and sixteen octets of UTF-8 without controls are hardly a
// coincidence.
func isText(b []byte) bool {
	if len(b) > 0 && b[0] == '<' {
		return true
	}
	if len(b) < 16 {
		return false
	}
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		whole := utf8.FullRune(b)
		if whole && r == utf8.RuneError && n == 1 || r < ' ' && r != '\t' && r != '\n' && r != '\r' && r != '\f' {
			return false
		}
		b = b[n:]
	}
	return true
}
