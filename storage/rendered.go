package storage

import (
	"fmt"
	"io"

	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// maxRendered bounds a rendered document, which is read into memory, in octets.
const maxRendered = 64 << 20

// Rendered reads the rendered document of a visit.
func (a *Archive) Rendered(v *crawllog.Visit) ([]byte, error) {
	if v.Rendered == nil || v.Record == nil || !v.HasBody() {
		return nil, fmt.Errorf("%s: %w", v.URL, ErrNoBody)
	}
	w, done, err := a.records(v.Record)
	if err != nil {
		return nil, err
	}
	defer done()
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
			return nil, &DamageError{File: v.Record.Segment,
				What: fmt.Sprintf("the rendered document of %s: %v", v.URL, err)}
		}
		if b != nil {
			return b, nil
		}
	}
}
