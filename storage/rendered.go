package storage

import (
	"fmt"
	"io"

	"curtsy/storage/warc"
)

// Rendered says what a browser made of a page. The document itself is a
// conversion record among the records of the visit (ISO 28500 §6.8), in UTF-8.
type Rendered struct {
	Length  int64     `json:"length"`
	SHA256  string    `json:"sha256"`
	Asked   int       `json:"asked"`             // requests of the page, itself included
	Missing []Missing `json:"missing,omitempty"` // those that were not answered, the first of them
	Cut     string    `json:"cut,omitempty"`     // why rendering ended before the page was at rest
}

// Missing is a request of a page that was not answered, and why.
type Missing struct {
	URL string `json:"url"`
	Why string `json:"why"`
}

// TypeRendered is the media type of rendered documents.
const TypeRendered = "text/html; charset=utf-8"

// maxRendered bounds a rendered document that is read into memory.
const maxRendered = 64 << 20

// Rendered reads the document that a browser made of the page of a visit.
func (a *Archive) Rendered(v *Visit) ([]byte, error) {
	if v.Rendered == nil || v.Record == nil || !v.HasBody() {
		return nil, fmt.Errorf("%s: %w", v.URL, ErrNoBody)
	}
	f, err := a.dir.open(segmentFile(v.Record.Segment))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	w := warc.NewReader(io.NewSectionReader(f, v.Record.Offset, v.Record.Length), v.Record.Offset)
	for {
		h, err := w.Next()
		if err == io.EOF {
			return nil, &DamageError{File: v.Record.Segment, What: "the rendered document of " + v.URL + " is missing"}
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", v.URL, err)
		}
		var b []byte
		err = readBlock(w, h, func(block io.Reader) (err error) {
			if h.Type == warc.TypeConversion && h.RefersTo == v.Record.ID {
				b, err = io.ReadAll(io.LimitReader(block, maxRendered))
			}
			return err
		})
		if err != nil {
			return nil, &DamageError{File: v.Record.Segment, What: fmt.Sprintf("the rendered document of %s: %v", v.URL, err)}
		}
		if b != nil {
			return b, nil
		}
	}
}
