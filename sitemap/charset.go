package sitemap

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
)

// toUTF8 decodes a file by its byte order mark, by the NULs of UTF-16, or by
// the encoding its XML declaration names. Anything else stays as it is.
func toUTF8(in *bufio.Reader) io.Reader {
	head, _ := in.Peek(1024)
	if e := charsetOf(head); e != nil {
		return e.NewDecoder().Reader(in)
	}
	return in
}

func charsetOf(head []byte) encoding.Encoding {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("<\x00")):
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case bytes.HasPrefix(head, []byte("\xfe\xff")), bytes.HasPrefix(head, []byte("\x00<")):
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		return nil
	}
	e, err := htmlindex.Get(declared(head))
	if err != nil || e == unicode.UTF8 {
		return nil
	}
	if name, _ := htmlindex.Name(e); strings.HasPrefix(name, "utf-16") {
		return nil // it could not be read as ASCII if it were
	}
	return e
}

// declared is the encoding in <?xml … encoding="…"?>, "" if there is none.
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
