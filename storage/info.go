package storage

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"curtsy/storage/warc"
)

// Info is the content of the warcinfo record of a segment.
type Info struct {
	Segment  string
	Crawl    json.RawMessage // Options.Crawl when the segment was begun; nil if there is none
	Operator string
	Robots   string

	id                           string
	archive                      string // id of the archive that began it
	software, agent, description string
	label                        string // algorithm of the record's digest
}

// Fields of a warcinfo record (ISO 28500 §6.2), and our own.
const (
	fieldSoftware    = "software"
	fieldFormat      = "format"
	fieldConforms    = "conformsTo"
	fieldDescription = "description"
	fieldRobots      = "robots"
	fieldOperator    = "operator"
	fieldAgent       = "http-header-user-agent"
	fieldArchive     = "curtsy-archive" // id of the archive
	fieldCrawl       = "curtsy-crawl"   // Options.Crawl
)

// info returns the Info for new segments.
func (a *Archive) info() Info {
	o := &a.opts
	return Info{software: o.Software, Robots: o.RobotsLine, Operator: o.Operator, agent: o.UserAgent, archive: a.id(),
		Crawl: a.crawlJSON(), label: o.Label}
}

// id identifies the archive without revealing its key.
func (a *Archive) id() string {
	h := sha256.Sum256(append([]byte("curtsy archive id "), a.key[:]...))
	return hex.EncodeToString(h[:16])
}

// append appends the block of the record. JSON from encoding/json contains no line ends, so that no setting
// can add a field.
func (i *Info) append(b []byte) []byte {
	b = warc.AppendField(b, fieldSoftware, i.software)
	b = warc.AppendField(b, fieldFormat, "WARC File Format 1.1")
	b = warc.AppendField(b, fieldConforms,
		"http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/")
	for _, f := range [][2]string{{fieldDescription, i.description}, {fieldRobots, i.Robots},
		{fieldOperator, i.Operator}, {fieldAgent, i.agent}, {fieldArchive, i.archive}, {fieldCrawl, string(i.Crawl)}} {
		if f[1] != "" {
			b = warc.AppendField(b, f[0], f[1])
		}
	}
	return b
}

// infoOf decodes what append wrote.
func infoOf(segment string, h *warc.Header, fields map[string]string) Info {
	i := Info{Segment: segment, id: h.ID, Operator: fields[fieldOperator], Robots: fields[fieldRobots],
		agent:   fields[fieldAgent],
		archive: fields[fieldArchive]}
	if line := []byte(fields[fieldCrawl]); json.Valid(line) {
		i.Crawl = line
	}
	return i
}

// record returns the gzip member that begins a segment.
func (i *Info) record(name, id string, now time.Time) []byte {
	block := i.append(nil)
	h := &warc.Header{Type: warc.TypeInfo, ID: id, Date: now, Filename: name,
		ContentType: "application/warc-fields", BlockDigest: warc.Sum(i.label, block)}
	return warc.NewEncoder().Append(nil, h, warc.Small, block)
}

// crawlJSON returns Options.Crawl as JSON; nil if there is none.
func (a *Archive) crawlJSON() json.RawMessage {
	if a.opts.Crawl == nil {
		return nil
	}
	b, _ := json.Marshal(a.opts.Crawl) // nil on error
	return b
}

// readInfo reads the warcinfo record at the beginning of a segment; if there is none, it returns an empty
// Info.
func (d *directory) readInfo(name string) Info {
	info := Info{Segment: name}
	f, err := d.open(segmentFile(name))
	if err != nil {
		return info
	}
	defer f.Close()
	w := warc.NewReader(f, 0)
	h, err := w.Next()
	if err != nil || h.Type != warc.TypeInfo {
		return info
	}
	fields, err := warc.ReadFields(w)
	if err != nil || w.Finish() != nil {
		return info
	}
	return infoOf(info.Segment, h, fields)
}

// LastInfo returns the Info of the newest segment that has Crawl, else of the newest segment; ok is false if
// there is no segment.
func LastInfo(dir string) (info Info, ok bool) {
	d, err := openDirectory(dir)
	if err != nil {
		return info, false
	}
	defer d.close()
	names, _ := d.segmentNames() // errors recur when the archive is opened
	for _, name := range slices.Backward(names) {
		read := d.readInfo(name)
		if read.Crawl != nil {
			return read, true
		}
		if info.id == "" {
			info = read
		}
	}
	return info, len(names) > 0
}

// says reports whether a segment has the present Options.Crawl. If not, it is not continued, so that the
// newest segment always has the right settings.
func (a *Archive) says(name string) bool {
	now := a.crawlJSON()
	return now == nil || bytes.Equal(now, a.dir.readInfo(name).Crawl)
}
