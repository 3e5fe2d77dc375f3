package importer

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"time"

	"curtsy/htmlmeta"
	"curtsy/internal/charsets"
	"curtsy/internal/weburl"
	"curtsy/storage/warc"
)

// protocolHAR marks records made from a HAR entry.
const protocolHAR = "har"

// maxEntry bounds one entry of a HAR, in octets of JSON.
const maxEntry = 256 << 20

// harEntry has the fields of an entry that are used (HTTP Archive 1.2).
type harEntry struct {
	Started  string `json:"startedDateTime"`
	ServerIP string `json:"serverIPAddress"`
	Request  struct {
		Method, URL string
		Version     string `json:"httpVersion"`
		Headers     []harField
		PostData    struct{ Text string } `json:"postData"`
	}
	Response struct {
		Status  int
		Text    string `json:"statusText"`
		Headers []harField
		Content struct {
			Size     int64
			MimeType string `json:"mimeType"`
			Text     *string
			Encoding string
		}
	}
}

type harField struct{ Name, Value string }

func fromHAR(path, key string, size int64) *Source {
	return &Source{Name: path, key: key, size: size, open: func(*checkpoint) (records, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		return openHAR(f, f)
	}}
}

// harFile yields the entries of a HAR as records: for each, the response and then the request.
type harFile struct {
	file   io.Closer
	limit  *io.LimitedReader
	json   *json.Decoder
	queue  []harRecord
	block  *bytes.Reader
	number int
}

type harRecord struct {
	*warc.ForeignRecord
	block []byte
}

// openHAR positions the decoder at log.entries.
func openHAR(r io.Reader, file io.Closer) (records, error) {
	b := bufio.NewReader(r)
	if bom, _ := b.Peek(3); string(bom) == "\xef\xbb\xbf" {
		_, _ = b.Discard(3)
	}
	h := &harFile{file: file, limit: &io.LimitedReader{R: b, N: maxEntry}}
	h.json = json.NewDecoder(h.limit)
	for _, name := range []string{"log", "entries"} {
		if err := h.descend(name); err != nil {
			file.Close()
			return nil, fmt.Errorf("not a HAR file: %w", err)
		}
	}
	if t, err := h.json.Token(); err != nil || t != json.Delim('[') {
		file.Close()
		return nil, errors.New("not a HAR file: log.entries is no list")
	}
	return h, nil
}

// descend enters an object and stops before the value of name.
func (h *harFile) descend(name string) error {
	if t, err := h.json.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(errors.New("no object"), err)
	}
	for h.json.More() {
		key, err := h.json.Token()
		if err != nil {
			return err
		}
		if key == name {
			return nil
		}
		var skipped json.RawMessage
		if err := h.json.Decode(&skipped); err != nil {
			return err
		}
		h.limit.N = maxEntry
	}
	return fmt.Errorf("it has no %s", name)
}

func (h *harFile) Close() { h.file.Close() }

func (h *harFile) Next() (*warc.ForeignRecord, error) {
	for len(h.queue) == 0 {
		if !h.json.More() {
			return nil, io.EOF
		}
		at := h.json.InputOffset()
		h.limit.N = maxEntry
		var raw json.RawMessage
		if err := h.json.Decode(&raw); err != nil {
			if h.limit.N <= 0 {
				err = fmt.Errorf("an entry of more than %d MB", maxEntry>>20)
			}
			return nil, err
		}
		h.number++
		var e harEntry
		err := json.Unmarshal(raw, &e)
		if err == nil {
			h.queue, err = e.records(at, 2*h.number-1)
		}
		if err != nil {
			return nil, &warc.Unreadable{At: warc.Place{Offset: at}, What: err.Error()}
		}
	}
	r := h.queue[0]
	h.queue = h.queue[1:]
	h.block = bytes.NewReader(r.block)
	return r.ForeignRecord, nil
}

func (h *harFile) Read(p []byte) (int, error) { return h.block.Read(p) }
func (h *harFile) Finish() error              { return nil }

// records makes the two records of an entry.
func (e *harEntry) records(at int64, number int) ([]harRecord, error) {
	when, err := time.Parse(time.RFC3339Nano, e.Started)
	if err != nil {
		return nil, fmt.Errorf("its startedDateTime is %.40q", e.Started)
	}
	if e.Response.Status == 0 {
		return nil, fmt.Errorf("%.100s was not answered", e.Request.URL)
	}
	body, err := e.body()
	if err != nil {
		return nil, fmt.Errorf("%.100s: %w", e.Request.URL, err)
	}
	header := warc.Header{Date: when, TargetURI: e.Request.URL, Protocol: protocolHAR}
	header.IP, _ = netip.ParseAddr(strings.Trim(e.ServerIP, "[]"))
	record := func(kind string, n int, block []byte) harRecord {
		h := header
		h.Type, h.ContentType, h.Length = kind, "application/http; msgtype="+kind, int64(len(block))
		return harRecord{&warc.ForeignRecord{Header: h, At: warc.Place{Offset: at}, Number: n}, block}
	}
	line := fmt.Sprintf("HTTP/1.1 %d %s", e.Response.Status, harValue(e.Response.Text))
	asked := fmt.Sprintf("%s %s HTTP/1.1", harValue(e.Request.Method), harValue(e.Request.URL))
	return []harRecord{
		record(warc.TypeResponse, number, append(harHead(line, e.Response.Headers), body...)),
		record(warc.TypeRequest, number+1, append(harHead(asked, e.Request.Headers), e.Request.PostData.Text...)),
	}, nil
}

// body returns the decoded body of the response.
func (e *harEntry) body() ([]byte, error) {
	c := &e.Response.Content
	switch {
	case c.Text == nil && c.Size > 0 && e.Response.Status == http.StatusOK:
		return nil, errors.New("the HAR does not hold its body")
	case c.Text == nil:
		return nil, nil
	case c.Encoding == "base64":
		b, err := base64.StdEncoding.DecodeString(*c.Text)
		if err != nil {
			return nil, errors.New("its body is no base64")
		}
		return b, nil
	}
	return e.encoded(*c.Text), nil
}

// encoded returns a text, which a HAR holds in UTF-8, in the charset that the response declares. A text that
// this cannot express stays UTF-8, and the header says so.
func (e *harEntry) encoded(text string) []byte {
	h, typ := http.Header{}, -1
	for i, f := range e.Response.Headers {
		if h.Add(f.Name, f.Value); strings.EqualFold(f.Name, "Content-Type") {
			typ = i
		}
	}
	u, _ := weburl.ParsePage(e.Request.URL)
	said := htmlmeta.Read(htmlmeta.Page{URL: u, Header: h, Body: []byte(text)}, htmlmeta.Options{})
	enc, name := charsets.Lookup(said.Charset)
	if enc == nil || name == "utf-8" {
		return []byte(text)
	}
	if b, err := enc.NewEncoder().Bytes([]byte(text)); err == nil {
		return b
	}
	if typ < 0 {
		typ = len(e.Response.Headers)
		e.Response.Headers = append(e.Response.Headers, harField{"Content-Type", "text/html"})
	}
	kind, _, _ := strings.Cut(e.Response.Headers[typ].Value, ";")
	e.Response.Headers[typ].Value = kind + "; charset=utf-8"
	return []byte(text)
}

// harHead formats a head from fields. It leaves out HTTP/2 pseudo-header fields.
func harHead(line string, fields []harField) []byte {
	b := []byte(line + "\r\n")
	for _, f := range fields {
		if f.Name == "" || strings.ContainsAny(f.Name, ": \r\n\x00") {
			continue
		}
		for value := range strings.SplitSeq(f.Value, "\n") { // browsers join repeated fields by newlines
			b = append(b, f.Name+": "+harValue(value)+"\r\n"...)
		}
	}
	return append(b, "\r\n"...)
}

func harValue(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}
