package importer

import (
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

// assembler makes captures from the records of one file. The request and metadata of a response may
// stand before or after it, with other records between, so several captures are open at a time and
// some records wait for their response.
type assembler struct {
	*importer
	source *Source
	seen   Counts  // counts of the records read
	done   Counts  // counts of the outcomes
	link   string  // name of the file among the linked files; "" if it is not linked
	open   []*part // captures that wait for further records, oldest first
	loose  []*part // requests and metadata waiting for a response
	last   *part   // the last record read, until the offset of its end is known
}

// part is one record in memory.
type part struct {
	*warc.ForeignRecord
	block  *block
	beside []*part // of a response: its request and metadata
	end    int64   // offset in the file of the record's end; 0: not known yet, -1: unknown for good
	near   bool    // no other response has been read since
	before Counts  // of a response: a copy of assembler.seen from before it
}

// Bounds on the records held in memory.
const (
	maxBeside = 1 << 20 // octets of a request or a metadata record
	maxLoose  = 64      // records waiting for a response
	maxOpen   = 16      // open captures
	heavyOpen = 8 << 20 // octets of the open captures
	maxParts  = 16      // records per response
)

func (a *assembler) run(ctx context.Context, from *checkpoint) error {
	in, err := a.source.open(from)
	if err != nil {
		return &sourceError{"0", err}
	}
	defer in.Close()
	defer a.drop()
	a.restore(from.Held)
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r, err := in.Next()
		var bad *warc.Unreadable
		switch {
		case err == io.EOF:
			a.ends(a.source.size)
			if err := a.flush(nil, 0); err != nil {
				return err
			}
			a.pass(a.loose...)
			a.loose = nil
			a.in.Archive().Note(noteFile+a.source.key, checkpoint{Whole: true, Counts: a.counts(&a.seen)})
			return nil
		case errors.As(err, &bad):
			a.ends(-1)
			a.seen.Records++
			a.refuse(&a.seen, bad.At.String(), "", bad.What)
		case err != nil:
			return cmp.Or(a.flush(nil, 0), error(&sourceError{"", err}))
		case r.Number < from.Number: // done in an earlier run
		default:
			if r.Apart {
				a.ends(r.At.Offset)
			}
			a.ends(-1)
			if err := a.record(in, r); err != nil {
				return err
			}
			a.opts.Watch(Progress{File: a.source.Name, Read: r.At.Offset, Size: a.source.size})
		}
	}
}

// counts adds seen and the outcomes.
func (a *assembler) counts(seen *Counts) (c Counts) {
	c.Add(seen)
	c.Add(&a.done)
	return c
}

// drop closes the records still held.
func (a *assembler) drop() {
	for _, p := range slices.Concat(a.loose, a.open) {
		p.close()
	}
}

func (p *part) close() {
	p.block.close()
	for _, b := range p.beside {
		b.block.close()
	}
}

// refuse counts and reports a record that is not imported because something is wrong with it.
func (a *assembler) refuse(c *Counts, at, url, what string) {
	c.Refused++
	a.opts.Refused(Refusal{File: a.source.Name, At: at, URL: url, What: what})
}

func (a *assembler) remark(p *part, what string) {
	a.opts.Refused(Refusal{File: a.source.Name, At: p.At.String(), URL: p.TargetURI, What: what, Remark: true})
}

// record imports one record.
func (a *assembler) record(in records, r *warc.ForeignRecord) error {
	main := isMain(r)
	if main {
		if err := a.flush(r, maxOpen-1); err != nil {
			return err
		}
	}
	before := a.seen.clone()
	a.seen.Records++
	if kind := passed(r); kind != "" {
		a.seen.pass(kind, 1)
		return nil
	}
	if !main && r.Length > maxBeside {
		a.refuse(&a.seen, r.At.String(), r.TargetURI,
			fmt.Sprintf("a %s record of more than %d bytes", r.Type, maxBeside))
		return nil
	}
	b, err := a.readBlock(in, r.BlockDigest, r.Length)
	if err == nil || !storage.IsDisk(err) {
		// An error in the record as a whole says more than that its block ends early.
		if failed := in.Finish(); failed != nil && !errors.Is(err, errTooLong) {
			err = failed
		}
	}
	if err != nil {
		b.close()
		if storage.IsDisk(err) {
			return err
		}
		what := err.Error()
		if bad, ok := errors.AsType[*warc.Unreadable](err); ok {
			what = bad.What
		}
		a.refuse(&a.seen, r.At.String(), r.TargetURI, what)
		return nil
	}
	p := &part{ForeignRecord: r, block: b, near: true, before: before}
	a.last = p
	if b.said != "" {
		a.remark(p, b.said)
	}
	if main {
		a.begin(p)
	} else {
		a.attach(p)
	}
	return nil
}

const typeResource = "resource"

// isMain reports whether a record is a capture or can be made one.
func isMain(r *warc.ForeignRecord) bool {
	switch r.Type {
	case warc.TypeResponse, warc.TypeRevisit, typeResource, warc.TypeConversion:
		return true
	}
	return false
}

// ends records the offset at which the last record read ends.
func (a *assembler) ends(at int64) {
	if a.last != nil {
		a.last.end, a.last = at, nil
	}
}

// passed returns the kind of a record that a web archive cannot use; "" for others.
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

// begin opens the capture of a response and attaches the records waiting for it.
func (a *assembler) begin(p *part) {
	a.open = append(a.open, p)
	for more := true; more; { // a record may be related to p only through another one
		n := len(a.loose)
		a.loose = slices.DeleteFunc(a.loose, p.take)
		more = len(a.loose) < n
	}
	for _, q := range a.loose {
		q.near = false
	}
	for _, other := range a.open {
		other.near = other == p
	}
}

// take attaches q to the response p if it belongs to it.
func (p *part) take(q *part) bool {
	if len(p.beside) >= maxParts || !p.isNamed(q) && !p.isAnswerTo(q) {
		return false
	}
	p.beside = append(p.beside, q)
	return true
}

// isNamed reports whether q refers to the response or a record attached to it, or the reverse.
func (p *part) isNamed(q *part) bool {
	return slices.ContainsFunc(append(p.beside, p), func(r *part) bool {
		return r.ID != "" && slices.Contains(q.Concurrent, r.ID) ||
			r.ID != "" && q.Type == warc.TypeMetadata && q.RefersTo == r.ID ||
			q.ID != "" && slices.Contains(r.Concurrent, q.ID)
	})
}

// isAnswerTo reports whether p is the response to the request q, judged by the URL alone: p has no
// other request, and no response stands between them.
func (p *part) isAnswerTo(q *part) bool {
	return q.Type == warc.TypeRequest && p.near && q.near && p.TargetURI == q.TargetURI && p.request() == nil &&
		(q.ConcurrentTo == "" || p.ConcurrentTo == "")
}

// request returns the request of a response; nil if there is none.
func (p *part) request() *part {
	for _, q := range p.beside {
		if q.Type == warc.TypeRequest {
			return q
		}
	}
	return nil
}

// attach adds a request or metadata record to its response, or keeps it until that is read.
func (a *assembler) attach(q *part) {
	for _, p := range slices.Backward(a.open) {
		if p.take(q) {
			return
		}
	}
	if q.Type == warc.TypeMetadata && q.ConcurrentTo+q.RefersTo == "" {
		a.pass(q)
		return
	}
	a.loose = append(a.loose, q)
	octets := int64(0)
	for _, q := range a.loose {
		octets += q.block.size
	}
	for len(a.loose) > maxLoose || octets > maxBeside {
		octets -= a.loose[0].block.size
		a.pass(a.loose[0])
		a.loose = a.loose[1:]
	}
}

// pass counts records without a response and closes them.
func (a *assembler) pass(list ...*part) {
	for _, q := range list {
		kind := "request without a response"
		if q.Type == warc.TypeMetadata {
			kind = "metadata of no response beside it"
		}
		a.done.pass(kind, 1)
		q.close()
	}
}

// flush adds the oldest open captures until at most few are left and they are within heavyOpen.
// next is the record that follows.
func (a *assembler) flush(next *warc.ForeignRecord, few int) error {
	octets := 0
	for _, p := range a.open {
		octets += len(p.block.mem)
	}
	for len(a.open) > few || len(a.open) > 0 && octets > heavyOpen {
		p := a.open[0]
		a.open = a.open[1:]
		octets -= len(p.block.mem)
		if err := a.add(p, next); err != nil {
			return err
		}
	}
	return nil
}

// add adds a capture to the archive and counts the outcome.
func (a *assembler) add(p *part, next *warc.ForeignRecord) error {
	slices.SortStableFunc(p.beside, func(q, r *part) int { return cmp.Compare(q.Number, r.Number) })
	c, err := a.capture(p)
	if err != nil {
		defer p.close()
		return a.verdict(p, err)
	}
	before := a.done.clone()
	a.done.Beside += len(p.beside)
	switch c.Visit.Kept {
	case crawllog.KeptRevisit:
		a.done.Revisits++
	case crawllog.KeptWithheld:
		a.done.Withheld++
	default:
		a.done.Kept++
	}
	if c.Linked != nil {
		a.done.Linked++
	}
	a.checkpoint(next)
	if err = a.in.Add(c); err == nil {
		return nil
	}
	defer p.close()
	a.done = before
	err = a.verdict(p, err)
	a.checkpoint(next)
	return err
}

// checkpoint saves where to resume, and the held records that stand before that place.
func (a *assembler) checkpoint(next *warc.ForeignRecord) {
	seen := &a.seen
	if len(a.open) > 0 {
		next, seen = a.open[0].ForeignRecord, &a.open[0].before
	}
	if a.source.key == "" || next == nil {
		return
	}
	c := checkpoint{Number: next.Number, Counts: a.counts(seen)}
	if next.At.Inside == 0 && a.source.seekable {
		c.Offset = next.At.Offset
	}
	lists := [][]*part{a.loose}
	for _, p := range a.open {
		lists = append(lists, p.beside)
	}
	for _, q := range slices.Concat(lists...) {
		if q.Number < next.Number {
			c.Held = append(c.Held, held{Number: q.Number, At: q.At, End: q.end, Member: q.Member, Apart: q.Apart,
				Near: q.near, Record: q.verbatim()})
		}
	}
	a.in.Archive().Note(noteFile+a.source.key, c)
}

// restore takes the records saved by a checkpoint.
func (a *assembler) restore(list []held) {
	slices.SortFunc(list, func(x, y held) int { return cmp.Compare(x.Number, y.Number) })
	for _, h := range list {
		if q, err := a.again(h.Record, h.At); err == nil {
			q.Number, q.end, q.Member, q.Apart, q.near = h.Number, h.End, h.Member, h.Apart, h.Near
			a.loose = append(a.loose, q)
		}
	}
}
