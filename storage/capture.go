package storage

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// answer begins a capture with a response or revisit record.
func (s *scanner) answer(h *warc.Header) error {
	if err := s.close(); err != nil {
		return err
	}
	v := s.visitOf(h)
	v.Kept = crawllog.KeptResponse
	if h.Type == warc.TypeRevisit {
		v.Kept = crawllog.KeptRevisit
	}
	if err := readBlock(s.w, h, func(block io.Reader) error { return readAnswer(block, h, v) }); err != nil {
		s.lost(h.TargetURI)
		return err
	}
	v.Record.Length = s.w.End() - v.Record.Offset
	s.open, s.torn = &crawllog.Recovered{Visit: v, RefersTo: h.RefersTo, RefersToURI: h.RefersToURI}, false
	return nil
}

func (s *scanner) visitOf(h *warc.Header) *crawllog.Visit {
	r := &crawllog.Record{Segment: s.name, Offset: s.w.Offset(), ID: h.ID}
	if _, ok := warc.ParseDigest(h.PayloadDigest); !ok {
		r.Label = h.PayloadDigest
	}
	return &crawllog.Visit{
		Asked:   crawllog.Asked{URL: h.TargetURI, At: h.Date},
		Payload: crawllog.Payload{Digest: h.PayloadDigest, Truncated: h.Truncated},
		Stored:  crawllog.Stored{Record: r},
	}
}

// readAnswer reads the fields of a visit from the block of a response, and checks the payload digest.
func readAnswer(block io.Reader, h *warc.Header, v *crawllog.Visit) error {
	line := make([]byte, 64)
	begun, _ := io.ReadFull(block, line) // the next read meets the error again
	r, err := readHTTP(io.MultiReader(bytes.NewReader(line[:begun]), block))
	if err != nil { // a head that cannot be parsed; the block digest still protects it
		v.Status = statusOf(line[:begun])
		return nil
	}
	v.Status, v.ContentType, v.Location = r.Status, r.Header.Get("Content-Type"), r.Header.Get("Location")
	if h.Type != warc.TypeResponse {
		return nil
	}
	own, labelled, n, err := warc.SumBoth(r.Body, h.PayloadDigest)
	if err != nil && h.Truncated == "" {
		return err
	}
	v.Digest, v.Length = own.String(), n
	if h.PayloadDigest != "" && h.PayloadDigest != labelled.String() {
		return fmt.Errorf("%w: %d bytes, %s; the record says %s", errPayload, n, labelled, h.PayloadDigest)
	}
	return nil
}

// statusOf parses the status in "HTTP/1.1 200".
func statusOf(head []byte) int {
	_, rest, _ := bytes.Cut(head, []byte(" "))
	n, _ := strconv.Atoi(string(rest[:min(len(rest), 3)]))
	return n
}

// metadata adds a metadata record to its capture, or begins a capture if the response was withheld. Of
// several, the last one is ours; those before it were imported.
func (s *scanner) metadata(h *warc.Header) error {
	var fields map[string]string
	if err := readBlock(s.w, h, func(block io.Reader) (err error) {
		fields, err = warc.ReadFields(block)
		return err
	}); err != nil {
		return err
	}
	m := crawllog.MetadataOf(fields)
	if h.ConcurrentTo == "" && m.Withheld != "" {
		if err := s.close(); err != nil {
			return err
		}
		v := s.visitOf(h)
		v.Kept, v.Status = crawllog.KeptWithheld, m.Status
		s.open, s.torn = &crawllog.Recovered{Visit: v}, false
		h.ConcurrentTo = v.Record.ID
	}
	if err := s.extend(h); err != nil {
		return err
	}
	s.open.Take(m)
	return nil
}
