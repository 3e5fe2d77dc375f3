package http1

import (
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Frame describes the framing of a body (RFC 9112 §6.3).
type Frame struct {
	Chunked bool
	Length  int64    // if not chunked: its length in bytes; -1: to the end of the connection
	Keep    bool     // the connection may be reused
	Codings []string // transfer codings other than chunked, in order of application
}

// FrameOf determines the framing from the head of a response.
func FrameOf(proto string, status int, h http.Header) (Frame, error) {
	f := Frame{Length: -1, Keep: keepAlive(proto, h)}
	length, known, err := contentLength(h["Content-Length"])
	if err != nil {
		return f, err
	}
	if status == http.StatusNoContent || status == http.StatusNotModified {
		f.Length = 0
		return f, nil
	}
	te := Tokens(h["Transfer-Encoding"])
	if proto == "HTTP/1.0" {
		te = nil // unreliable in HTTP/1.0 (RFC 9112 §6.1)
	}
	if len(te) > 0 {
		f.Keep = f.Keep && !known // having both is an attack or an error
		return f.transfer(te)
	}
	if known {
		f.Length = length
		return f, nil
	}
	f.Keep = false
	return f, nil
}

// transfer applies Transfer-Encoding.
func (f Frame) transfer(te []string) (Frame, error) {
	for i, t := range te {
		switch {
		case t == "chunked" && i == len(te)-1:
			f.Chunked = true
		case t == "chunked":
			return f, errors.New("chunked is not the last transfer coding")
		case t != "identity":
			f.Codings = append(f.Codings, t)
		}
	}
	if !f.Chunked {
		f.Keep = false
	}
	return f, nil
}

// contentLength parses all Content-Length values. Repeated equal values are one; invalid or
// different values are an error.
func contentLength(values []string) (n int64, known bool, err error) {
	for t := range each(values) {
		v, err := strconv.ParseUint(t, 10, 63)
		if err != nil {
			return 0, false, fmt.Errorf("invalid content-length %.40q", t)
		}
		if known && int64(v) != n {
			return 0, false, fmt.Errorf("two content-lengths, %d and %d", n, v)
		}
		n, known = int64(v), true
	}
	return n, known, nil
}

// keepAlive reports whether the connection persists (RFC 9112 §9.3).
func keepAlive(proto string, h http.Header) bool {
	keep := proto != "HTTP/1.0"
	for t := range each(h["Connection"]) {
		switch t {
		case "close":
			return false
		case "keep-alive":
			keep = true
		}
	}
	return keep
}

// each yields the non-empty elements of comma-separated lists, in lower case.
func each(values []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, v := range values {
			for t := range strings.SplitSeq(v, ",") {
				if t = trimBlanks(t); t != "" && !yield(strings.ToLower(t)) {
					return
				}
			}
		}
	}
}

// Tokens returns the non-empty elements of comma-separated lists, in lower case.
func Tokens(values []string) []string { return slices.Collect(each(values)) }

// MediaType returns the media type of a Content-Type without parameters, in lower case.
func MediaType(contentType string) string {
	t, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(t))
}
