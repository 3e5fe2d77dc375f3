package fetch

import (
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// frame says where a body ends (RFC 9112 §6.3).
type frame struct {
	chunks *chunks  // transferred in chunks
	length int64    // else so many bytes; -1: to the end of the connection
	keep   bool     // the connection may serve another request
	coding []string // transfer codings below the chunks, in order of application
}

// frameOf decides from a head where its body ends.
func frameOf(proto string, status int, h http.Header) (frame, error) {
	f := frame{length: -1, keep: keepAlive(proto, h)}
	length, known, err := contentLength(h["Content-Length"])
	if err != nil {
		return f, err
	}
	if status == http.StatusNoContent || status == http.StatusNotModified {
		f.length = 0
		return f, nil
	}
	te := tokens(h["Transfer-Encoding"])
	if proto == "HTTP/1.0" {
		te = nil // such servers do not mean it (RFC 9112 §6.1)
	}
	if len(te) > 0 {
		f.keep = f.keep && !known // both is an attack or a mistake
		return f.transfer(te)
	}
	if known {
		f.length = length
		return f, nil
	}
	f.keep = false
	return f, nil
}

// transfer reads the transfer codings.
func (f frame) transfer(te []string) (frame, error) {
	for i, t := range te {
		switch {
		case t == "chunked" && i == len(te)-1:
			f.chunks = &chunks{}
		case t == "chunked":
			return f, bad(KindProtocol, "chunked is not the last transfer coding")
		case t != "identity":
			f.coding = append(f.coding, t)
		}
	}
	if f.chunks == nil {
		f.keep = false
	}
	return f, nil
}

// contentLength reads all Content-Length values: none, or one, or one that
// is repeated. Anything else frames nothing that can be trusted.
func contentLength(values []string) (n int64, known bool, err error) {
	for t := range each(values) {
		v, err := strconv.ParseUint(t, 10, 63)
		if err != nil {
			return 0, false, &fault{KindProtocol, fmt.Errorf("content-length %.40q is no length", t)}
		}
		if known && int64(v) != n {
			return 0, false, &fault{KindProtocol, fmt.Errorf("two content-lengths, %d and %d", n, v)}
		}
		n, known = int64(v), true
	}
	return n, known, nil
}

// keepAlive says whether the server will read another request (RFC 9112 §9.3).
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

// each gives the elements of comma lists, in lower case, but for empty ones.
func each(values []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, v := range values {
			for more := true; more; {
				var t string
				t, v, more = strings.Cut(v, ",")
				if t = trimBlanks(t); t != "" && !yield(strings.ToLower(t)) {
					return
				}
			}
		}
	}
}

// tokens are the elements of comma lists.
func tokens(values []string) []string { return slices.Collect(each(values)) }
