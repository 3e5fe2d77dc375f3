package importer

import (
	"fmt"
	"io"
	"sync"

	"curtsy/crawler/visit"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

var encoders = sync.Pool{New: func() any { return warc.NewEncoder() }}

// write writes the records of a capture: the response, the records attached to it with their blocks
// unchanged, and a metadata record of ours that says where they were read and gives their headers.
func (m *made) write(w io.Writer, infoID string, original *crawllog.Visit) error {
	e := encoders.Get().(*warc.Encoder)
	defer encoders.Put(e)
	v := m.visit
	if v.Kept == crawllog.KeptWithheld {
		return m.writeNote(w, e, infoID, "")
	}
	if err := m.writeAnswer(w, e, infoID, original); err != nil {
		return err
	}
	for _, q := range m.beside {
		h := m.header(q.Type, infoID)
		h.ID, h.ContentType, h.IP, h.ConcurrentTo, h.BlockDigest = q.id(), q.ContentType, q.IP, v.Record.ID, q.block.sum
		if _, err := w.Write(e.Append(nil, &h, warc.Quick, q.block.mem)); err != nil {
			return err
		}
	}
	return m.writeNote(w, e, infoID, v.Record.ID)
}

func (m *made) header(kind, infoID string) warc.Header {
	return warc.Header{Type: kind, Date: m.visit.At, TargetURI: m.visit.URL, WarcinfoID: infoID}
}

func (m *made) writeAnswer(w io.Writer, e *warc.Encoder, infoID string, original *crawllog.Visit) error {
	v := m.visit
	h := m.header(warc.TypeResponse, infoID)
	h.ID, h.ContentType, h.IP, h.Protocol, h.CipherSuite = v.Record.ID, "application/http; msgtype=response", m.IP,
		m.Protocol, m.CipherSuite
	h.PayloadDigest, h.Truncated = v.Labelled(), v.Truncated
	if v.Kept == crawllog.KeptRevisit {
		return m.writeRevisit(w, e, &h, original)
	}
	h.Length = int64(len(m.head)) + m.block.size - m.body
	if h.BlockDigest = m.block.sum; m.mended() {
		sum := warc.NewLabelled("")
		if _, err := io.Copy(sum, m.wire()); err != nil {
			return err
		}
		h.BlockDigest = sum.String()
	}
	return e.Stream(w, &h, m.effort(), m.wire())
}

// mended reports whether the block written differs from the one read.
func (m *made) mended() bool { return len(m.note.Mended) > 0 || m.body != int64(len(m.head)) }

func (m *made) writeRevisit(w io.Writer, e *warc.Encoder, h *warc.Header, original *crawllog.Visit) error {
	head := m.head
	if head == nil {
		head = fmt.Appendf(nil, "HTTP/1.1 %d \r\nContent-Type: %s\r\n\r\n", original.Status,
			token(original.ContentType))
	}
	h.Type, h.Profile, h.Truncated = warc.TypeRevisit, warc.ProfileIdentical, ""
	if m.visit.Status == 304 {
		h.Profile = warc.ProfileNotModified
	}
	h.RefersTo, h.RefersToURI, h.RefersToDate = original.Record.ID, original.URL, original.At
	h.BlockDigest = warc.Sum("", head)
	_, err := w.Write(e.Append(nil, h, warc.Quick, head))
	return err
}

func (m *made) writeNote(w io.Writer, e *warc.Encoder, infoID, of string) error {
	h := m.header(warc.TypeMetadata, infoID)
	h.ID, h.ContentType, h.ConcurrentTo = warc.NewID(), "application/warc-fields", of
	if of == "" {
		h.ID = m.visit.Record.ID
	}
	d := m.metadata()
	d.Note.Class = m.visit.Class
	block := d.Append(nil)
	h.BlockDigest = warc.Sum("", block)
	_, err := w.Write(e.Append(nil, &h, warc.Quick, block))
	return err
}

// effort is the compression effort: none for content that is already compressed.
func (m *made) effort() warc.Effort {
	if m.coded || visit.IsCompressed(m.visit.ContentType) {
		return warc.Stored
	}
	return warc.Quick
}
