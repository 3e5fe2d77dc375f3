package visit

import (
	"bytes"
	"io"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"curtsy/crawler/fetch"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// largeBody is the payload, in octets, above which the response record is not built in memory.
const largeBody = 4 << 20

// Records builds the WARC records of a visit, outside the committer if possible, since compressing is
// most of the work. It owns the exchange's buffers and its own: the caller must Release it when the visit
// has been committed or dropped.
type Records struct {
	*Outcome // set by Prepare

	x       *fetch.Exchange
	members *bytes.Buffer // encoded gzip members, from memberPool; nil: not encoded yet
	kept    string        // Visit.Kept when they were encoded
	infoID  string        // the warcinfo record they refer to
	broken  error         // why they cannot be encoded
	hurry   bool          // compress fast
}

// RecordsOf returns Records for an exchange, which they own from then on.
func RecordsOf(x *fetch.Exchange) *Records { return &Records{x: x} }

// Prepare encodes the records of an outcome, with infoID as WARC-Warcinfo-ID. It returns how many octets
// they hold in place of the exchange; -1 if they are not encoded yet. hurry asks for fast compression,
// because other visits wait or could.
func (r *Records) Prepare(of *Outcome, infoID string, hurry bool) (octets int) {
	r.Outcome, r.hurry = of, hurry
	octets = -1
	defer broken(&r.broken)
	if r.Visit.Status == 0 || r.x.Unwanted {
		r.Visit.Kept = ""
		return -1
	}
	if r.isLarge() || infoID == "" {
		return -1
	}
	members := memberPool.Get().(*bytes.Buffer)
	members.Reset()
	if err := r.encode(members, infoID); err != nil { // the committer meets the error again
		memberPool.Put(members)
		return -1
	}
	r.members, r.kept, r.infoID = members, r.Visit.Kept, infoID
	// Head and request are all that a revisit record needs, should the committer find that another visit has
	// the same payload; the rest of the buffer is free for the next body.
	head, request := bytes.Clone(r.x.Head), bytes.Clone(r.x.RequestBytes)
	r.x.Release()
	r.x.Head, r.x.RequestBytes = head, request
	return members.Cap()
}

// broken is deferred while records are encoded: it turns a panic into an error.
func broken(why *error) {
	if cause := recover(); cause != nil {
		*why = panicked(cause)
	}
}

// Write writes the records of the visit with infoID: those that Prepare has encoded if they still apply,
// else new ones.
func (r *Records) Write(w io.Writer, infoID string) (err error) {
	defer broken(&err)
	switch {
	case r.broken != nil:
		return r.broken
	case r.members == nil || r.kept != r.Visit.Kept: // the committer may have turned a response into a revisit
		return r.encode(w, infoID)
	}
	members := r.members.Bytes()
	if r.infoID != infoID { // a new segment has begun meanwhile
		if members, err = renamed(members, r.infoID, infoID); err != nil {
			return err
		}
	}
	_, err = w.Write(members)
	return err
}

// Release returns the buffers to their pools. It may be called more than once.
func (r *Records) Release() {
	r.x.Release()
	if r.members != nil {
		memberPool.Put(r.members)
		r.members = nil
	}
}

// isLarge reports whether the records are encoded only while they are written.
func (r *Records) isLarge() bool {
	return r.Visit.Length > largeBody && r.Visit.Kept == crawllog.KeptResponse
}

// scratch is the reusable memory of encoding.
type scratch struct {
	encoder *warc.Encoder
	out     []byte // records being encoded
	fields  []byte
}

var scratches = sync.Pool{New: func() any { return &scratch{encoder: warc.NewEncoder()} }}

// memberPool pools the buffers of encoded gzip members, which live from Prepare to the end of the
// commit.
var memberPool = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// encode writes the records of a visit: response or revisit, request, rendered page and metadata; only
// metadata if the body is withheld (ISO 28500 §6).
func (r *Records) encode(w io.Writer, infoID string) error {
	s := scratches.Get().(*scratch) // put back only without an error
	id := warc.NewID()
	r.Visit.Record = r.record(id)
	switch r.Visit.Kept {
	case crawllog.KeptWithheld:
		s.out = r.appendMetadata(s, s.out[:0], infoID, id, "")
	case crawllog.KeptRevisit, crawllog.KeptElsewhere:
		s.out = r.appendRest(s, r.appendRevisit(s, s.out[:0], infoID, id), infoID, id)
	default:
		if err := r.writeResponse(s, w, infoID, id); err != nil {
			return err
		}
		s.out = r.appendRest(s, s.out[:0], infoID, id)
	}
	_, err := w.Write(s.out)
	scratches.Put(s)
	return err
}

// appendRest appends the records that accompany the response.
func (r *Records) appendRest(s *scratch, dst []byte, infoID, id string) []byte {
	dst = r.appendRequest(s, dst, infoID, id)
	if r.Visit.Rendered != nil {
		dst = r.appendRendered(s, dst, infoID, id)
	}
	return r.appendMetadata(s, dst, infoID, warc.NewID(), id)
}

// renamed replaces the WARC-Warcinfo-ID in encoded members. Both ids have the same length, so no other
// field changes.
func renamed(members []byte, from, to string) ([]byte, error) {
	src := bytes.NewReader(members)
	z, err := gzip.NewReader(src)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for {
		z.Multistream(false)
		record, err := io.ReadAll(z)
		if err != nil {
			return nil, err
		}
		w := gzip.NewWriter(&out)
		w.Write(bytes.Replace(record, []byte("WARC-Warcinfo-ID: <"+from+">"), []byte("WARC-Warcinfo-ID: <"+to+">"), 1))
		if err := w.Close(); err != nil {
			return nil, err
		}
		if err := z.Reset(src); err == io.EOF {
			return out.Bytes(), nil
		} else if err != nil {
			return nil, err
		}
	}
}

// header returns the fields that all records of the visit share.
func (r *Records) header(kind, id, infoID string) warc.Header {
	return warc.Header{Type: kind, ID: id, Date: r.Visit.At, TargetURI: r.Visit.URL, WarcinfoID: infoID}
}

// record describes the visit's record before it is written. A revisit has the label of the response that
// it refers to, by which other readers look that up.
func (r *Records) record(id string) *crawllog.Record {
	made := &crawllog.Record{ID: id}
	switch r.Visit.Kept {
	case crawllog.KeptResponse, crawllog.KeptElsewhere:
		made.Label, made.Elsewhere = r.payload, r.elsewhere
	case crawllog.KeptRevisit:
		made.Label = r.original.Record.Label
	}
	return made
}

// sum returns the digest of a block.
func (r *Records) sum(parts ...[]byte) string { return warc.Sum(r.label, parts...) }

func (r *Records) responseHeader(id, infoID string) warc.Header {
	h := r.header(warc.TypeResponse, id, infoID)
	h.ContentType, h.IP = "application/http; msgtype=response", r.x.IP
	h.Protocol, h.CipherSuite = protocol(r.x.Proto, r.x.TLSVersion), r.x.CipherSuite
	h.PayloadDigest, h.Truncated = r.Visit.Labelled(), r.Visit.Truncated
	return h
}

// writeResponse streams the response record, as the body may be in a file.
func (r *Records) writeResponse(s *scratch, w io.Writer, infoID, id string) error {
	h := r.responseHeader(id, infoID)
	digest := warc.NewLabelled(r.label)
	digest.Write(r.x.Head)
	wire, _ := r.x.Wire()
	n, err := io.Copy(digest, wire)
	if err != nil {
		return err
	}
	h.Length, h.BlockDigest = int64(len(r.x.Head))+n, digest.String()
	wire, _ = r.x.Wire()
	return s.encoder.Stream(w, &h, r.effort(), bytes.NewReader(r.x.Head), wire)
}

func (r *Records) appendRevisit(s *scratch, dst []byte, infoID, id string) []byte {
	h := r.responseHeader(id, infoID)
	h.Type, h.Profile, h.Truncated = warc.TypeRevisit, warc.ProfileIdentical, ""
	if r.x.Status == 304 {
		h.Profile = warc.ProfileNotModified
	}
	if e := r.elsewhere; e != nil { // an index does not give the record id
		h.RefersToURI, h.RefersToDate = e.URL, e.At
	} else {
		h.RefersTo, h.RefersToURI, h.RefersToDate = r.original.Record.ID, r.original.URL, r.original.At
	}
	h.BlockDigest = r.sum(r.x.Head)
	return s.encoder.Append(dst, &h, r.small(), r.x.Head)
}

func (r *Records) appendRequest(s *scratch, dst []byte, infoID, responseID string) []byte {
	h := r.header(warc.TypeRequest, warc.NewID(), infoID)
	h.ContentType, h.IP, h.ConcurrentTo = "application/http; msgtype=request", r.x.IP, responseID
	h.BlockDigest = r.sum(r.x.RequestBytes)
	return s.encoder.Append(dst, &h, r.small(), r.x.RequestBytes)
}

func (r *Records) appendMetadata(s *scratch, dst []byte, infoID, id, responseID string) []byte {
	h := r.header(warc.TypeMetadata, id, infoID)
	h.ContentType, h.ConcurrentTo = "application/warc-fields", responseID
	m := r.metadata()
	s.fields = m.Append(s.fields[:0])
	h.BlockDigest = r.sum(s.fields)
	return s.encoder.Append(dst, &h, r.small(), s.fields)
}

// metadata returns the content of the metadata record.
func (o *Outcome) metadata() crawllog.Metadata {
	v := o.Visit
	m := crawllog.Metadata{Via: o.via, Hops: o.hops, Depth: o.Entry.Depth, Took: v.Took, Robots: v.Robots,
		Note: o.note()}
	if v.Kept == crawllog.KeptWithheld {
		m.Status, m.Withheld = v.Status, WithheldBy(v)
	}
	return m
}

// note returns what a rebuild of crawl.db needs and no other record contains.
func (o *Outcome) note() crawllog.Note {
	v, e := o.Visit, o.Entry
	n := crawllog.Note{Class: v.Class, How: string(e.How), Redirects: e.Redirects, Waited: v.Waited, Delay: v.Delay,
		Suspect: v.Suspect, Body: v.Body,
		Round: o.round, Began: o.began, Rendered: v.Rendered, Usage: v.Usage}
	if of := e.URL.String(); of != v.URL {
		n.Of = of
	}
	if e := o.elsewhere; e != nil {
		n.Elsewhere = &crawllog.NotedElsewhere{Elsewhere: *e, Digest: v.Digest, Length: v.Length}
	}
	if v.Kept == crawllog.KeptRevisit {
		n.Truncated = v.Truncated
	}
	if v.Kept == crawllog.KeptWithheld {
		withheld := *v
		withheld.Record = nil
		n.Withheld = &withheld
	}
	return n
}

// WithheldBy names the directive that forbids archiving.
func WithheldBy(v *crawllog.Visit) string {
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

func protocol(http, tls string) string {
	if tls == "" {
		return strings.ToLower(http)
	}
	return strings.ToLower(http) + " " + tls
}

// effort is the compression effort for the response: none if it is already compressed, little in a
// hurry.
func (r *Records) effort() warc.Effort {
	if r.x.Header.Get("Content-Encoding") != "" || IsCompressed(r.Visit.ContentType) {
		return warc.Stored
	}
	return r.small()
}

// small is the effort for records of heads and fields. Revisits always get the high effort: they are all
// that a round writes for an unchanged page.
func (r *Records) small() warc.Effort {
	if r.hurry && r.Visit.Kept != crawllog.KeptRevisit {
		return warc.Quick
	}
	return warc.Small
}

// IsCompressed reports whether data of a type does not compress further.
func IsCompressed(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	switch kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "application/zip", "application/gzip",
		"application/java-archive", "font/woff", "font/woff2", "application/x-xz", "application/x-bzip2",
		"application/zstd":
		return true
	}
	return strings.HasPrefix(kind, "video/") || strings.HasPrefix(kind, "audio/")
}
