package importer

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"curtsy/crawler/rebuild"
	"curtsy/crawler/revisit"
	"curtsy/crawler/visit"
	"curtsy/frontier/judge"
	"curtsy/internal/http1"
	"curtsy/internal/weburl"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// howImported is the How of the URLs of imported captures.
const howImported = "imported"

// Reasons not to import a capture that are not faults of the file.
var (
	errMethod = errors.New("an answer to HEAD or OPTIONS")
	errMade   = errors.New("a conversion of a response that is here")
)

// verdict counts why a capture was not added. It returns errors that do not concern the capture.
func (a *assembler) verdict(p *part, err error) error {
	var wrong *captureError
	switch {
	case errors.Is(err, rebuild.ErrKnown):
		a.done.Known++
	case errors.Is(err, rebuild.ErrNoOriginal):
		a.postpone(p)
	case errors.Is(err, errMethod), errors.Is(err, errMade):
		a.done.pass(err.Error(), 1)
	case errors.As(err, &wrong):
		a.refuse(&a.done, p.At.String(), p.TargetURI, wrong.Error())
	default:
		return err
	}
	return nil
}

// captureError describes what is wrong with the records of a capture.
type captureError struct{ error }

// capture makes a capture from records.
func (a *assembler) capture(p *part) (*rebuild.Capture, error) {
	if err := a.checkDate(p.Date); err != nil {
		return nil, &captureError{err}
	}
	u, err := p.url()
	if err != nil {
		return nil, err
	}
	m := &made{part: p, note: crawllog.Import{File: a.source.Name, At: p.At.String(),
		Header: strings.ToValidUTF8(string(p.Raw), "\ufffd")}}
	v := &crawllog.Visit{
		Asked:   crawllog.Asked{URL: u.String(), At: p.Date.UTC().Truncate(time.Microsecond)},
		Payload: crawllog.Payload{Truncated: token(p.Truncated)},
		Stored:  crawllog.Stored{Record: &crawllog.Record{ID: p.id()}},
	}
	c := &rebuild.Capture{Recovered: &crawllog.Recovered{Visit: v, RefersTo: p.RefersTo, RefersToURI: p.RefersToURI},
		RefersToDate: p.RefersToDate.UTC().Truncate(time.Microsecond), Weight: int64(len(p.block.mem)), Done: p.close}
	if p.RefersToDate.IsZero() {
		c.RefersToDate = time.Time{}
	}
	m.visit = v
	if p.block.said != "" {
		m.note.Remarks = append(m.note.Remarks, p.block.said)
	}
	if err := a.answer(m, u); err != nil {
		return nil, err
	}
	c.Metadata = m.metadata()
	c.Noted, c.Label = true, m.label
	c.Records = m.write
	if a.link != "" && m.isAsItLies() {
		c.Linked = m.place(a.link, a.source.base)
	}
	for _, q := range p.beside {
		c.Weight += int64(len(q.block.mem))
	}
	return c, nil
}

// isAsItLies reports whether the records can be used in the linked file as they are: each is a gzip
// member of its own, or uncompressed with a digest; has the digests that it states; and is what
// would be written.
func (m *made) isAsItLies() bool {
	v := m.visit
	if m.Type != warc.TypeResponse || v.Kept != crawllog.KeptResponse || m.mended() || v.Record.ID != m.ID ||
		v.Truncated != m.Truncated || !m.exact {
		return false
	}
	for _, q := range append(m.beside, m.part) {
		guarded := q.BlockDigest == q.block.sum || q.BlockDigest == "" && q.Member
		if !q.Apart || q.end <= q.At.Offset || !guarded || !q.IsPlain() {
			return false
		}
	}
	return true
}

// place returns the location of the records in a linked file. base is the offset of the WARC in it.
func (m *made) place(link string, base int64) *crawllog.Record {
	r := &crawllog.Record{Segment: link, Offset: base + m.At.Offset, Length: m.end - m.At.Offset}
	for _, q := range m.beside {
		x := crawllog.Extent{Offset: base + q.At.Offset, Length: q.end - q.At.Offset}
		if x.Offset == r.Offset+r.Length {
			r.Length += x.Length
		} else {
			r.Beside = append(r.Beside, x)
		}
	}
	return r
}

// answer parses the response.
func (a *assembler) answer(m *made, u weburl.URL) error {
	p, v := m.part, m.visit
	begin, err := p.block.begin(maxHead)
	if err != nil {
		return err
	}
	head, at, err := splitHead(begin, int64(len(begin)) == p.block.size)
	switch {
	case p.Type == warc.TypeRevisit && p.block.size == 0:
		v.Kept, v.Digest = crawllog.KeptRevisit, p.PayloadDigest
		return nil // the head is that of the original
	case p.Type == warc.TypeConversion && a.in.Known(u):
		return errMade
	case p.Type == typeResource, p.Type == warc.TypeConversion, err == errNoHead && p.ContentType != "" &&
		!strings.HasPrefix(p.ContentType, "application/http"):
		head, at = p.madeHead(), 0
		m.note.Mended = []string{"the record is a " + p.Type + ", which has no HTTP head"}
	case err != nil:
		return &captureError{err}
	}
	original := head
	head, said, err := mend(head, begin[min(at, len(begin)):], p.bare())
	if err != nil {
		return &captureError{err}
	}
	if len(said) > 0 {
		m.note.Mended, m.note.Head = append(m.note.Mended, said...), strings.ToValidUTF8(string(original), "\ufffd")
	}
	m.head, m.body = head, int64(at)
	proto, status, h, err := http1.ParseHead(head)
	if err != nil {
		return &captureError{err}
	}
	frame, err := http1.FrameOf(proto, status, h)
	if err != nil {
		return &captureError{err}
	}
	m.coded = h.Get("Content-Encoding") != ""
	v.Status, v.ContentType, v.Kept = status, h.Get("Content-Type"), crawllog.KeptResponse
	if p.Type == warc.TypeRevisit {
		v.Kept, v.Digest = crawllog.KeptRevisit, p.PayloadDigest
		return nil
	}
	if err := a.payload(m, frame); err != nil {
		return err
	}
	return a.withhold(m, u, frame)
}

// payload computes digest and length of the payload. Of broken chunks it takes what there is.
func (a *assembler) payload(m *made, frame http1.Frame) error {
	p, v := m.part, m.visit
	body := func() io.Reader { return p.block.from(m.body) }
	payload := body()
	if frame.Chunked {
		payload = http1.Dechunk(nil, body())
	}
	own, theirs, n, err := warc.SumBoth(payload, p.PayloadDigest)
	switch {
	case err != nil && !frame.Chunked:
		return err
	case err != nil && v.Truncated == "":
		v.Truncated = "disconnect"
	}
	v.Digest, v.Length = own.String(), n
	m.exact = p.PayloadDigest == "" || p.PayloadDigest == theirs.String()
	if theirs.Matches(p.PayloadDigest) {
		m.label = p.PayloadDigest
		return nil
	}
	if frame.Chunked { // some programs take the digest of the chunked body
		theirs = warc.NewLabelled(p.PayloadDigest)
		if _, err := io.Copy(theirs, body()); err != nil {
			return err
		}
	}
	if !theirs.Matches(p.PayloadDigest) {
		said := fmt.Sprintf("its payload digest is %s, the record says %.80s", theirs, p.PayloadDigest)
		m.note.Remarks = append(m.note.Remarks, said)
		a.remark(p, said)
	}
	return nil
}

// withhold removes the content of a page that forbids archiving, as a crawl does.
func (a *assembler) withhold(m *made, u weburl.URL, frame http1.Frame) error {
	v := m.visit
	begin, err := m.block.begin(m.body + inMemory)
	if err != nil {
		return err
	}
	body := begin[min(m.body, int64(len(begin))):]
	if frame.Chunked {
		body, _ = io.ReadAll(http1.Dechunk(body, nil))
	}
	seen := a.in.Glance(u, v.At, m.head, body)
	if seen.Forbids == nil {
		if v.Truncated == "" && int64(len(begin)) == m.block.size {
			v.Body = seen.Body
		}
		return nil
	}
	v.Kept, v.Directives, v.Digest = crawllog.KeptWithheld, seen.Forbids, ""
	m.note.Head = "" // m.note.Header, the record's header, stays
	return nil
}

// url returns the URL of a capture. The URL of a request that is not a GET is extended as other
// programs do (__wb_method), so that its response does not replace the page.
func (p *part) url() (weburl.URL, error) {
	u, err := weburl.ParsePage(p.TargetURI)
	if err != nil {
		return u, &captureError{err}
	}
	q := p.request()
	if q == nil {
		return u, nil
	}
	method, _, _ := strings.Cut(string(q.block.mem[:min(len(q.block.mem), 20)]), " ")
	switch method = strings.ToUpper(method); method {
	case "GET":
		return u, nil
	case http.MethodHead, http.MethodOptions:
		return u, errMethod
	case "POST", "PUT", "PATCH", "DELETE":
	default:
		return u, nil // no readable request line
	}
	href := u.String()
	if strings.Contains(href, "__wb_method=") {
		return u, nil
	}
	sep := "?"
	if u.HasQuery() {
		sep = "&"
	}
	if u, err = weburl.Parse(href + sep + "__wb_method=" + method + posted(q.block.mem)); err != nil {
		return u, &captureError{fmt.Errorf("of a %s request: %w", method, err)}
	}
	return u, nil
}

// posted encodes the body of a request as part of a query.
func posted(request []byte) string {
	end, _ := http1.HeadEnd(request, 0, 0)
	if end < 0 || end == len(request) {
		return ""
	}
	head, body := strings.ToLower(string(request[:end])), request[end:]
	if strings.Contains(head, "application/x-www-form-urlencoded") && len(body) < 4000 {
		return "&" + string(body)
	}
	if len(body) > 1000 {
		sum := sha256.Sum256(body)
		return "&__wb_post_data=sha256-" + base64.RawURLEncoding.EncodeToString(sum[:])
	}
	return "&__wb_post_data=" + base64.RawURLEncoding.EncodeToString(body)
}

// id returns the record's id, or one derived from URL, date and block digest.
func (p *part) id() string {
	if id := p.ID; id != "" && len(id) <= 200 &&
		strings.IndexFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) < 0 {
		return id
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s", p.TargetURI, p.Date.UTC().Format(time.RFC3339Nano),
		p.block.sum))
	u := [16]byte(sum[:16])
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80 // version 8 (RFC 9562 §5.8)
	return warc.FormatID(u)
}

// bare reports that the body has no codings left: HAR files contain bodies as decoded by the browser.
func (p *part) bare() bool { return p.Protocol == protocolHAR }

// madeHead makes an HTTP head for a record that has none.
func (p *part) madeHead() []byte {
	kind := token(p.ContentType)
	if kind == "" {
		kind = "application/octet-stream"
	}
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", kind, p.block.size)
}

// token makes s fit for a header field: printable ASCII, at most 200 octets.
func token(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
	return s[:min(len(s), 200)]
}

// made is a capture to be written.
type made struct {
	*part
	visit *crawllog.Visit
	head  []byte // nil: use the original's head
	body  int64  // offset of the body in the block
	note  crawllog.Import
	coded bool   // has a content coding
	label string // the payload digest as the record writes it, if it is right
	exact bool   // the record has no payload digest, or one that equals ours to the letter
}

// metadata returns the content of the metadata record that is written for the capture.
func (m *made) metadata() crawllog.Metadata {
	d := crawllog.Metadata{Note: crawllog.Note{How: howImported, Import: &m.note}}
	for _, q := range m.beside {
		if q.Type == warc.TypeMetadata {
			fields, _ := warc.ReadFields(bytes.NewReader(q.block.mem))
			other := crawllog.MetadataOf(fields)
			if u, err := weburl.ParsePage(other.Via); err == nil {
				d.Via = u.String()
			}
			d.Depth, d.Took = min(max(other.Depth, 0), 1000), max(other.Took, 0)
			if revisit.IsSuspicion(other.Note.Suspect) { // a response that the crawl had not accepted as the page
				m.visit.Suspect, d.Note.Suspect = other.Note.Suspect, other.Note.Suspect
			}
			if d.Hops = other.Hops; d.Hops != "" {
				d.Note.How = judge.HowImported + d.Hops[len(d.Hops)-1:]
			}
		}
	}
	if v := m.visit; v.Kept == crawllog.KeptWithheld {
		d.Status, d.Withheld = v.Status, visit.WithheldBy(v)
		withheld := *v
		withheld.Record = nil
		d.Note.Withheld = &withheld
	}
	return d
}

// wire returns a reader of the head as kept and the body as recorded.
func (m *made) wire() io.Reader { return io.MultiReader(bytes.NewReader(m.head), m.block.from(m.body)) }
