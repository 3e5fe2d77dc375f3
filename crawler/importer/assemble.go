package importer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"curtsy/storage"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// assembler makes captures of the records of one file. The request of a response stands
// before it or behind it, its metadata behind it: so one capture at a time is open, and
// the requests before it.
type assembler struct {
	*importer
	source *Source
	counts Counts
	link   string  // the name of the file among those that are linked; "" where it is not
	open   *part   // a response, or what is made one; nil: none
	loose  []*part // requests whose response may come
}

// part is a record that is held.
type part struct {
	*warc.ForeignRecord
	block  *block
	beside []*part // of a response: its request and metadata
	end    int64   // where what belongs to a response ends in its file; 0: not known yet, -1: never
}

const (
	maxBeside = 1 << 20 // octets of a request or of metadata that are kept
	maxLoose  = 8       // requests that wait for a response
	maxParts  = 16      // records beside a response
)

func (a *assembler) run(ctx context.Context, from *checkpoint) error {
	in, err := a.source.open(a.importer, from)
	if err != nil {
		return &sourceError{"0", err}
	}
	defer in.Close()
	defer a.drop()
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r, err := in.Next()
		var bad *warc.Unreadable
		switch {
		case err == io.EOF:
			a.ends(a.source.size)
			if err := a.flush(nil); err != nil {
				return err
			}
			a.pass(a.loose...)
			a.in.Note(noteFile+a.source.key, checkpoint{Whole: true, Counts: a.counts})
			return nil
		case errors.As(err, &bad):
			a.ends(-1)
			a.counts.Records++
			a.refuse(bad.At.String(), "", bad.What)
		case err != nil:
			return cmp.Or(a.flush(nil), error(&sourceError{"", err}))
		case r.Number < from.Number: // it was taken in an earlier run
		default:
			if isMain(r) {
				a.endsBefore(r)
			}
			if err := a.record(in, r); err != nil {
				return err
			}
			if p := a.open; p != nil && p.ForeignRecord != r && !p.holds(r) {
				a.endsBefore(r)
			}
			a.opts.Watch(Progress{File: a.source.Name, Read: r.At.Offset, Size: a.source.size})
		}
	}
}

// drop closes what is held, and is of no use.
func (a *assembler) drop() {
	for _, p := range append(a.loose, a.open) {
		p.close()
	}
}

func (p *part) close() {
	if p == nil {
		return
	}
	p.block.close()
	for _, b := range p.beside {
		b.block.close()
	}
}

// refuse tells of what is not taken because something is wrong with it.
func (a *assembler) refuse(at, url, what string) {
	a.counts.Refused++
	a.opts.Refused(Refusal{File: a.source.Name, At: at, URL: url, What: what})
}

func (a *assembler) remark(p *part, what string) {
	a.opts.Refused(Refusal{File: a.source.Name, At: p.At.String(), URL: p.TargetURI, What: what, Remark: true})
}

// record takes one record.
func (a *assembler) record(in records, r *warc.ForeignRecord) error {
	main := isMain(r)
	if main {
		if err := a.flush(r); err != nil {
			return err
		}
	}
	a.counts.Records++
	if kind := passed(r); kind != "" {
		a.counts.pass(kind, 1)
		return nil
	}
	if !main && r.Length > maxBeside {
		a.refuse(r.At.String(), r.TargetURI, fmt.Sprintf("a %s record of more than %d bytes", r.Type, maxBeside))
		return nil
	}
	b, err := a.readBlock(in, r.BlockDigest, r.Length)
	if err == nil || !storage.IsDisk(err) {
		// What is wrong with the record as a whole says more than that its block ends early.
		if failed := in.Finish(); failed != nil && !errors.Is(err, errTooLong) {
			err = failed
		}
	}
	var bad *warc.Unreadable
	switch {
	case errors.As(err, &bad):
		a.refuse(r.At.String(), r.TargetURI, bad.What)
	case errors.Is(err, errTooLong):
		a.refuse(r.At.String(), r.TargetURI, err.Error())
	case err != nil && storage.IsDisk(err):
		return err
	case err != nil:
		a.refuse(r.At.String(), r.TargetURI, err.Error())
	}
	if err != nil {
		b.close()
		return nil
	}
	p := &part{ForeignRecord: r, block: b}
	if b.said != "" {
		a.remark(p, b.said)
	}
	switch {
	case main:
		a.begin(p)
	case r.Type == warc.TypeRequest:
		a.request(p)
	default:
		a.metadata(p)
	}
	return nil
}

const typeResource = "resource"

// isMain says whether a record is a capture, or what is made one.
func isMain(r *warc.ForeignRecord) bool {
	switch r.Type {
	case warc.TypeResponse, warc.TypeRevisit, typeResource, warc.TypeConversion:
		return true
	}
	return false
}

// ends says where what belongs to the open capture ends in the file.
func (a *assembler) ends(at int64) {
	if a.open != nil && a.open.end == 0 {
		a.open.end = at
	}
}

func (p *part) holds(r *warc.ForeignRecord) bool {
	return slices.ContainsFunc(p.beside, func(q *part) bool { return q.ForeignRecord == r })
}

func (a *assembler) endsBefore(r *warc.ForeignRecord) {
	if !r.Member {
		a.ends(-1)
	}
	a.ends(r.At.Offset)
}

// passed is the kind of a record that a web archive has no place for; "" for others.
func passed(r *warc.ForeignRecord) string {
	switch r.Type {
	case warc.TypeInfo:
		return warc.TypeInfo
	case warc.TypeMetadata:
		return ""
	case warc.TypeResponse, warc.TypeRevisit, typeResource, warc.TypeConversion, warc.TypeRequest:
		scheme, _, ok := strings.Cut(r.TargetURI, ":")
		if scheme = strings.ToLower(scheme); !ok || scheme == "http" || scheme == "https" {
			return ""
		}
		if rest, ok := strings.CutPrefix(strings.ToLower(r.TargetURI), "urn:"); ok {
			name, _, _ := strings.Cut(rest, ":")
			scheme = "urn:" + name
		}
		return fmt.Sprintf("%s of %.30s", r.Type, scheme)
	}
	return fmt.Sprintf("%.20s record", r.Type)
}

// begin opens the capture of a response.
func (a *assembler) begin(p *part) {
	a.open = p
	rest := a.loose[:0]
	for _, q := range a.loose {
		if len(p.beside) == 0 && p.isAnswerTo(q) {
			p.beside = append(p.beside, q)
		} else {
			rest = append(rest, q)
		}
	}
	a.pass(rest...)
	a.loose = nil
}

// pass counts requests whose response is not here.
func (a *assembler) pass(list ...*part) {
	for _, q := range list {
		a.counts.pass("request without a response", 1)
		q.close()
	}
}

// isAnswerTo says whether a request is the one of the response: one of them names the
// other, or neither names any and both are of the same URL.
func (p *part) isAnswerTo(q *part) bool {
	switch {
	case q.ConcurrentTo != "" && q.ConcurrentTo == p.ID, p.ConcurrentTo != "" && p.ConcurrentTo == q.ID:
		return true
	}
	return p.TargetURI == q.TargetURI && (q.ConcurrentTo == "" || p.ConcurrentTo == "")
}

func (a *assembler) request(q *part) {
	if p := a.open; p != nil && p.request() == nil && p.isAnswerTo(q) {
		p.beside = append(p.beside, q)
		return
	}
	if len(a.loose) == maxLoose {
		a.pass(a.loose[0])
		a.loose = a.loose[1:]
	}
	a.loose = append(a.loose, q)
}

// request is the request of a response, if it is there.
func (p *part) request() *part {
	for _, q := range p.beside {
		if q.Type == warc.TypeRequest {
			return q
		}
	}
	return nil
}

func (a *assembler) metadata(q *part) {
	p := a.open
	if p == nil || len(p.beside) >= maxParts || q.ConcurrentTo != p.ID && q.RefersTo != p.ID &&
		(p.request() == nil || q.ConcurrentTo != p.request().ID) {
		a.counts.pass("metadata of no response beside it", 1)
		return
	}
	p.beside = append(p.beside, q)
}

// flush adds the capture that is open. next is the record behind it, from which on an
// import that was killed would go on.
func (a *assembler) flush(next *warc.ForeignRecord) error {
	p := a.open
	a.open = nil
	if p == nil {
		return nil
	}
	c, err := a.capture(p)
	if err != nil {
		defer p.close()
		return a.verdict(p, err)
	}
	before := a.counts
	a.counts.Beside += len(p.beside)
	switch c.Visit.Kept {
	case crawllog.KeptRevisit:
		a.counts.Revisits++
	case crawllog.KeptWithheld:
		a.counts.Withheld++
	default:
		a.counts.Kept++
	}
	if c.Linked != nil {
		a.counts.Linked++
	}
	a.checkpoint(next)
	err = a.in.Add(c)
	if err == nil {
		return nil
	}
	defer p.close()
	a.counts = before
	err = a.verdict(p, err)
	a.checkpoint(next)
	return err
}

// checkpoint notes where to go on.
func (a *assembler) checkpoint(next *warc.ForeignRecord) {
	if a.source.key == "" || next == nil {
		return
	}
	if len(a.loose) > 0 {
		next = a.loose[0].ForeignRecord
	}
	c := checkpoint{Number: next.Number, Counts: a.counts}
	c.Counts.Records -= len(a.loose)
	if next.At.Inside == 0 && a.source.seekable {
		c.Offset = next.At.Offset
	}
	a.in.Note(noteFile+a.source.key, c)
}

// fields are what a metadata record of fields says.
func (p *part) fields() map[string]string {
	fields, _ := warc.ReadFields(bytes.NewReader(p.block.mem))
	return fields
}
