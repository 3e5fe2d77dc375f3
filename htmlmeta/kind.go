package htmlmeta

import (
	"bytes"
	"mime"
	"net/http"
	"strings"
)

// Kind says how a document is read.
type Kind uint8

const (
	Other Kind = iota // no links to read: PDF, images, plain text
	HTML              // HTML, and XHTML under any type
	XML               // XML with links: SVG, Atom
	CSS
	Manifest // a web application manifest
	Script   // a JavaScript file
)

func (k Kind) String() string {
	return [...]string{"other", "html", "xml", "css", "manifest", "script"}[k]
}

// kindOf decides by the Content-Type or, if that says nothing, by the content. asXML means that
// HTML follows XML's rules (XHTML).
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

// isScriptType reports whether t is a JavaScript MIME type (WHATWG MIME Sniffing §4.6).
func isScriptType(t string) bool {
	switch t {
	case "text/javascript", "application/javascript", "application/x-javascript", "text/x-javascript",
		"application/ecmascript", "text/ecmascript":
		return true
	}
	return false
}

// mediaType returns the type of the last valid Content-Type, in lower case.
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

// charsetParam returns the charset parameter of the Content-Type, or "".
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

// isBinary detects binary formats that servers often label text/html.
func isBinary(body []byte) bool {
	for _, magic := range []string{"%PDF-", "\x89PNG\r\n", "GIF8", "\xFF\xD8\xFF", "PK\x03\x04", "\x1F\x8B\x08", "wOFF",
		"wOF2", "\x00\x00\x01\x00"} {
		if bytes.HasPrefix(body, []byte(magic)) {
			return true
		}
	}
	return false
}

// xmlKind returns HTML for XML whose root element is html, whatever its type.
func xmlKind(body []byte) (Kind, bool) {
	if XMLRoot(body) == "html" {
		return HTML, true
	}
	return XML, true
}

const sniffLength = 4096

// sniff guesses from the content. Without any Content-Type (anyTag), text with a tag counts as
// HTML.
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
