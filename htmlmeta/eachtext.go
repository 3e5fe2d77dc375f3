package htmlmeta

import "bytes"

// EachText calls f with the texts between the tags of a page. It is fast and approximate: it
// skips scripts and styles, and decodes neither character references nor charset.
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
