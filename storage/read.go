package storage

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"curtsy/storage/warc"
)

// ErrNoBody says that a visit kept no body to read.
var ErrNoBody = errors.New("no body is kept")

// Response is a kept response, read back.
type Response struct {
	Head   []byte // verbatim
	Status int
	Header http.Header
	Body   io.Reader // the payload: de-chunked, in the content coding it came in
	close  func() error
}

// Close ends the reading.
func (r *Response) Close() error { return r.close() }

// Response reads the response that a visit kept. The payload of a revisit is
// that of the response it refers to. The caller closes it.
func (a *Archive) Response(v *Visit) (*Response, error) {
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
	body.Head, body.Status, body.Header = r.Head, r.Status, r.Header
	return body, nil
}

func (a *Archive) readResponse(v *Visit) (*Response, error) {
	if v.Record == nil {
		return nil, ErrNoBody
	}
	f, err := os.Open(filepath.Join(a.dir, warcDir, v.Record.Segment))
	if err != nil {
		return nil, err
	}
	section := io.NewSectionReader(f, v.Record.Offset, v.Record.Length)
	w := warc.NewReader(section, v.Record.Offset)
	h, err := w.Next()
	if err == nil && h.TargetURI != v.URL {
		err = &DamageError{File: v.Record.Segment, What: fmt.Sprintf("at %d there is %s, not %s", v.Record.Offset, h.TargetURI, v.URL)}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	r, err := ReadHTTP(w)
	if err != nil {
		f.Close()
		return nil, err
	}
	r.close = f.Close
	return r, nil
}

// ReadHTTP reads the block of a response or revisit record.
func ReadHTTP(block io.Reader) (*Response, error) {
	br := bufio.NewReaderSize(block, 64<<10)
	head, err := readHead(br)
	if err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(head)), nil)
	if err != nil {
		return nil, err
	}
	r := &Response{Head: head, Status: resp.StatusCode, Header: resp.Header, Body: br, close: func() error { return nil }}
	if len(resp.TransferEncoding) > 0 {
		r.Body = &chunked{r: br}
	}
	return r, nil
}

// maxHead bounds the head of a kept response.
const maxHead = 2 << 20

func readHead(br *bufio.Reader) ([]byte, error) {
	var head []byte
	for len(head) < maxHead {
		line, err := br.ReadSlice('\n')
		head = append(head, line...)
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil {
			return nil, io.ErrUnexpectedEOF
		}
		if s := bytes.TrimRight(line, "\r\n"); len(s) == 0 && len(head) > 2 {
			return head, nil
		}
	}
	return nil, errors.New("head too long")
}
