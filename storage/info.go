package storage

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"curtsy/storage/warc"
)

// Fields of ours in records of type application/warc-fields. Other programs
// pass over names that they do not know.
const (
	fieldCrawl = "curtsy-crawl" // of a warcinfo record: Options.Crawl
	FieldVisit = "curtsy-visit" // of a metadata record: a Note
)

// infoRecord begins a segment.
func (a *Archive) infoRecord(name string, now time.Time) (*warc.Header, string) {
	o := &a.opts
	block := "software: " + o.Software + "\r\n" +
		"format: WARC File Format 1.1\r\n" +
		"conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n" +
		"robots: " + o.RobotsLine + "\r\n"
	if o.Operator != "" {
		block += "operator: " + o.Operator + "\r\n"
	}
	block += "http-header-user-agent: " + o.UserAgent + "\r\n" + a.crawlLine()
	return infoHeader(name, warc.NewID(), block, now), block
}

func infoHeader(name, id, block string, now time.Time) *warc.Header {
	return &warc.Header{Type: warc.TypeInfo, ID: id, Date: now, Filename: name,
		ContentType: "application/warc-fields", Length: int64(len(block)),
		BlockDigest: warc.Sum([]byte(block)).String()}
}

// crawlLine is what the warcinfo record says of the crawl. JSON of encoding/json
// holds no line ends, so that no setting can add a field.
func (a *Archive) crawlLine() string {
	if a.opts.Crawl == nil {
		return ""
	}
	b, err := json.Marshal(a.opts.Crawl)
	if err != nil {
		return ""
	}
	return crawlField(b)
}

func crawlField(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	return fieldCrawl + ": " + string(b) + "\r\n"
}

// Info is what the warcinfo record of a segment says.
type Info struct {
	Segment  string
	ID       string
	Crawl    json.RawMessage // Options.Crawl when it was begun; nil if it has none
	Operator string
	Robots   string
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

// readInfo reads the warcinfo record at the beginning of a segment; where
// there is none, what it says is nothing.
func readInfo(path string) Info {
	info := Info{Segment: filepath.Base(path)}
	f, err := os.Open(path)
	if err != nil {
		return info
	}
	defer f.Close()
	w := warc.NewReader(f, 0)
	h, err := w.Next()
	if err != nil || h.Type != warc.TypeInfo {
		return info
	}
	fields, err := readFields(w)
	if err != nil || w.Finish() != nil {
		return info
	}
	return infoOf(info.Segment, h, fields)
}

func infoOf(segment string, h *warc.Header, fields map[string]string) Info {
	info := Info{Segment: segment, ID: h.ID, Operator: fields["operator"], Robots: fields["robots"]}
	if line := []byte(fields[fieldCrawl]); json.Valid(line) {
		info.Crawl = line
	}
	return info
}

// LastInfo is what the newest segment says that says anything of its crawl,
// else what the newest says of itself; !ok if there is no segment.
func LastInfo(dir string) (info Info, ok bool) {
	names := segmentNames(dir)
	for i := len(names) - 1; i >= 0; i-- {
		read := readInfo(filepath.Join(dir, warcDir, names[i]))
		if read.Crawl != nil {
			return read, true
		}
		if info.ID == "" {
			info = read
		}
	}
	return info, len(names) > 0
}

// says reports whether a segment says of the crawl what it is now: one that
// does not is written no further, so that the newest segment has it right.
func (a *Archive) says(name string) bool {
	now := []byte(a.crawlLine())
	return len(now) == 0 || bytes.Equal(now, []byte(crawlField(readInfo(filepath.Join(a.dir, warcDir, name)).Crawl)))
}
