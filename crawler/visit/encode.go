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

// largeBody is the payload above which a response record is not made in memory.
const largeBody = 4 << 20

// Records are those of a visit, made while it is still nobody's turn to write:
// compressing is most of the work. They own what the answer was read into, and the
// buffer that they are made in: whoever had the answer fetched calls Release, once the
// visit is committed or dropped.
type Records struct {
	*Outcome // that they are of, from Prepare on

	x       *fetch.Exchange
	members *bytes.Buffer // ready to be written, from memberPool; nil: not made yet
	kept    string        // as what, as in Visit.Kept
	infoID  string        // the warcinfo record that they name
	broken  error         // why they cannot be made
	hurry   bool          // compress by the quick road
}

// RecordsOf are those that are to be made of an answer.
func RecordsOf(x *fetch.Exchange) *Records { return &Records{x: x} }

// Prepare makes the records of o, to name the warcinfo record infoID, and says how
// many octets they hold in place of the exchange's; -1 where they are not made
// yet. Others who wait for the processor, or could, are reason to hurry.
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
	if err := r.encode(members, infoID); err != nil { // the committer meets it again
		memberPool.Put(members)
		return -1
	}
	r.members, r.kept, r.infoID = members, r.Visit.Kept, infoID
	// All that a revisit needs, should the committer find that another visit
	// brought the same payload; the rest makes room for the next body.
	head, request := bytes.Clone(r.x.Head), bytes.Clone(r.x.RequestBytes)
	r.x.Release()
	r.x.Head, r.x.RequestBytes = head, request
	return members.Cap()
}

// broken is deferred where records are made: a panic is why they cannot be.
func broken(why *error) {
	if cause := recover(); cause != nil {
		*why = panicked(cause)
	}
}

// Write writes the records of the visit, which name the warcinfo record of infoID: those
// that Prepare has made, if they can be used, or new ones.
func (r *Records) Write(w io.Writer, infoID string) (err error) {
	defer broken(&err)
	switch {
	case r.broken != nil:
		return r.broken
	case r.members == nil || r.kept != r.Visit.Kept: // a response may have become a revisit
		return r.encode(w, infoID)
	}
	members := r.members.Bytes()
	if r.infoID != infoID { // a segment ended in the meantime
		if members, err = renamed(members, r.infoID, infoID); err != nil {
			return err
		}
	}
	_, err = w.Write(members)
	return err
}

// Release gives the buffers back. It may be called again.
func (r *Records) Release() {
	r.x.Release()
	if r.members != nil {
		memberPool.Put(r.members)
		r.members = nil
	}
}

// isLarge says whether the records are made as they are written.
func (r *Records) isLarge() bool {
	return r.Visit.Length > largeBody && r.Visit.Kept == crawllog.KeptResponse
}

// scratch is what making records needs, reused from visit to visit.
type scratch struct {
	encoder *warc.Encoder
	out     []byte // records on their way
	fields  []byte
}

var scratches = sync.Pool{New: func() any { return &scratch{encoder: warc.NewEncoder()} }}

// members are the gzip members of a visit, in a buffer from a pool: they live
// from prepare to the end of their commit.
var memberPool = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// encode writes the records of a visit: what came (a response, a revisit, or
// metadata alone where the body is withheld), what was asked, and what else
// is known (ISO 28500 §6).
func (r *Records) encode(w io.Writer, infoID string) error {
	s := scratches.Get().(*scratch) // given back only where all went well
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

// appendRest makes the records beside that of the response.
func (r *Records) appendRest(s *scratch, dst []byte, infoID, id string) []byte {
	dst = r.appendRequest(s, dst, infoID, id)
	if r.Visit.Rendered != nil {
		dst = r.appendRendered(s, dst, infoID, id)
	}
	return r.appendMetadata(s, dst, infoID, warc.NewID(), id)
}

// renamed makes members name another warcinfo record. Both names are of one
// length, so that nothing else changes.
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

// header is what all records of the visit share.
func (r *Records) header(kind, id, infoID string) warc.Header {
	return warc.Header{Type: kind, ID: id, Date: r.Visit.At, TargetURI: r.Visit.URL, WarcinfoID: infoID}
}

// record is that of the visit, before it is written. A revisit is labelled as what it
// refers to: readers look for that by it.
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

// sum is the digest of a block.
func (r *Records) sum(parts ...[]byte) string { return warc.Sum(r.label, parts...) }

func (r *Records) responseHeader(id, infoID string) warc.Header {
	h := r.header(warc.TypeResponse, id, infoID)
	h.ContentType, h.IP = "application/http; msgtype=response", r.x.IP
	h.Protocol, h.CipherSuite = protocol(r.x.Proto, r.x.TLSVersion), r.x.CipherSuite
	h.PayloadDigest, h.Truncated = r.Visit.Labelled(), r.Visit.Truncated
	return h
}

// writeResponse writes the record of the response as it is made: the body may be in a file.
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
	if e := r.elsewhere; e != nil { // whose record's id no index tells
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

// metadata is what the metadata record says.
func (o *Outcome) metadata() crawllog.Metadata {
	v := o.Visit
	m := crawllog.Metadata{Via: o.via, Hops: o.hops, Depth: o.Entry.Depth, Took: v.Took, Robots: v.Robots,
		Note: o.note()}
	if v.Kept == crawllog.KeptWithheld {
		m.Status, m.Withheld = v.Status, WithheldBy(v)
	}
	return m
}

// note is what a rebuild of crawl.db needs and no other record shows.
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
	if v.Kept == crawllog.KeptWithheld {
		withheld := *v
		withheld.Record = nil
		n.Withheld = &withheld
	}
	return n
}

// WithheldBy names the directive that forbids keeping.
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

// effort is how hard to compress the response: not at all what is compressed
// already, and little while others wait for the processor.
func (r *Records) effort() warc.Effort {
	if r.x.Header.Get("Content-Encoding") != "" || IsCompressed(r.Visit.ContentType) {
		return warc.Stored
	}
	return r.small()
}

// small is the effort for records that hold heads and fields. Those of a revisit
// are all that a round writes of an unchanged page: they are worth it.
func (r *Records) small() warc.Effort {
	if r.hurry && r.Visit.Kept != crawllog.KeptRevisit {
		return warc.Quick
	}
	return warc.Small
}

// IsCompressed knows the types that do not get smaller.
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
