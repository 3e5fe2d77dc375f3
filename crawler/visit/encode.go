package visit

import (
	"bytes"
	"io"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// largeBody is the payload above which a response record is not made in memory.
const largeBody = 4 << 20

// records are those of a visit, made while it is still nobody's turn to write:
// compressing is most of the work.
type records struct {
	members   *bytes.Buffer       // ready to be written, from memberPool; nil: not made yet
	infoID    string              // the warcinfo record that they name
	label     string              // of their digests, as storage.Options has it
	payload   string              // digest of the payload by that label; "": that of the visit
	elsewhere *crawllog.Elsewhere // what another archive holds in place of this
	broken    error               // why they cannot be made
	hurry     bool                // compress by the quick road
	released  bool                // x gave its buffers back
}

// Prepare makes the records, to name the warcinfo record infoID, and says how
// many octets they hold in place of the exchange's; -1 where they are not made
// yet. Others who wait for the processor, or could, are reason to hurry.
func (o *Outcome) Prepare(infoID string, hurry bool) (octets int) {
	o.hurry = hurry
	octets = -1
	defer broken(&o.broken)
	if o.Visit.Status == 0 || o.x.Unwanted {
		o.Visit.Kept = ""
		return -1
	}
	if o.isLarge() || infoID == "" {
		return -1
	}
	members := memberPool.Get().(*bytes.Buffer)
	members.Reset()
	if err := o.encode(members, infoID); err != nil { // the committer meets it again
		memberPool.Put(members)
		return -1
	}
	o.members, o.infoID = members, infoID
	// All that a revisit needs, should the committer find that another visit
	// brought the same payload; the rest makes room for the next body.
	head, request := bytes.Clone(o.x.Head), bytes.Clone(o.x.RequestBytes)
	o.x.Release()
	o.x.Head, o.x.RequestBytes, o.released = head, request, true
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
func (o *Outcome) Write(w io.Writer, infoID string) (err error) {
	defer broken(&err)
	switch {
	case o.broken != nil:
		return o.broken
	case o.members == nil:
		return o.encode(w, infoID)
	}
	members := o.members.Bytes()
	if o.infoID != infoID { // a segment ended in the meantime
		if members, err = renamed(members, o.infoID, infoID); err != nil {
			return err
		}
	}
	_, err = w.Write(members)
	return err
}

// Release gives back what an outcome holds, once it is committed or dropped.
func (o *Outcome) Release() {
	if o.x != nil && !o.released {
		o.x.Release()
	}
	if o.members != nil {
		memberPool.Put(o.members)
		o.members = nil
	}
}

// isLarge says whether the records are made as they are written.
func (o *Outcome) isLarge() bool {
	return o.Visit.Length > largeBody && o.Visit.Kept == crawllog.KeptResponse
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
func (o *Outcome) encode(w io.Writer, infoID string) error {
	s := scratches.Get().(*scratch) // given back only where all went well
	id := warc.NewID()
	o.Visit.Record = o.record(id)
	switch o.Visit.Kept {
	case crawllog.KeptWithheld:
		s.out = o.appendMetadata(s, s.out[:0], infoID, id, "")
	case crawllog.KeptRevisit, crawllog.KeptElsewhere:
		s.out = o.appendRest(s, o.appendRevisit(s, s.out[:0], infoID, id), infoID, id)
	default:
		if err := o.writeResponse(s, w, infoID, id); err != nil {
			return err
		}
		s.out = o.appendRest(s, s.out[:0], infoID, id)
	}
	_, err := w.Write(s.out)
	scratches.Put(s)
	return err
}

// appendRest makes the records beside that of the response.
func (o *Outcome) appendRest(s *scratch, dst []byte, infoID, id string) []byte {
	dst = o.appendRequest(s, dst, infoID, id)
	if o.Visit.Rendered != nil {
		dst = o.appendRendered(s, dst, infoID, id)
	}
	return o.appendMetadata(s, dst, infoID, warc.NewID(), id)
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
func (o *Outcome) header(kind, id, infoID string) warc.Header {
	return warc.Header{Type: kind, ID: id, Date: o.Visit.At, TargetURI: o.Visit.URL, WarcinfoID: infoID}
}

// record is that of the visit, before it is written. A revisit is labelled as what it
// refers to: readers look for that by it.
func (o *Outcome) record(id string) *crawllog.Record {
	r := &crawllog.Record{ID: id}
	switch o.Visit.Kept {
	case crawllog.KeptResponse, crawllog.KeptElsewhere:
		r.Label, r.Elsewhere = o.payload, o.elsewhere
	case crawllog.KeptRevisit:
		r.Label = o.original.Record.Label
	}
	return r
}

// sum is the digest of a block.
func (o *Outcome) sum(parts ...[]byte) string { return warc.SumLabelled(o.label, parts...) }

func (o *Outcome) responseHeader(id, infoID string) warc.Header {
	h := o.header(warc.TypeResponse, id, infoID)
	h.ContentType, h.IP = "application/http; msgtype=response", o.x.IP
	h.Protocol, h.CipherSuite = protocol(o.x.Proto, o.x.TLSVersion), o.x.CipherSuite
	h.PayloadDigest, h.Truncated = o.Visit.Labelled(), o.Visit.Truncated
	return h
}

// writeResponse writes the record of the response as it is made: the body may be in a file.
func (o *Outcome) writeResponse(s *scratch, w io.Writer, infoID, id string) error {
	h := o.responseHeader(id, infoID)
	digest := warc.NewLabelled(o.label)
	digest.Write(o.x.Head)
	wire, _ := o.x.Wire()
	n, err := io.Copy(digest, wire)
	if err != nil {
		return err
	}
	h.Length, h.BlockDigest = int64(len(o.x.Head))+n, digest.String()
	wire, _ = o.x.Wire()
	return s.encoder.Stream(w, &h, o.effort(), bytes.NewReader(o.x.Head), wire)
}

func (o *Outcome) appendRevisit(s *scratch, dst []byte, infoID, id string) []byte {
	h := o.responseHeader(id, infoID)
	h.Type, h.Profile, h.Truncated = warc.TypeRevisit, warc.ProfileIdentical, ""
	if o.x.Status == 304 {
		h.Profile = warc.ProfileNotModified
	}
	if e := o.elsewhere; e != nil { // whose record's id no index tells
		h.RefersToURI, h.RefersToDate = e.URL, e.At
	} else {
		h.RefersTo, h.RefersToURI, h.RefersToDate = o.original.Record.ID, o.original.URL, o.original.At
	}
	h.BlockDigest = o.sum(o.x.Head)
	return s.encoder.Append(dst, &h, o.small(), o.x.Head)
}

func (o *Outcome) appendRequest(s *scratch, dst []byte, infoID, responseID string) []byte {
	h := o.header(warc.TypeRequest, warc.NewID(), infoID)
	h.ContentType, h.IP, h.ConcurrentTo = "application/http; msgtype=request", o.x.IP, responseID
	h.BlockDigest = o.sum(o.x.RequestBytes)
	return s.encoder.Append(dst, &h, o.small(), o.x.RequestBytes)
}

func (o *Outcome) appendMetadata(s *scratch, dst []byte, infoID, id, responseID string) []byte {
	h := o.header(warc.TypeMetadata, id, infoID)
	h.ContentType, h.ConcurrentTo = "application/warc-fields", responseID
	m := o.metadata()
	s.fields = m.Append(s.fields[:0])
	h.BlockDigest = o.sum(s.fields)
	return s.encoder.Append(dst, &h, o.small(), s.fields)
}

// metadata is what the metadata record says.
func (o *Outcome) metadata() crawllog.Metadata {
	v := o.Visit
	m := crawllog.Metadata{Via: o.via, Hops: o.hops, Depth: o.Entry.Depth, Took: v.Took, Robots: v.Robots, Note: o.note()}
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
func (o *Outcome) effort() warc.Effort {
	if o.x.Header.Get("Content-Encoding") != "" || IsCompressed(o.Visit.ContentType) {
		return warc.Stored
	}
	return o.small()
}

// small is the effort for records that hold heads and fields. Those of a revisit
// are all that a round writes of an unchanged page: they are worth it.
func (o *Outcome) small() warc.Effort {
	if o.hurry && o.Visit.Kept != crawllog.KeptRevisit {
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
