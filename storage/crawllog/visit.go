// Package crawllog has the data stored about each visit, like a line in a crawl log, and its two forms: Pack
// for crawl.db, and Metadata for the metadata record among the visit's records, from which crawl.db can be
// rebuilt.
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
	KeptRevisit  = "revisit"  // its head; the payload is in an earlier response
	KeptWithheld = "withheld" // nothing of the body, because of a directive
	// KeptElsewhere is a revisit of a response in another archive.
	KeptElsewhere = "elsewhere"
)

// Visit is one attempt to fetch a URL and its result. The order of the fields is that of the JSON.
type Visit struct {
	Asked
	Answer
	Round int `json:"round,omitempty"` // number of the round; 0: the first crawl, or an older version
	Document
	Payload

	// Bare says that a page shows next to nothing without its scripts.
	Bare     bool      `json:"bare,omitempty"`
	Rendered *Rendered `json:"rendered,omitempty"` // the result of rendering

	Directives *Directives `json:"directives,omitempty"`
	// Usage has the statements on the use of the content, by the robots.txt then in force, files of
	// the site, header and document.
	Usage []usage.Statement `json:"usage,omitempty"`

	Robots *Decision `json:"robots,omitempty"` // the rule that allowed it

	Stored
}

// Asked identifies the visit and describes the request.
type Asked struct {
	URLID  uint64        `json:"url_id"`
	N      int           `json:"n"` // number of the visit of this URL, from 1
	URL    string        `json:"url"`
	Class  string        `json:"class"`
	At     time.Time     `json:"at"`
	Waited time.Duration `json:"waited,omitempty"` // ns since the end of the last download from the origin
	Delay  string        `json:"delay,omitempty"`  // the delay in force and its source
	Took   time.Duration `json:"took,omitempty"`   // ns from connecting to the last octet
}

// Answer is the response of the site, or why there was none.
type Answer struct {
	Status   int    `json:"status,omitempty"`
	Error    string `json:"error,omitempty"`    // why there is no response
	Location string `json:"location,omitempty"` // absolute target of a redirect
	Target   string `json:"target,omitempty"`   // Location reduced by Clean-param; "" if it is the same
}

// Document has what header and document say about the content.
type Document struct {
	ContentType  string `json:"content_type,omitempty"`
	Charset      string `json:"charset,omitempty"`
	Title        string `json:"title,omitempty"`
	Lang         string `json:"lang,omitempty"`
	Canonical    string `json:"canonical,omitempty"`
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	MaxAge       int    `json:"max_age,omitempty"` // Cache-Control: max-age, in seconds
	Links        int    `json:"links,omitempty"`   // number of links in the document
}

// Payload describes the body, and whether it is the page.
type Payload struct {
	Length    int64  `json:"length"`              // octets of the payload as sent
	Digest    string `json:"digest,omitempty"`    // "sha256:" and hexadecimal digits; identifies the payload
	Truncated string `json:"truncated,omitempty"` // as WARC-Truncated
	// Body is the result of decoding the body: BodyWhole, BodyEmpty, or why it does not decode to
	// its end; "" if there is none, it is truncated, or the visit is of an older version.
	Body    string `json:"body,omitempty"`
	Blocked string `json:"blocked,omitempty"` // what was sent in place of the page: a challenge, a refusal of crawlers

	// Suspect is why a response is not accepted as the page although its status is good: it does
	// not replace an earlier copy.
	Suspect string `json:"suspect,omitempty"`
}

// Stored says what is stored of the response, and where.
type Stored struct {
	Kept   string  `json:"kept,omitempty"`
	Record *Record `json:"record,omitempty"` // location of the response, revisit or metadata record
	Refers *Ref    `json:"refers,omitempty"` // of a revisit: the visit with the payload
}

// Directives are the directives in document and header.
type Directives = robotsmeta.Directives

// Decision is a decision by robots.txt, and the line behind it.
type Decision struct {
	Allow   bool      `json:"allow"`
	Line    int       `json:"line,omitempty"` // 0: no rule matched
	Rule    string    `json:"rule,omitempty"`
	Group   string    `json:"group,omitempty"`
	Differs string    `json:"differs,omitempty"` // how two matchers differ on a rule
	Version string    `json:"version,omitempty"` // short digest of the robots.txt
	Fetched time.Time `json:"fetched"`
}

// Record is the location of the records of a visit.
type Record struct {
	Segment string `json:"segment"`
	Offset  int64  `json:"offset"`
	Length  int64  `json:"length"` // octets of all records of the visit that follow each other from Offset
	ID      string `json:"id"`
	Label   string `json:"label,omitempty"` // WARC-Payload-Digest, if that is a SHA-1
	// Elsewhere is the capture in another archive that it refers to.
	Elsewhere *Elsewhere `json:"elsewhere,omitempty"`
	// Beside has the records of the visit elsewhere in a linked file.
	Beside []Extent `json:"beside,omitempty"`
}

// Extent is a part of a file.
type Extent struct {
	Offset int64 `json:"offset"`
	Length int64 `json:"length"`
}

// Extents returns the locations of the records of the visit, that of the response first.
func (r *Record) Extents() []Extent { return append([]Extent{{r.Offset, r.Length}}, r.Beside...) }

// Elsewhere identifies a capture in another archive, as a revisit record does (ISO 28500 §6.7).
type Elsewhere struct {
	URL string    `json:"url"`
	At  time.Time `json:"at"` // to the second, as in indexes
}

// Elsewhere returns the capture in another archive that holds the payload; nil unless Kept is
// KeptElsewhere.
func (v *Visit) Elsewhere() *Elsewhere {
	if v.Kept != KeptElsewhere || v.Record == nil {
		return nil
	}
	return v.Record.Elsewhere
}

func (e *Elsewhere) String() string {
	return "the body is in another archive: " + e.URL + " of " + e.At.UTC().Format(time.RFC3339)
}

// Ref identifies a visit.
type Ref struct {
	URLID uint64 `json:"url_id"`
	N     int    `json:"n"`
}

// RefSize is the size of a Ref's key.
const RefSize = 8 + 4

// Key encodes the reference so that keys sort by URL, then by number.
func (r Ref) Key() []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, RefSize), r.URLID)
	return binary.BigEndian.AppendUint32(b, uint32(r.N))
}

// RefOf decodes a key of RefSize octets.
func RefOf(key []byte) Ref {
	return Ref{binary.BigEndian.Uint64(key), int(binary.BigEndian.Uint32(key[8:]))}
}

// Ref returns the reference to the visit.
func (v *Visit) Ref() Ref { return Ref{v.URLID, v.N} }

// Labelled returns the payload digest in the visit's record.
func (v *Visit) Labelled() string {
	if v.Record == nil {
		return v.Digest
	}
	return cmp.Or(v.Record.Label, v.Digest)
}

// HasBody reports whether a body can be read: the visit's own, or the one it refers to.
func (v *Visit) HasBody() bool { return v.Kept == KeptResponse || v.Kept == KeptRevisit }

// Rendered describes a rendered page. The document is in a conversion record of the visit (ISO 28500 §6.8),
// in UTF-8.
type Rendered struct {
	Length  int64     `json:"length"`
	SHA256  string    `json:"sha256"`
	Asked   int       `json:"asked"`             // number of requests, that for the page included
	Missing []Missing `json:"missing,omitempty"` // the first requests that were not answered
	Cut     string    `json:"cut,omitempty"`     // why the page was read before it was idle, or truncated
}

// Missing is a request of a page that was not answered, and why.
type Missing struct {
	URL string `json:"url"`
	Why string `json:"why"`
}

// TypeRendered is the media type of rendered documents.
const TypeRendered = "text/html; charset=utf-8"

// RobotsVersion is one fetch of a robots.txt. Their history tells which rules were in force when.
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
	// Cut says that the file is longer than what is parsed.
	Cut bool `json:"cut,omitempty"`
	// Used is false for a failed fetch: the version before stays in force.
	Used bool `json:"used"`
}

// Short returns an abbreviated digest for display.
func (r RobotsVersion) Short() string {
	d, ok := warc.ParseDigest(r.Digest)
	if !ok {
		return ""
	}
	return hex.EncodeToString(d[:5])
}
