package storage

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	"curtsy/internal/http1"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// ErrNoBody reports that no body of a visit is stored.
var ErrNoBody = errors.New("no body is kept")

// ErrHead reports that the head of a stored response cannot be parsed, although it is not damaged.
var ErrHead = errors.New("the head cannot be decoded")

// Response is a stored response.
type Response struct {
	Head     []byte // verbatim
	Status   int
	Header   http.Header
	Transfer []string  // transfer codings of the payload, in order of application
	Body     io.Reader // the payload: de-chunked, with its other codings
	close    func() error
}

// Close frees the reader. Body must not be read afterwards.
func (r *Response) Close() error { return r.close() }

// Response opens the stored response of a visit. The payload of a revisit is that of the response it refers
// to. The caller must close it.
func (a *Archive) Response(v *crawllog.Visit) (*Response, error) {
	if !v.HasBody() {
		return nil, fmt.Errorf("%s: %w", v.URL, ErrNoBody)
	}
	r, err := a.readResponse(v)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", v.URL, err)
	}
	if v.Refers == nil {
		return r, nil
	}
	defer r.Close()
	original, err := a.Visit(*v.Refers)
	if err != nil {
		return nil, err
	}
	if original == nil {
		return nil, &DamageError{File: dbName, What: "the original of a revisit of " + v.URL + " is missing"}
	}
	body, err := a.readResponse(original)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", original.URL, err)
	}
	body.Head, body.Status, body.Header, body.Transfer = r.Head, r.Status, r.Header, r.Transfer
	return body, nil
}

func (a *Archive) readResponse(v *crawllog.Visit) (*Response, error) {
	if v.Record == nil {
		return nil, ErrNoBody
	}
	w, done, err := a.records(v.Record)
	if err != nil {
		return nil, err
	}
	h, err := w.Next()
	if err == nil && !IsRecordOf(h, v) {
		err = &DamageError{File: v.Record.Segment, What: fmt.Sprintf("at %d: found %s instead of %s", v.Record.Offset,
			h.TargetURI, v.URL)}
	}
	if err != nil {
		done()
		return nil, err
	}
	r, err := readHTTP(w)
	if errors.Is(err, ErrHead) {
		err = cmp.Or(w.Finish(), err) // a damaged record is another error
	}
	if err != nil {
		done()
		return nil, err
	}
	r.close = done
	return r, nil
}

// records opens the records of a visit; done closes them.
func (a *Archive) records(at *crawllog.Record) (w *warc.Reader, done func() error, err error) {
	f, err := a.opened.segment(a, at.Segment)
	if err != nil {
		return nil, nil, err
	}
	w, free := readerOf(f.file, at.Offset, at.Length, f.foreign)
	return w, sync.OnceValue(func() error {
		free()
		if f.stays {
			return nil
		}
		return f.file.Close()
	}), nil
}

// warcReaders pools readers for their buffers.
var warcReaders = sync.Pool{New: func() any { return warc.NewReader(nil, 0) }}

// readerOf returns a reader of a part of a segment or, if it is foreign, of a linked file. free must be called
// at the end.
func readerOf(f io.ReaderAt, offset, length int64, foreign bool) (w *warc.Reader, free func()) {
	w = warcReaders.Get().(*warc.Reader)
	w.Reset(io.NewSectionReader(f, offset, length), offset)
	w.Any = foreign
	return w, func() { warcReaders.Put(w) }
}

// IsRecordOf reports whether a record is the first of a visit. In a linked file its URL may be written
// differently.
func IsRecordOf(h *warc.Header, v *crawllog.Visit) bool {
	if IsLink(v.Record.Segment) {
		return h.ID == v.Record.ID
	}
	return h.TargetURI == v.URL
}

// readHTTP parses the block of a response or revisit record, in the same way as when it was received. If the
// head cannot be parsed, the error is ErrHead.
func readHTTP(block io.Reader) (*Response, error) {
	head, rest, err := readHead(block)
	if err != nil {
		return nil, err
	}
	proto, status, fields, err := http1.ParseHead(head)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrHead, err)
	}
	frame, err := http1.FrameOf(proto, status, fields)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrHead, err)
	}
	r := &Response{Head: head, Status: status, Header: fields, Transfer: frame.Codings,
		close: func() error { return nil }}
	if r.Body = io.MultiReader(bytes.NewReader(rest), block); frame.Chunked {
		r.Body = http1.Dechunk(rest, block)
	}
	return r, nil
}

// maxHead bounds the head of a stored response, in octets.
const maxHead = 2 << 20

// readHead reads to the end of the head; rest is what was read beyond it.
func readHead(block io.Reader) (head, rest []byte, err error) {
	buf := make([]byte, 0, 2<<10)
	for from := 0; len(buf) < maxHead; {
		buf = slices.Grow(buf, 1)
		n, err := block.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		end, next := http1.HeadEnd(buf, 0, from)
		switch {
		case end >= 0:
			return buf[:end:end], buf[end:], nil
		case n == 0 && err == io.EOF:
			return nil, nil, fmt.Errorf("%w: it does not end", ErrHead)
		case n == 0 && err != nil:
			return nil, nil, err
		}
		from = next
	}
	return nil, nil, fmt.Errorf("%w: it is too long", ErrHead)
}

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
