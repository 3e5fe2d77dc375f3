package sitemap

import (
	"bufio"
	"bytes"
	"strings"
)

// maxToken bounds what is kept of one tag or text; the rest is read over.
const maxToken = 8 << 10

// tokenKind is a kind of XML token. Comments, declarations and processing
// instructions are read over: entities that a DTD declares are not supported,
// and a text or value that refers to one is marked.
type tokenKind int

const (
	tokenEnd   tokenKind = iota // of the file
	tokenOpen                   // <a …>
	tokenClose                  // </a>
	tokenText                   // text or CDATA
)

// token is a piece of XML. text is only valid until the next one.
type token struct {
	kind   tokenKind
	prefix string // namespace prefix as written
	name   string // local name
	attrs  string // what follows the name
	empty  bool   // <a/>
	text   []byte
	html   bool // a declaration <!DOCTYPE html>
	entity bool // text refers to an entity that the DTD may declare
	dtd    bool // entities may be declared: of the document
}

// tokens reads XML leniently, in constant memory: what is not well-formed
// gives odd tokens, never an error.
type tokens struct {
	in  *bufio.Reader
	buf []byte
	dtd bool // there is one: names may be declared in it
}

// next returns the next token.
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
		return t.next0()
	case bytes.HasPrefix(head, []byte("![CDATA[")):
		t.in.Discard(8)
		if !t.upTo("]]>") {
			return token{}
		}
		return token{kind: tokenText, text: t.buf}
	case bytes.HasPrefix(head, []byte("?")):
		t.upTo("?>")
		return t.next0()
	case bytes.HasPrefix(head, []byte("!")):
		return t.declaration()
	}
	return t.tag()
}

// next0 is an empty text: the place of what was read over.
func (t *tokens) next0() token { return token{kind: tokenText} }

// upTo reads to a mark and keeps what stands before it, as far as it fits.
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

// text reads character data up to the next '<' and replaces its references.
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

// declaration reads over <!DOCTYPE …>, an internal subset included: what stands
// in its quoted values, comments and instructions ends nothing (XML §2.8).
func (t *tokens) declaration() token {
	var head strings.Builder // as far as the internal subset
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

// aside reads over a comment or an instruction that begins here.
func (t *tokens) aside() {
	switch head, _ := t.in.Peek(3); {
	case string(head) == "!--":
		t.in.Discard(3)
		t.upTo("-->")
	case bytes.HasPrefix(head, []byte("?")):
		t.upTo("?>")
	}
}

// tag reads to the '>' that is not in a quoted value.
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
	k := token{kind: tokenOpen, dtd: t.dtd}
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

// attr is the value of an attribute, without its namespace prefix's help; ""
// also for one that refers to an entity of the DTD.
func (k *token) attr(name string) string {
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
			if named && k.dtd {
				return ""
			}
			return string(text)
		}
		s = after
	}
}
