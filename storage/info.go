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

// Info is what the warcinfo record of a segment says.
type Info struct {
	Segment  string
	Crawl    json.RawMessage // Options.Crawl when it was begun; nil if it has none
	Operator string
	Robots   string

	id                           string
	archive                      string // id of the one that began it
	software, agent, description string
	label                        string // of the record's digest
}

// Fields of a warcinfo record (ISO 28500 §6.2), and one of ours.
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

// info is what new segments say.
func (a *Archive) info() Info {
	o := &a.opts
	return Info{software: o.Software, Robots: o.RobotsLine, Operator: o.Operator, agent: o.UserAgent, archive: a.id(),
		Crawl: a.crawlJSON(), label: o.Label}
}

// id names the archive and tells nothing of its key.
func (a *Archive) id() string {
	h := sha256.Sum256(append([]byte("curtsy archive id "), a.key[:]...))
	return hex.EncodeToString(h[:16])
}

// append writes the block of the record. JSON of encoding/json holds no line
// ends, so that no setting can add a field.
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

// infoOf is what append wrote.
func infoOf(segment string, h *warc.Header, fields map[string]string) Info {
	i := Info{Segment: segment, id: h.ID, Operator: fields[fieldOperator], Robots: fields[fieldRobots],
		agent:   fields[fieldAgent],
		archive: fields[fieldArchive]}
	if line := []byte(fields[fieldCrawl]); json.Valid(line) {
		i.Crawl = line
	}
	return i
}

// record is the gzip member that begins a segment.
func (i *Info) record(name, id string, now time.Time) []byte {
	block := i.append(nil)
	h := &warc.Header{Type: warc.TypeInfo, ID: id, Date: now, Filename: name,
		ContentType: "application/warc-fields", BlockDigest: warc.Sum(i.label, block)}
	return warc.NewEncoder().Append(nil, h, warc.Small, block)
}

// crawlJSON is what segments say of the crawl; nil if nothing.
func (a *Archive) crawlJSON() json.RawMessage {
	if a.opts.Crawl == nil {
		return nil
	}
	b, err := json.Marshal(a.opts.Crawl)
	if err != nil {
		return nil
	}
	return b
}

// readInfo reads the warcinfo record at the beginning of a segment; where
// there is none, what it says is nothing.
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

// LastInfo is what the newest segment says that says anything of its crawl,
// else what the newest says of itself; !ok if there is no segment.
func LastInfo(dir string) (info Info, ok bool) {
	d, err := openDirectory(dir)
	if err != nil {
		return info, false
	}
	defer d.close()
	names, _ := d.segmentNames() // those that cannot be listed are missed when they are opened
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

// says reports whether a segment says of the crawl what it is now: one that
// does not is written no further, so that the newest segment has it right.
func (a *Archive) says(name string) bool {
	now := a.crawlJSON()
	return now == nil || bytes.Equal(now, a.dir.readInfo(name).Crawl)
}
