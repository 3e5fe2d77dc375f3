package crawler

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"

	"curtsy/storage"
	"curtsy/storage/warc"
)

// largeBody is the payload above which records are not made in memory.
const largeBody = 4 << 20

func (o *Outcome) large() bool { return o.Visit.Length > largeBody }

var encoders = sync.Pool{New: func() any { return warc.NewEncoder() }}

// encodeInto is encode into memory.
func (o *Outcome) encodeInto(b []byte, infoID string) ([]byte, error) {
	buf := bytes.NewBuffer(b)
	buf.Grow(int(o.Visit.Length/3) + 2048)
	err := o.encode(buf, infoID)
	return buf.Bytes(), err
}

// encode writes the records of a visit: what came (a response, a revisit, or
// metadata alone where the body is withheld), what was asked, and what else
// is known (archive.md §1).
func (o *Outcome) encode(w io.Writer, infoID string) error {
	e := encoders.Get().(*warc.Encoder)
	defer encoders.Put(e)
	id := warc.NewID()
	o.Visit.Record = &storage.Record{ID: id}
	if o.Visit.Kept == storage.KeptWithheld {
		return o.encodeMetadata(e, w, infoID, id, "")
	}
	if err := o.encodeResponse(e, w, infoID, id); err != nil {
		return err
	}
	if err := o.encodeRequest(e, w, infoID, id); err != nil {
		return err
	}
	return o.encodeMetadata(e, w, infoID, warc.NewID(), id)
}

// header is what all records of the visit share.
func (o *Outcome) header(kind, id, infoID string) warc.Header {
	return warc.Header{Type: kind, ID: id, Date: o.Visit.At, TargetURI: o.Visit.URL, WarcinfoID: infoID}
}

func (o *Outcome) encodeResponse(e *warc.Encoder, w io.Writer, infoID, id string) error {
	x := o.x
	h := o.header(warc.TypeResponse, id, infoID)
	h.ContentType, h.IP = "application/http; msgtype=response", x.IP
	h.Protocol, h.CipherSuite, h.PayloadDigest = protocol(x.Proto, x.TLSVersion), x.CipherSuite, o.Visit.Digest
	if o.Visit.Kept == storage.KeptRevisit {
		return o.encodeRevisit(e, w, h)
	}
	h.Truncated = o.Visit.Truncated
	wire, n := x.Wire()
	h.Length = int64(len(x.Head)) + n
	digest, err := o.blockDigest()
	if err != nil {
		return err
	}
	h.BlockDigest = digest.String()
	return e.Encode(w, &h, o.level(), bytes.NewReader(x.Head), wire)
}

func (o *Outcome) encodeRevisit(e *warc.Encoder, w io.Writer, h warc.Header) error {
	h.Type, h.Profile = warc.TypeRevisit, warc.ProfileIdentical
	if o.x.Status == 304 {
		h.Profile = warc.ProfileNotModified
	}
	h.RefersTo, h.RefersToURI, h.RefersToDate = o.original.Record.ID, o.original.URL, o.original.At
	h.Length = int64(len(o.x.Head))
	h.BlockDigest = warc.Sum(o.x.Head).String()
	return e.Encode(w, &h, warc.LevelFast, bytes.NewReader(o.x.Head))
}

// blockDigest is the digest of head and body as they came.
func (o *Outcome) blockDigest() (warc.Digest, error) {
	wire, _ := o.x.Wire()
	d, _, err := warc.SumReader(bytes.NewReader(o.x.Head), wire)
	return d, err
}

func (o *Outcome) encodeRequest(e *warc.Encoder, w io.Writer, infoID, responseID string) error {
	h := o.header(warc.TypeRequest, warc.NewID(), infoID)
	h.ContentType, h.IP, h.ConcurrentTo = "application/http; msgtype=request", o.x.IP, responseID
	h.Length = int64(len(o.x.RequestBytes))
	h.BlockDigest = warc.Sum(o.x.RequestBytes).String()
	return e.Encode(w, &h, warc.LevelFast, bytes.NewReader(o.x.RequestBytes))
}

func (o *Outcome) encodeMetadata(e *warc.Encoder, w io.Writer, infoID, id, responseID string) error {
	h := o.header(warc.TypeMetadata, id, infoID)
	h.ContentType, h.ConcurrentTo = "application/warc-fields", responseID
	fields := o.fields()
	h.Length = int64(len(fields))
	h.BlockDigest = warc.Sum([]byte(fields)).String()
	return e.Encode(w, &h, warc.LevelFast, strings.NewReader(fields))
}

// fields is the block of the metadata record.
func (o *Outcome) fields() string {
	var b strings.Builder
	v := o.Visit
	if o.via != "" {
		fmt.Fprintf(&b, "via: %s\r\n", oneLine(o.via))
	}
	fmt.Fprintf(&b, "hopsFromSeed: %d\r\nfetchTimeMs: %d\r\n", o.entry.Depth, v.Took.Milliseconds())
	if v.Robots != nil && v.Robots.Line > 0 {
		fmt.Fprintf(&b, "robots: line %d of robots.txt %s: %s\r\n", v.Robots.Line, v.Robots.Version, oneLine(v.Robots.Rule))
	}
	if v.Kept == storage.KeptWithheld {
		fmt.Fprintf(&b, "status: %d\r\nwithheld: the body, as the site asks: %s\r\n", v.Status, oneLine(withheldBy(v)))
	}
	return b.String()
}

// withheldBy names the directive that forbids keeping.
func withheldBy(v *storage.Visit) string {
	if v.Directives == nil {
		return ""
	}
	for _, s := range v.Directives.Sources {
		if s.Directive == "noarchive" || s.Directive == "nocache" {
			return s.From + ": " + s.Text
		}
	}
	return "noarchive"
}

// oneLine keeps text from the network from making fields of its own.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

func protocol(http, tls string) string {
	return strings.TrimSpace(strings.ToLower(http) + " " + tls)
}

// level of compression: what is compressed already is only wrapped.
func (o *Outcome) level() int { return warc.LevelFast }
