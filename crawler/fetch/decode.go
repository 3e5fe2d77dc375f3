package fetch

import (
	"io"
	"slices"

	"curtsy/internal/coding"
	"curtsy/internal/http1"
)

// decoded is what Decoded found, kept for when it is asked again.
type decoded struct {
	body []byte
	max  int64
	cut  bool
	err  error
	end  error // what is wrong with the codings, where all of the body was decoded
}

// Decoded gives the payload with its content codings undone (RFC 9110
// §8.4): gzip, deflate (zlib or raw), br, zstd, also several; a coding that
// is only claimed is passed over. At most max octets come out of each
// coding, and cut says that there would have been more: what a bomb holds is
// never unpacked. A broken coding gives what could be read and an error.
//
// Where Limit was called, no more than it says comes out.
//
// The body belongs to the Exchange and is valid until Release. Where nothing
// is to be undone it is the recording itself: it must not be written to.
func (x *Exchange) Decoded(max int64) (body []byte, cut bool, err error) {
	if x.limit != nil {
		max = min(max, *x.limit)
	}
	codings := x.codings()
	if b := x.rec.memory(); len(codings) == 0 && x.rec.file == nil && x.frame.chunks == nil {
		return b[:min(int64(len(b)), max)], int64(len(b)) > max, nil
	}
	if d := x.decoded; d != nil && d.max == max {
		return d.body, d.cut, d.err
	}
	d := &decoded{max: max}
	if x.decoded == nil {
		d.body = x.rec.scratch.buffer()
	}
	d.read(x, codings)
	if d.cut {
		d.err = nil // what is cut does not end well
	}
	x.decoded = d
	return d.body, d.cut, d.err
}

// A body may unpack to mostTimes its length, and to leastUnpacked in any case, if it
// is to be decoded to its end.
const (
	mostTimes     = 100
	leastUnpacked = 64 << 20
)

// Verify undoes all codings of the payload to their end, with their checksums, and
// says what is wrong with them. Nothing of what comes out is held.
func (x *Exchange) Verify() error {
	codings := x.codings()
	if len(codings) == 0 || x.payload == 0 {
		return nil
	}
	if d := x.decoded; d != nil && !d.cut {
		return d.end
	}
	r, size := x.Payload()
	c, err := x.rec.scratch.decoders.Open(r, codings, max(mostTimes*size, leastUnpacked))
	if err == nil {
		err = c.End()
	}
	c.Close()
	return err
}

// codings are what is to be undone, the first to be undone first.
func (x *Exchange) codings() []string {
	return coding.Order(append(http1.Tokens(x.Header["Content-Encoding"]), x.frame.Codings...))
}

// read undoes the codings of x's payload.
func (d *decoded) read(x *Exchange, codings []string) {
	r, size := x.Payload()
	if len(codings) == 0 {
		d.body = slices.Grow(d.body[:0], int(min(size, d.max))+1)
		d.err = d.fill(r)
		return
	}
	c, err := x.rec.scratch.decoders.Open(r, codings, d.max)
	if d.err = err; err == nil {
		d.err = d.fill(c)
	}
	d.cut = d.cut || c.Cut()
	if d.end = d.err; err == nil && d.err == nil && !d.cut {
		d.end = c.End()
	}
	c.Close()
}

// fill reads r up to max octets.
func (d *decoded) fill(r io.Reader) error {
	b := d.body[:0]
	for {
		if len(b) == cap(b) {
			b = slices.Grow(b, max(cap(b), firstBuf))
		}
		room := min(int64(cap(b)-len(b)), d.max+1-int64(len(b)))
		n, err := r.Read(b[len(b) : len(b)+int(room)])
		b = b[:len(b)+n]
		d.cut = int64(len(b)) > d.max
		d.body = b[:min(int64(len(b)), d.max)]
		switch {
		case d.cut || err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}
