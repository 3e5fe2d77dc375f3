package storage

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"
)

// Note is what a visit's metadata record says, as one line of JSON, of what
// its other records do not show: with it crawl.db can be rebuilt.
type Note struct {
	Class     string        `json:"class"`
	How       string        `json:"how,omitempty"` // the place in which the URL was found
	Redirects int           `json:"redirects,omitempty"`
	Of        string        `json:"of,omitempty"` // the URL that led here by redirects, for a robots.txt
	Waited    time.Duration `json:"waited,omitempty"`
	Delay     string        `json:"delay,omitempty"`
	Suspect   string        `json:"suspect,omitempty"`    // Visit.Suspect, as far as it was known when the record was written
	Round     int           `json:"round,omitempty"`      // that it was made in; 0: the first crawl
	Began     time.Time     `json:"round_began,omitzero"` // when that round began
	// Rendered is Visit.Rendered.
	Rendered *Rendered `json:"rendered,omitempty"`
	// Withheld is the visit itself where the body, and with it the whole
	// response, is not kept.
	Withheld *Visit `json:"withheld,omitempty"`
}

// Metadata is the block of the metadata record of a visit: what its other
// records do not say.
type Metadata struct {
	Via      string // the URL that led here
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
		b = appendField(b, fieldVia, m.Via)
	}
	b = appendField(b, fieldHops, strconv.Itoa(m.Depth))
	b = appendField(b, fieldTook, strconv.FormatInt(m.Took.Milliseconds(), 10))
	if r := m.Robots; r != nil && r.Line > 0 {
		b = appendField(b, fieldRobots, "line "+strconv.Itoa(r.Line)+" of robots.txt "+r.Version+": "+r.Rule)
	}
	if m.Withheld != "" {
		b = appendField(b, fieldStatus, strconv.Itoa(m.Status))
		b = appendField(b, fieldWithheld, "the body, as the site asks: "+m.Withheld)
	}
	if note, err := json.Marshal(m.Note); err == nil { // of strings and numbers, which is no error
		b = appendField(b, fieldVisit, string(note))
	}
	return b
}

// metadataOf is what Append wrote.
func metadataOf(fields map[string]string) Metadata {
	m := Metadata{Via: fields[fieldVia], Withheld: fields[fieldWithheld]}
	m.Depth, _ = strconv.Atoi(fields[fieldHops])
	m.Status, _ = strconv.Atoi(fields[fieldStatus])
	ms, _ := strconv.ParseInt(fields[fieldTook], 10, 64)
	m.Took = time.Duration(ms) * time.Millisecond
	m.noted = json.Unmarshal([]byte(fields[fieldVisit]), &m.Note) == nil
	return m
}

// maxFields bounds a block of fields that is read into memory.
const maxFields = 1 << 20

// readFields reads a block of type application/warc-fields.
func readFields(r io.Reader) (map[string]string, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxFields))
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for line := range strings.SplitSeq(string(b), "\r\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			fields[name] = value
		}
	}
	return fields, nil
}

func appendField(b []byte, name, value string) []byte {
	b = append(b, name...)
	b = append(b, ": "...)
	b = append(b, oneLine(value)...)
	return append(b, "\r\n"...)
}

// oneLine keeps text from the network from making fields of its own.
func oneLine(s string) string {
	if strings.IndexFunc(s, isControl) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return ' '
		}
		return r
	}, s)
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }
