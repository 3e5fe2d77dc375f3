package fetch

import (
	"io"
	"slices"

	"curtsy/internal/coding"
	"curtsy/internal/http1"
)

// decoded caches the result of Decoded.
type decoded struct {
	body []byte
	max  int64
	cut  bool
	err  error
	end  error // what is wrong with the codings, if the whole body was decoded
}

// Decoded returns the payload with its content codings removed (RFC 9110 §8.4): gzip, deflate
// (zlib or raw), br, zstd, in any combination. A coding that the head names but the body does
// not have is skipped. Each coding yields at most max octets; cut says that there was more, so
// a decompression bomb is never unpacked. A broken coding yields what could be read and an
// error. Limit may lower max.
//
// The body belongs to the Exchange and is valid until Release. Without codings it may be the
// recording itself and must not be modified.
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
		d.err = nil // truncated data cannot end properly
	}
	x.decoded = d
	return d.body, d.cut, d.err
}

// A body that is to be decoded to its end may expand to mostTimes its length, and to
// leastUnpacked octets in any case.
const (
	mostTimes     = 100
	leastUnpacked = 64 << 20
)

// Verify decodes the payload to its end, checksums included, discards the result, and returns
// what is wrong with the codings.
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

// codings returns the codings to remove, in the order of removal.
func (x *Exchange) codings() []string {
	return coding.Order(append(http1.Tokens(x.Header["Content-Encoding"]), x.frame.Codings...))
}

// read removes the codings of x's payload.
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

// fill reads at most max octets from r into body.
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
