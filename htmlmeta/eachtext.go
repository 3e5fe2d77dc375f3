package htmlmeta

import "bytes"

// EachText calls f for the texts of a page between its tags, roughly and
// quickly: what scripts and styles hold is left out, character references stay
// as they are, and nothing is decoded.
func EachText(b []byte, f func(text []byte)) {
	for len(b) > 0 {
		at := bytes.IndexByte(b, '<')
		if at < 0 {
			f(b)
			return
		}
		if at > 0 {
			f(b[:at])
		}
		b = b[at:]
		raw := ""
		switch {
		case hasPrefixFold(b, "<script"):
			raw = "script"
		case hasPrefixFold(b, "<style"):
			raw = "style"
		}
		if raw != "" {
			b = b[rawEnd(b, 1, raw):]
		}
		if at = bytes.IndexByte(b, '>'); at < 0 {
			return
		}
		b = b[at+1:]
	}
}
