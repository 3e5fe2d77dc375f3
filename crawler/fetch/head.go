package fetch

import (
	"io"
	"net/http"

	"curtsy/internal/http1"
)

// parseHead parses a response head.
func parseHead(head []byte) (proto string, status int, h http.Header, err error) {
	proto, status, h, err = http1.ParseHead(head)
	return proto, status, h, misread(err)
}

// frame says where a body ends, and how far its chunks have been read.
type frame struct {
	http1.Frame
	chunks *http1.Chunks // nil: not chunked
}

// frameOf determines the framing of the body from a head.
func frameOf(proto string, status int, h http.Header) (frame, error) {
	f, err := http1.FrameOf(proto, status, h)
	if err != nil || !f.Chunked {
		return frame{Frame: f}, misread(err)
	}
	return frame{f, new(http1.Chunks)}, nil
}

// upToCut turns read errors into io.EOF: a truncated body ends where it was cut.
type upToCut struct{ r io.Reader }

func (u upToCut) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if err != nil {
		err = io.EOF
	}
	return n, err
}
