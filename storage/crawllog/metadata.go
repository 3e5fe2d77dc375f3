package crawllog

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	"curtsy/storage/warc"
	"curtsy/usage"
)

// Note is the part of a visit's metadata record, as one line of JSON, from which crawl.db can be
// rebuilt. It has what the other records do not contain.
type Note struct {
	Class     string        `json:"class"`
	How       string        `json:"how,omitempty"`   // where the URL was found
	Depth     int           `json:"depth,omitempty"` // Metadata.Depth; 0 also if hopsFromSeed is a number
	Redirects int           `json:"redirects,omitempty"`
	Of        string        `json:"of,omitempty"` // for a robots.txt after redirects: its original URL
	Waited    time.Duration `json:"waited,omitempty"`
	Delay     string        `json:"delay,omitempty"`
	Suspect   string        `json:"suspect,omitempty"`    // Visit.Suspect, as known then
	Body      string        `json:"body,omitempty"`       // Visit.Body
	Truncated string        `json:"truncated,omitempty"`  // Visit.Truncated of a revisit, whose record has no body
	Round     int           `json:"round,omitempty"`      // number of the round; 0: the first crawl
	Began     time.Time     `json:"round_began,omitzero"` // when that round began
	// Import is where the records were imported from; nil if curtsy made them.
	Import *Import `json:"import,omitempty"`
	// Rendered is Visit.Rendered.
	Rendered *Rendered `json:"rendered,omitempty"`
	// Usage is Visit.Usage.
	Usage []usage.Statement `json:"usage,omitempty"`
	// Elsewhere is Record.Elsewhere, with digest and length of the payload.
	Elsewhere *NotedElsewhere `json:"elsewhere,omitempty"`
	// Withheld is the visit itself if the response is withheld.
	Withheld *Visit `json:"withheld,omitempty"`
}

// NotedElsewhere describes a payload that another archive holds.
type NotedElsewhere struct {
	Elsewhere
	Digest string `json:"digest"`
	Length int64  `json:"length"`
}

// Import describes a record written by another program.
type Import struct {
	File   string   `json:"file"`
	At     string   `json:"at"`               // offset of the record in the file
	Header string   `json:"header,omitempty"` // version line and fields, verbatim
	Head   string   `json:"head,omitempty"`   // the original HTTP head, if the stored one differs
	Mended []string `json:"mended,omitempty"` // why it differs
	// Remarks are what was wrong with a record that was imported nevertheless.
	Remarks []string `json:"remarks,omitempty"`
}

// Metadata is the content of the metadata record of a visit: what its other records do not contain.
type Metadata struct {
	Via      string // the referring URL
	Hops     string // hop path from a seed, one letter per hop, as in Heritrix
	Depth    int    // links from the seed
	Took     time.Duration
	Robots   *Decision // the rule that allowed it; written, but not read back
	Status   int       // status of a withheld response
	Withheld string    // why the body is withheld; "" if it is not
	Note     Note
	Noted    bool // it has a valid Note
}

// Fields of a metadata record (ISO 28500 §6.6), and our own, which other programs ignore.
const (
	fieldVia      = "via"
	fieldHops     = "hopsFromSeed"
	fieldTook     = "fetchTimeMs"
	fieldRobots   = "robots"
	fieldStatus   = "status"
	fieldWithheld = "withheld"
	fieldVisit    = "curtsy-visit" // a Note
)

// Append appends the block to b.
func (m *Metadata) Append(b []byte) []byte {
	if m.Via != "" {
		b = warc.AppendField(b, fieldVia, m.Via)
	}
	if m.Hops != "" {
		b = warc.AppendField(b, fieldHops, m.Hops)
	}
	b = warc.AppendField(b, fieldTook, strconv.FormatInt(m.Took.Milliseconds(), 10))
	if r := m.Robots; r != nil && r.Line > 0 {
		b = warc.AppendField(b, fieldRobots, "line "+strconv.Itoa(r.Line)+" of robots.txt "+r.Version+": "+r.Rule)
	}
	if m.Withheld != "" {
		b = warc.AppendField(b, fieldStatus, strconv.Itoa(m.Status))
		b = warc.AppendField(b, fieldWithheld, "the body, as the site asks: "+m.Withheld)
	}
	n := m.Note
	n.Depth = m.Depth
	if note, err := json.Marshal(n); err == nil { // strings and numbers always marshal
		b = warc.AppendField(b, fieldVisit, string(note))
	}
	return b
}

// MetadataOf decodes what Append wrote.
func MetadataOf(fields map[string]string) Metadata {
	m := Metadata{Via: fields[fieldVia], Withheld: fields[fieldWithheld]}
	m.Status, _ = strconv.Atoi(fields[fieldStatus])
	ms, _ := strconv.ParseInt(fields[fieldTook], 10, 64)
	m.Took = time.Duration(ms) * time.Millisecond
	m.Noted = json.Unmarshal([]byte(fields[fieldVisit]), &m.Note) == nil
	m.Hops, m.Depth = hopsOf(fields[fieldHops])
	m.Depth = max(m.Depth, m.Note.Depth)
	if m.Noted && m.Hops != "" {
		m.Depth = m.Note.Depth
	}
	return m
}

// hops matches a hop path as Heritrix writes it: of more than 50 letters the last, after the number of the others.
var hops = regexp.MustCompile(`^(?:(\d{1,9})\+)?([LERPXIMS]{1,50})$`)

// hopsOf parses a hop path, or a number of links as earlier versions wrote it. Redirects and prerequisites
// are not counted as links.
func hopsOf(text string) (path string, links int) {
	m := hops.FindStringSubmatch(text)
	if m == nil {
		links, _ = strconv.Atoi(text)
		return "", links
	}
	links, _ = strconv.Atoi(m[1])
	return text, links + len(m[2]) - strings.Count(m[2], "R") - strings.Count(m[2], "P")
}

// Recovered is a visit as read from its records alone, without the ids from crawl.db.
type Recovered struct {
	Visit *Visit
	Metadata
	RefersTo    string // of a revisit: id of the record with the payload
	RefersToURI string
}

// Take applies the content of the metadata record.
func (c *Recovered) Take(m Metadata) {
	c.Metadata = m
	v := c.Visit
	if w := m.Note.Withheld; w != nil && v.Kept == KeptWithheld && w.URL == v.URL {
		w.Record, w.Kept, w.Digest, w.Title = v.Record, v.Kept, "", ""
		c.Visit, v = w, w
	}
	if e := m.Note.Elsewhere; e != nil && v.Kept == KeptRevisit && v.Record != nil {
		v.Kept, v.Record.Elsewhere, v.Digest, v.Length = KeptElsewhere, &e.Elsewhere, e.Digest, e.Length
	}
	v.Usage = m.Note.Usage
	if v.Kept != KeptWithheld {
		v.Rendered = m.Note.Rendered
	}
	v.Took, v.Class, v.Waited, v.Delay, v.Suspect = m.Took, m.Note.Class, m.Note.Waited, m.Note.Delay, m.Note.Suspect
	v.Body, v.Round, v.Truncated = m.Note.Body, m.Note.Round, cmp.Or(v.Truncated, m.Note.Truncated)
}
