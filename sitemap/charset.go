package sitemap

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"curtsy/internal/charsets"
)

// toUTF8 decodes a file by its byte order mark, by the NULs of UTF-16, or by the encoding of
// its XML declaration. Otherwise the octets stay unchanged, except that a UTF-16 byte order
// mark before other text is removed.
func toUTF8(in *bufio.Reader) io.Reader {
	head, _ := in.Peek(1024)
	for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
		if rest, ok := bytes.CutPrefix(head, []byte(mark)); ok && bytes.IndexByte(rest, 0) < 0 {
			in.Discard(len(mark))
			head = rest
		}
	}
	if e := charsetOf(head); e != nil {
		return e.NewDecoder().Reader(in)
	}
	return in
}

func charsetOf(head []byte) encoding.Encoding {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")):
		return utf32.UTF32(utf32.LittleEndian, utf32.UseBOM)
	case bytes.HasPrefix(head, []byte("\x00\x00\xfe\xff")):
		return utf32.UTF32(utf32.BigEndian, utf32.UseBOM)
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("<\x00")):
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case bytes.HasPrefix(head, []byte("\xfe\xff")), bytes.HasPrefix(head, []byte("\x00<")):
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		return nil
	}
	e, name := charsets.Lookup(declared(head))
	if name == "utf-8" || strings.HasPrefix(name, "utf-16") {
		return nil // in UTF-16 the declaration could not be read as ASCII
	}
	return e
}

// declared returns the encoding of <?xml … encoding="…"?>; "" if there is none.
func declared(head []byte) string {
	head = bytes.TrimLeft(head, " \t\r\n")
	if !bytes.HasPrefix(head, []byte("<?xml")) {
		return ""
	}
	head, _, _ = bytes.Cut(head, []byte("?>"))
	_, after, ok := bytes.Cut(head, []byte("encoding"))
	after = bytes.TrimLeft(after, " \t\r\n=")
	if !ok || len(after) < 2 || after[0] != '"' && after[0] != '\'' {
		return ""
	}
	name, _, _ := bytes.Cut(after[1:], after[:1])
	return string(name)
}
