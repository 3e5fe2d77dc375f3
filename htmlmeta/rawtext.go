package htmlmeta

import "bytes"

// skipMarkup skips what begins with "<!" or "<?": comments, doctypes, CDATA sections in foreign
// content, and bogus comments.
func (s *scanner) skipMarkup() {
	rest := s.src[s.pos:]
	switch {
	case bytes.HasPrefix(rest, []byte("<!--")):
		s.pos = commentEnd(s.src, s.pos+4)
	case (s.xml || s.foreign.inside()) && bytes.HasPrefix(rest, []byte("<![CDATA[")):
		s.pos = indexFrom(s.src, s.pos+9, "]]>")
	case s.xml && bytes.HasPrefix(rest, []byte("<!DOCTYPE")):
		s.pos = doctypeEnd(s.src, s.pos+len("<!DOCTYPE"))
	case s.xml && rest[1] == '?':
		s.pos = indexFrom(s.src, s.pos+2, "?>")
	default:
		s.skipBogus(s.pos + 2)
	}
}

func (s *scanner) skipBogus(p int) { s.pos = indexFrom(s.src, p, ">") }

// indexFrom returns the offset after the first sep from p on, or len(src).
func indexFrom(src []byte, p int, sep string) int {
	if p >= len(src) {
		return len(src)
	}
	i := bytes.Index(src[p:], []byte(sep))
	if i < 0 {
		return len(src)
	}
	return p + i + len(sep)
}

// doctypeEnd returns the offset after an XML doctype whose name begins at p, including its
// internal subset. Brackets in quotes, comments and processing instructions do not count (XML
// §2.8).
func doctypeEnd(src []byte, p int) int {
	for depth := 0; p < len(src); {
		switch rest := src[p:]; {
		case bytes.HasPrefix(rest, []byte("<!--")):
			p = indexFrom(src, p+4, "-->")
			continue
		case bytes.HasPrefix(rest, []byte("<?")):
			p = indexFrom(src, p+2, "?>")
			continue
		case src[p] == '"' || src[p] == '\'':
			p = indexFrom(src, p+1, string(src[p:p+1]))
			continue
		case src[p] == '[':
			depth++
		case src[p] == ']':
			depth--
		case src[p] == '>' && depth <= 0:
			return p + 1
		}
		p++
	}
	return len(src)
}

// commentEnd returns the offset after the comment whose text begins at p. A comment ends with
// --> or --!>; "<!-->" and "<!--->" are complete comments (HTML §13.2.5.43 to 13.2.5.51).
func commentEnd(src []byte, p int) int {
	rest := src[p:]
	if bytes.HasPrefix(rest, []byte(">")) {
		return p + 1
	}
	if bytes.HasPrefix(rest, []byte("->")) {
		return p + 2
	}
	for {
		i := bytes.Index(src[p:], []byte("--"))
		if i < 0 {
			return len(src)
		}
		p += i + 2
		for p < len(src) && src[p] == '-' {
			p++
		}
		switch rest := src[p:]; {
		case bytes.HasPrefix(rest, []byte(">")):
			return p + 1
		case bytes.HasPrefix(rest, []byte("!>")):
			return p + 2
		}
	}
}

// rawEnd returns the offset of the next end tag of tag from p on, or len(src) (HTML §13.2.5.9
// to 13.2.5.14).
func rawEnd(src []byte, p int, tag string) int {
	for {
		i := bytes.Index(src[p:], []byte("</"))
		if i < 0 {
			return len(src)
		}
		p += i
		if isTagAt(src, p+2, tag) {
			return p
		}
		p += 2
	}
}

// isTagAt reports whether the complete tag name is at p.
func isTagAt(src []byte, p int, tag string) bool {
	end := p + len(tag)
	return end < len(src) && class[src[end]]&(blank|slash|gt) != 0 && equalFold(src[p:end], tag)
}

// scriptEnd returns the offset of a script's end tag. Within <!-- -->, a nested <script> hides
// its own end tag (HTML §13.2.5.15 to 13.2.5.31).
func scriptEnd(src []byte, p int) int {
	for {
		i := bytes.IndexByte(src[p:], '<')
		if i < 0 {
			return len(src)
		}
		p += i
		switch {
		case bytes.HasPrefix(src[p:], []byte("<!--")):
			end, found := escapedScript(src, p+2) // its dashes may also end it: <!-->
			if found {
				return end
			}
			p = end
		case p+1 < len(src) && src[p+1] == '/' && isTagAt(src, p+2, "script"):
			return p
		default:
			p++
		}
	}
}

// escapedScript continues after a script's "<!--". It returns the position of the end tag or,
// with found false, of the end of the escape.
func escapedScript(src []byte, p int) (end int, found bool) {
	nested := false
	for ; p < len(src); p++ {
		i := bytes.IndexAny(src[p:], "<-")
		if i < 0 {
			break
		}
		p += i
		switch {
		case src[p] == '-':
			if bytes.HasPrefix(src[p:], []byte("-->")) {
				return p + 3, false
			}
		case !nested && isTagAt(src, p+1, "script"):
			nested = true
		case p+1 < len(src) && src[p+1] == '/' && isTagAt(src, p+2, "script"):
			if !nested {
				return p, true
			}
			nested = false
		}
	}
	return len(src), true
}
