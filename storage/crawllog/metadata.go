package crawllog

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	"curtsy/storage/warc"
	"curtsy/usage"
)

// Note is what a visit's metadata record says, as one line of JSON, of what
// its other records do not show: with it crawl.db can be rebuilt.
type Note struct {
	Class     string        `json:"class"`
	How       string        `json:"how,omitempty"`   // the place in which the URL was found
	Depth     int           `json:"depth,omitempty"` // Metadata.Depth; 0 also where hopsFromSeed is that number
	Redirects int           `json:"redirects,omitempty"`
	Of        string        `json:"of,omitempty"` // the URL that led here by redirects, for a robots.txt
	Waited    time.Duration `json:"waited,omitempty"`
	Delay     string        `json:"delay,omitempty"`
	Suspect   string        `json:"suspect,omitempty"`    // Visit.Suspect, as far as it was known then
	Body      string        `json:"body,omitempty"`       // Visit.Body
	Round     int           `json:"round,omitempty"`      // that it was made in; 0: the first crawl
	Began     time.Time     `json:"round_began,omitzero"` // when that round began
	// Import is where the records were taken from; nil where curtsy made them.
	Import *Import `json:"import,omitempty"`
	// Rendered is Visit.Rendered.
	Rendered *Rendered `json:"rendered,omitempty"`
	// Usage is Visit.Usage.
	Usage []usage.Statement `json:"usage,omitempty"`
	// Elsewhere is Record.Elsewhere, and what of the visit the record of a revisit does not say.
	Elsewhere *NotedElsewhere `json:"elsewhere,omitempty"`
	// Withheld is the visit itself where the body, and with it the whole
	// response, is not kept.
	Withheld *Visit `json:"withheld,omitempty"`
}

// NotedElsewhere is what is known of a payload that another archive holds.
type NotedElsewhere struct {
	Elsewhere
	Digest string `json:"digest"`
	Length int64  `json:"length"`
}

// Import is what is known of a record that another program wrote.
type Import struct {
	File   string   `json:"file"`
	At     string   `json:"at"`               // where it begins in the file, in octets
	Header string   `json:"header,omitempty"` // version line and fields, verbatim
	Head   string   `json:"head,omitempty"`   // the HTTP head, where the record kept here has another
	Mended []string `json:"mended,omitempty"` // why it has
	// Remarks are what was wrong with the record, which was taken all the same.
	Remarks []string `json:"remarks,omitempty"`
}

// Metadata is the block of the metadata record of a visit: what its other
// records do not say.
type Metadata struct {
	Via      string // the URL that led here
	Hops     string // how, from a seed on: a letter a hop, as Heritrix has it
	Depth    int    // links from the seed
	Took     time.Duration
	Robots   *Decision // the line that allowed it; written only
	Status   int       // of a response that is withheld
	Withheld string    // why nothing of the body is kept; "" where it is
	Note     Note

	noted bool // it has a note that reads back
}

// Fields of a metadata record (ISO 28500 §6.6), and those of ours, which other
// programs pass over.
const (
	fieldVia      = "via"
	fieldHops     = "hopsFromSeed"
	fieldTook     = "fetchTimeMs"
	fieldRobots   = "robots"
	fieldStatus   = "status"
	fieldWithheld = "withheld"
	fieldVisit    = "curtsy-visit" // a Note
)

// Append writes the block.
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
	if note, err := json.Marshal(n); err == nil { // of strings and numbers, which is no error
		b = warc.AppendField(b, fieldVisit, string(note))
	}
	return b
}

// MetadataOf is what Append wrote.
func MetadataOf(fields map[string]string) Metadata {
	m := Metadata{Via: fields[fieldVia], Withheld: fields[fieldWithheld]}
	m.Status, _ = strconv.Atoi(fields[fieldStatus])
	ms, _ := strconv.ParseInt(fields[fieldTook], 10, 64)
	m.Took = time.Duration(ms) * time.Millisecond
	m.noted = json.Unmarshal([]byte(fields[fieldVisit]), &m.Note) == nil
	m.Hops, m.Depth = hopsOf(fields[fieldHops])
	m.Depth = max(m.Depth, m.Note.Depth)
	if m.noted && m.Hops != "" {
		m.Depth = m.Note.Depth
	}
	return m
}

// hops are the letters of Heritrix, of more than 50 the last, behind the number of the others.
var hops = regexp.MustCompile(`^(?:(\d{1,9})\+)?([LERPXIMS]{1,50})$`)

// hopsOf reads a path of hops, or its length, as earlier versions had it. Redirects and
// prerequisites are no links.
func hopsOf(text string) (path string, links int) {
	m := hops.FindStringSubmatch(text)
	if m == nil {
		links, _ = strconv.Atoi(text)
		return "", links
	}
	links, _ = strconv.Atoi(m[1])
	return text, links + len(m[2]) - strings.Count(m[2], "R") - strings.Count(m[2], "P")
}

// Recovered is a visit as its records alone tell of it: without the ids that
// crawl.db gave it.
type Recovered struct {
	Visit *Visit
	Metadata
	RefersTo    string // for a revisit: the id of the record that holds the payload
	RefersToURI string
	Noted       bool // its metadata record is there, and has a Note
}

// Take takes in what the metadata record says.
func (c *Recovered) Take(m Metadata) {
	c.Metadata, c.Noted = m, m.noted
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
	v.Body, v.Round = m.Note.Body, m.Note.Round
}
