package htmlmeta

import (
	"bytes"
	"mime"
	"net/http"
	"strings"
)

// Kind is what a document is, for the reading of it.
type Kind uint8

const (
	Other Kind = iota // nothing to read links from: a PDF, a picture, text
	HTML              // HTML, and XHTML served as HTML or as itself
	XML               // XML with links in it: SVG, Atom
	CSS
	Manifest // a web app manifest
	Script   // a file of JavaScript
)

func (k Kind) String() string {
	return [...]string{"other", "html", "xml", "css", "manifest", "script"}[k]
}

// kindOf decides by the Content-Type, and by the content where there is none
// that says anything. asXML: HTML is to be read by XML's rules (XHTML).
func kindOf(h http.Header, body []byte) (kind Kind, asXML bool) {
	body = bytes.TrimPrefix(body, []byte(bomUTF8))
	if isBinary(body) {
		return Other, false
	}
	switch t := mediaType(h); {
	case t == "text/html":
		return HTML, false
	case t == "application/xhtml+xml":
		return HTML, true
	case t == "text/css":
		return CSS, false
	case t == "application/manifest+json":
		return Manifest, false
	case isScriptType(t):
		return Script, false
	case t == "text/xml", t == "application/xml", strings.HasSuffix(t, "+xml"):
		return xmlKind(body)
	case t == "", t == "application/octet-stream", t == "application/x-unknown", t == "unknown/unknown", t == "*/*":
		return sniff(body, t == "")
	}
	return Other, false
}

// isScriptType knows the types of JavaScript (WHATWG MIME Sniffing §4.6).
func isScriptType(t string) bool {
	switch t {
	case "text/javascript", "application/javascript", "application/x-javascript", "text/x-javascript",
		"application/ecmascript", "text/ecmascript":
		return true
	}
	return false
}

// mediaType is the type of the last Content-Type that is one, in lower case.
func mediaType(h http.Header) string {
	lines := h.Values("Content-Type")
	for i := len(lines) - 1; i >= 0; i-- {
		t, _, _ := strings.Cut(lines[i], ";")
		t = strings.ToLower(strings.Trim(t, asciiBlank))
		if strings.Contains(t, "/") {
			return t
		}
	}
	return ""
}

// charsetParam is the charset parameter of the Content-Type, or "".
func charsetParam(h http.Header) string {
	for _, line := range h.Values("Content-Type") {
		if _, params, err := mime.ParseMediaType(line); err == nil && params["charset"] != "" {
			return params["charset"]
		}
		if label := charsetIn(line); label != "" {
			return label
		}
	}
	return ""
}

// isBinary knows the formats that servers most often call text/html wrongly.
func isBinary(body []byte) bool {
	for _, magic := range []string{"%PDF-", "\x89PNG\r\n", "GIF8", "\xFF\xD8\xFF", "PK\x03\x04", "\x1F\x8B\x08", "wOFF",
		"wOF2", "\x00\x00\x01\x00"} {
		if bytes.HasPrefix(body, []byte(magic)) {
			return true
		}
	}
	return false
}

// xmlKind: XML whose root is html is XHTML whatever its type.
func xmlKind(body []byte) (Kind, bool) {
	if XMLRoot(body) == "html" {
		return HTML, true
	}
	return XML, true
}

const sniffLength = 4096

// sniff guesses from content alone. What has no type at all may be any text
// with a tag in it.
func sniff(body []byte, anyTag bool) (Kind, bool) {
	head := bytes.TrimLeft(body[:min(len(body), sniffLength)], asciiBlank)
	switch {
	case bytes.HasPrefix(head, []byte("<?xml")):
		return xmlKind(body)
	case hasPrefixFold(head, "<svg"):
		return XML, true
	case hasPrefixFold(head, "<!doctype html"), hasPrefixFold(head, "<html"), hasPrefixFold(head, "<head"),
		hasPrefixFold(head, "<body"):
		return HTML, false
	case !anyTag || bytes.IndexByte(head, 0) >= 0:
		return Other, false
	}
	for i := range head {
		if head[i] == '<' && i+1 < len(head) && (isLetter(head[i+1]) || head[i+1] == '!') {
			return HTML, false
		}
	}
	return Other, false
}

func hasPrefixFold(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && strings.EqualFold(string(b[:len(prefix)]), prefix)
}
