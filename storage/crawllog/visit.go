// Package crawllog is what is written down of each visit, as a crawl log has a line
// for each: the values, and their two forms. Pack is that of crawl.db; Metadata is
// that of the metadata record among the visit's records, from which crawl.db can
// be rebuilt.
package crawllog

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"time"

	"curtsy/internal/robotsmeta"
	"curtsy/storage/warc"
	"curtsy/usage"
)

// How much of a response is kept.
const (
	KeptResponse = "response" // all of it, in a response record
	KeptRevisit  = "revisit"  // its head; the payload is that of an earlier response
	KeptWithheld = "withheld" // nothing of the body: a directive asked for it
	// KeptElsewhere is a revisit of a response in an archive of somebody else's.
	KeptElsewhere = "elsewhere"
)

// Visit is one attempt to fetch a URL and what came of it. The order of the fields is
// that of its JSON.
type Visit struct {
	Asked
	Answer
	Round int `json:"round,omitempty"` // that it was made in; 0: the first crawl, or an earlier curtsy
	Document
	Payload

	// Bare says that a page shows next to nothing without its scripts.
	Bare     bool      `json:"bare,omitempty"`
	Rendered *Rendered `json:"rendered,omitempty"` // what its scripts made of it

	Directives *Directives `json:"directives,omitempty"`
	// Usage is what was said about the use of what came, by the robots.txt in force
	// then, by files of the site, headers and the document.
	Usage []usage.Statement `json:"usage,omitempty"`

	Robots *Decision `json:"robots,omitempty"` // the line that allowed it

	Stored
}

// Asked is which visit it is, and the request.
type Asked struct {
	URLID  uint64        `json:"url_id"`
	N      int           `json:"n"` // which visit of this URL, from 1
	URL    string        `json:"url"`
	Class  string        `json:"class"`
	At     time.Time     `json:"at"`
	Waited time.Duration `json:"waited,omitempty"` // ns between being next and being fetched
	Delay  string        `json:"delay,omitempty"`  // the delay in force and its source
	Took   time.Duration `json:"took,omitempty"`   // ns from connecting to the last octet
}

// Answer is what the site answered, or that it did not.
type Answer struct {
	Status   int    `json:"status,omitempty"`
	Error    string `json:"error,omitempty"`    // why there is no response
	Location string `json:"location,omitempty"` // where a redirect leads, absolute
	Target   string `json:"target,omitempty"`   // what Clean-param makes of Location; "" where it is the same
}

// Document is what the header and the document say of what came.
type Document struct {
	ContentType  string `json:"content_type,omitempty"`
	Charset      string `json:"charset,omitempty"`
	Title        string `json:"title,omitempty"`
	Lang         string `json:"lang,omitempty"`
	Canonical    string `json:"canonical,omitempty"`
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	MaxAge       int    `json:"max_age,omitempty"` // seconds that Cache-Control lets an answer be used
	Links        int    `json:"links,omitempty"`   // found in the document
}

// Payload is the body, and whether it is the page.
type Payload struct {
	Length    int64  `json:"length"`              // octets of the payload as it was sent
	Digest    string `json:"digest,omitempty"`    // "sha256:" and its digits: by it two payloads are the same
	Truncated string `json:"truncated,omitempty"` // as WARC-Truncated
	// Body is what decoding the body found: BodyWhole, BodyEmpty, or why it does not
	// decode to its end; "" where there is none, it is not all there, or an earlier
	// curtsy made the visit.
	Body    string `json:"body,omitempty"`
	Blocked string `json:"blocked,omitempty"` // what stands in the page's place: a challenge, a refusal of crawlers

	// Suspect is why an answer is not taken for the page although its status is
	// good: it hides no earlier copy.
	Suspect string `json:"suspect,omitempty"`
}

// Stored is what is kept of it, and where.
type Stored struct {
	Kept   string  `json:"kept,omitempty"`
	Record *Record `json:"record,omitempty"` // the response, revisit or metadata record
	Refers *Ref    `json:"refers,omitempty"` // for a revisit: who holds the payload
}

// Directives are what the document or its header asked for.
type Directives = robotsmeta.Directives

// Decision is a verdict of a robots.txt and the line behind it.
type Decision struct {
	Allow   bool      `json:"allow"`
	Line    int       `json:"line,omitempty"` // 0: no rule
	Rule    string    `json:"rule,omitempty"`
	Group   string    `json:"group,omitempty"`
	Differs string    `json:"differs,omitempty"` // how two readings of a rule differ
	Version string    `json:"version,omitempty"` // short digest of the robots.txt
	Fetched time.Time `json:"fetched"`
}

// Record is where a record lies.
type Record struct {
	Segment string `json:"segment"`
	Offset  int64  `json:"offset"`
	Length  int64  `json:"length"` // of all records of the visit, from Offset on
	ID      string `json:"id"`
	Label   string `json:"label,omitempty"` // its WARC-Payload-Digest, where that is SHA-1
	// Elsewhere is the capture of another archive that it refers to.
	Elsewhere *Elsewhere `json:"elsewhere,omitempty"`
	// Beside is where records of the visit lie that do not follow on the first, in a linked file.
	Beside []Extent `json:"beside,omitempty"`
}

// Extent is a part of a file.
type Extent struct {
	Offset int64 `json:"offset"`
	Length int64 `json:"length"`
}

// Extents are where the records of the visit lie, that of the response first.
func (r *Record) Extents() []Extent { return append([]Extent{{r.Offset, r.Length}}, r.Beside...) }

// Elsewhere names a capture of another archive, as a revisit record does (ISO 28500 §6.7).
type Elsewhere struct {
	URL string    `json:"url"`
	At  time.Time `json:"at"` // to the second, as indexes have it
}

// Elsewhere is what holds the payload where this archive does not: of a visit that is
// KeptElsewhere, else nil.
func (v *Visit) Elsewhere() *Elsewhere {
	if v.Kept != KeptElsewhere || v.Record == nil {
		return nil
	}
	return v.Record.Elsewhere
}

func (e *Elsewhere) String() string {
	return "the body is in another archive: " + e.URL + " of " + e.At.UTC().Format(time.RFC3339)
}

// Ref names a visit.
type Ref struct {
	URLID uint64 `json:"url_id"`
	N     int    `json:"n"`
}

// RefSize is the size of a Ref's key.
const RefSize = 8 + 4

// Key is the reference as a key: keys sort by URL, then by number.
func (r Ref) Key() []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, RefSize), r.URLID)
	return binary.BigEndian.AppendUint32(b, uint32(r.N))
}

// RefOf is the reference of a key of RefSize octets.
func RefOf(key []byte) Ref {
	return Ref{binary.BigEndian.Uint64(key), int(binary.BigEndian.Uint32(key[8:]))}
}

// Ref is the name of the visit.
func (v *Visit) Ref() Ref { return Ref{v.URLID, v.N} }

// Labelled is the digest that the record of the visit has.
func (v *Visit) Labelled() string {
	if v.Record == nil {
		return v.Digest
	}
	return cmp.Or(v.Record.Label, v.Digest)
}

// HasBody says whether a body can be read: the visit's own, or that which it
// refers to.
func (v *Visit) HasBody() bool { return v.Kept == KeptResponse || v.Kept == KeptRevisit }

// Rendered says what a browser made of a page. The document itself is a
// conversion record among the records of the visit (ISO 28500 §6.8), in UTF-8.
type Rendered struct {
	Length  int64     `json:"length"`
	SHA256  string    `json:"sha256"`
	Asked   int       `json:"asked"`             // requests of the page, itself included
	Missing []Missing `json:"missing,omitempty"` // those that were not answered, the first of them
	Cut     string    `json:"cut,omitempty"`     // why rendering ended before the page was at rest
}

// Missing is a request of a page that was not answered, and why.
type Missing struct {
	URL string `json:"url"`
	Why string `json:"why"`
}

// TypeRendered is the media type of rendered documents.
const TypeRendered = "text/html; charset=utf-8"

// RobotsVersion is one fetch of a robots.txt: the history that tells which
// rules were in force when.
type RobotsVersion struct {
	Origin  string    `json:"origin"`
	At      time.Time `json:"at"`
	Expires time.Time `json:"expires"` // fetched again after this
	Status  int       `json:"status"`
	Error   string    `json:"error,omitempty"`
	Type    string    `json:"content_type,omitempty"`
	Digest  string    `json:"digest,omitempty"` // of the body; "" if there is none
	ETag    string    `json:"etag,omitempty"`
	LastMod string    `json:"last_modified,omitempty"`
	// Cut says that it is longer than what is read of a robots.txt.
	Cut bool `json:"cut,omitempty"`
	// Used is false for a failed fetch, during which the version before stays in force.
	Used bool `json:"used"`
}

// Short is the version's digest as people read it.
func (r RobotsVersion) Short() string {
	d, ok := warc.ParseDigest(r.Digest)
	if !ok {
		return ""
	}
	return hex.EncodeToString(d[:5])
}
