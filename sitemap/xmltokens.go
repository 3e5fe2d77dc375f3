package sitemap

import (
	"bufio"
	"bytes"
	"strings"
)

// maxToken is the most octets kept of a tag or text; the rest is skipped.
const maxToken = 8 << 10

// tokenKind is a kind of XML token. Comments, declarations and processing instructions are
// skipped. Entities declared in a DTD are not supported; text and values that refer to one are
// marked.
type tokenKind int

const (
	tokenEnd   tokenKind = iota // end of the file
	tokenOpen                   // <a …>
	tokenClose                  // </a>
	tokenText                   // text or CDATA
)

// token is an XML token. text is valid until the next call of next.
type token struct {
	kind   tokenKind
	prefix string // namespace prefix, verbatim
	name   string // local name
	attrs  string // the text after the name
	empty  bool   // <a/>
	text   []byte
	html   bool // from a declaration <!DOCTYPE html>
	entity bool // text refers to an entity that the DTD may declare
}

// tokens is a lenient XML tokenizer with constant memory. Malformed input yields odd tokens but
// no errors.
type tokens struct {
	in  *bufio.Reader
	buf []byte
	dtd bool // a DTD was seen
}

// next returns the next token, an empty text for what is skipped.
func (t *tokens) next() token {
	c, err := t.in.ReadByte()
	if err != nil {
		return token{}
	}
	if c != '<' {
		t.in.UnreadByte()
		return t.text()
	}
	switch head, _ := t.in.Peek(8); {
	case bytes.HasPrefix(head, []byte("!--")):
		t.in.Discard(3)
		t.upTo("-->")
		return token{kind: tokenText}
	case bytes.HasPrefix(head, []byte("![CDATA[")):
		t.in.Discard(8)
		if !t.upTo("]]>") {
			return token{}
		}
		return token{kind: tokenText, text: t.buf}
	case bytes.HasPrefix(head, []byte("?")):
		t.upTo("?>")
		return token{kind: tokenText}
	case bytes.HasPrefix(head, []byte("!")):
		return t.declaration()
	}
	return t.tag()
}

// upTo reads up to a mark and keeps the text before it, up to maxToken.
func (t *tokens) upTo(mark string) bool {
	t.buf = t.buf[:0]
	last := mark[len(mark)-1]
	var tail [3]byte
	n := len(mark)
	for {
		c, err := t.in.ReadByte()
		if err != nil {
			return false
		}
		copy(tail[:], tail[1:])
		tail[2] = c
		t.keep(c)
		if c == last && string(tail[3-n:]) == mark {
			t.buf = t.buf[:max(0, len(t.buf)-n)]
			return true
		}
	}
}

func (t *tokens) keep(c byte) {
	if len(t.buf) < maxToken {
		t.buf = append(t.buf, c)
	}
}

// text reads character data up to the next '<' and decodes references.
func (t *tokens) text() token {
	t.buf = t.buf[:0]
	for {
		chunk, err := t.in.ReadSlice('<')
		if err == nil {
			chunk = chunk[:len(chunk)-1]
			t.in.UnreadByte()
		}
		t.buf = append(t.buf, chunk[:min(len(chunk), maxToken-len(t.buf))]...)
		if err != bufio.ErrBufferFull {
			text, named := unescape(t.buf)
			return token{kind: tokenText, text: text, entity: named && t.dtd}
		}
	}
}

// declaration skips <!DOCTYPE …> with an internal subset. Quoted values, comments and
// processing instructions in it cannot end it (XML §2.8).
func (t *tokens) declaration() token {
	var head strings.Builder // up to the internal subset
	var quote byte
	for depth := 0; ; {
		c, err := t.in.ReadByte()
		if err != nil {
			return token{}
		}
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"', c == '\'':
			quote = c
		case c == '<' && depth > 0:
			t.aside()
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == '>' && depth <= 0:
			words := strings.Fields(strings.ToLower(head.String()))
			t.dtd = t.dtd || len(words) > 2 || strings.Contains(head.String(), "[")
			html := len(words) >= 2 && words[0] == "!doctype" && words[1] == "html"
			return token{kind: tokenText, html: html}
		}
		if head.Len() < maxToken && (depth == 0 || c == '[') {
			head.WriteByte(c)
		}
	}
}

// aside skips a comment or processing instruction that begins here.
func (t *tokens) aside() {
	switch head, _ := t.in.Peek(3); {
	case string(head) == "!--":
		t.in.Discard(3)
		t.upTo("-->")
	case bytes.HasPrefix(head, []byte("?")):
		t.upTo("?>")
	}
}

// tag reads up to the first unquoted '>'.
func (t *tokens) tag() token {
	t.buf = t.buf[:0]
	var quote byte
	for {
		c, err := t.in.ReadByte()
		if err != nil {
			return token{}
		}
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '>':
			return t.readTag()
		case (c == '"' || c == '\'') && bytes.IndexByte(t.buf, '=') > 0:
			quote = c
		}
		t.keep(c)
	}
}

func (t *tokens) readTag() token {
	s := string(t.buf)
	k := token{kind: tokenOpen}
	if strings.HasPrefix(s, "/") {
		k.kind, s = tokenClose, s[1:]
	}
	s, k.empty = strings.CutSuffix(s, "/")
	end := strings.IndexAny(s, " \t\r\n/")
	if end < 0 {
		end = len(s)
	}
	k.name, k.attrs = s[:end], s[end:]
	if i := strings.LastIndexByte(k.name, ':'); i >= 0 {
		k.prefix, k.name = k.name[:i], k.name[i+1:]
	}
	return k
}

// attr returns the value of an attribute of a tag by its qualified name; "" also if it refers to
// an entity of the DTD.
func (t *tokens) attr(k token, name string) string {
	s := k.attrs
	for {
		key, rest, ok := strings.Cut(s, "=")
		rest = strings.TrimLeft(rest, " \t\r\n")
		if !ok || rest == "" || rest[0] != '"' && rest[0] != '\'' {
			return ""
		}
		value, after, _ := strings.Cut(rest[1:], rest[:1])
		if strings.TrimSpace(key) == name {
			text, named := unescape([]byte(value))
			if named && t.dtd {
				return ""
			}
			return string(text)
		}
		s = after
	}
}
