package sitetest

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/net/html/charset"
)

// page is a resource.
type page struct {
	status int
	header http.Header
	make   map[string]string // Test- headers, in lower case
	body   string
}

var types = map[string]string{
	".css": "text/css", ".js": "text/javascript", ".mjs": "text/javascript", ".png": "image/png",
	".svg": "image/svg+xml", ".txt": "text/plain",
	".json": "application/json", ".xml": "application/xml", ".pdf": "application/pdf",
	".webmanifest": "application/manifest+json", ".xhtml": "application/xhtml+xml",
	".vtt": "text/vtt", ".woff2": "font/woff2", ".ico": "image/x-icon", ".mp4": "video/mp4", ".ogg": "audio/ogg",
}

// parsePage parses the content of a file.
func parsePage(target, text string) (page, error) {
	p := page{status: 200, header: http.Header{}, make: map[string]string{}, body: text}
	name, _, _ := strings.Cut(target, "?")
	typ := types[strings.ToLower(path.Ext(name))]
	if typ == "" {
		typ = "text/html"
	}
	p.header.Set("Content-Type", typ)
	if !strings.HasPrefix(text, "HTTP ") {
		return p, nil
	}
	head, body, _ := strings.Cut(text, "\n\n")
	p.body = body
	lines := strings.Split(strings.TrimSpace(head), "\n")
	var err error
	if p.status, err = strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(lines[0], "HTTP "))); err != nil {
		return p, fmt.Errorf("%s: %w", target, err)
	}
	typed := false
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case strings.HasPrefix(strings.ToLower(name), "test-"):
			p.make[strings.ToLower(name)] = value
		case strings.EqualFold(name, "Content-Type") && !typed:
			p.header.Set(name, value)
			typed = true
		default:
			p.header.Add(name, value)
		}
	}
	return p, nil
}

// write sends the page.
func (p page) write(w http.ResponseWriter, r *http.Request, fill func(string) string) int {
	for name, values := range p.header {
		for _, v := range values {
			w.Header().Add(name, fill(v))
		}
	}
	if w.Header().Get("Content-Type") == "none" {
		w.Header()["Content-Type"] = nil
	}
	body, err := p.bytes(fill)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return http.StatusInternalServerError
	}
	if coding := p.make["test-coding"]; coding != "" {
		w.Header().Set("Content-Encoding", coding)
		body = compress(coding, body)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(p.status)
	if r.Method != http.MethodHead {
		w.Write(body)
	}
	return p.status
}

// bytes makes the body.
func (p page) bytes(fill func(string) string) ([]byte, error) {
	if size := p.make["test-png"]; size != "" {
		return picture(size)
	}
	body := p.body
	if strings.TrimSpace(body) == "" && p.status == 200 &&
		strings.HasPrefix(p.header.Get("Content-Type"), "text/html") {
		body = "<!DOCTYPE html><title>{{target}}</title><p id=me>{{target}}</p>\n"
	}
	if strings.Contains(body, "{{me}}") {
		body = strings.ReplaceAll(body, "{{me}}", "<p id=me>"+html.EscapeString(fill("{{target}}"))+"</p>")
	}
	body = fill(body)
	if p.make["test-base64"] != "" {
		return base64.StdEncoding.DecodeString(strings.Join(strings.Fields(body), ""))
	}
	if label := p.make["test-charset"]; label != "" {
		enc, _ := charset.Lookup(label)
		if enc == nil {
			return nil, fmt.Errorf("charset %s is unknown", label)
		}
		b, err := enc.NewEncoder().Bytes([]byte(body))
		if label == "utf-16le" && p.make["test-bom"] != "" {
			b = append([]byte("\xFF\xFE"), b...)
		}
		return b, err
	}
	if p.make["test-bom"] != "" {
		body = "\uFEFF" + body
	}
	return []byte(body), nil
}

// picture is a PNG filled with one color.
func picture(size string) ([]byte, error) {
	var w, h int
	if _, err := fmt.Sscanf(size, "%dx%d", &w, &h); err != nil {
		return nil, err
	}
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		m.Set(i%w, i/w, color.RGBA{uint8(10 * w), uint8(40 * h), 128, 255})
	}
	var b bytes.Buffer
	err := png.Encode(&b, m)
	return b.Bytes(), err
}

func compress(coding string, body []byte) []byte {
	var b bytes.Buffer
	var z io.WriteCloser
	switch coding {
	case "gzip":
		z = gzip.NewWriter(&b)
	case "deflate":
		z = zlib.NewWriter(&b)
	case "br":
		z = brotli.NewWriter(&b)
	case "zstd":
		z, _ = zstd.NewWriter(&b)
	default:
		return body
	}
	z.Write(body)
	z.Close()
	return b.Bytes()
}
