package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// body reads one body into its exchange's recording.
type body struct {
	c       *Client
	ctx     context.Context
	k       *conn
	x       *Exchange
	hold    func(*Exchange) Holding
	ask     int64     // size in memory, in octets, at which hold is asked next
	end     time.Time // deadline of the exchange
	most    int64     // limit on the octets kept
	surplus bool      // data followed the body
	over    error     // the read error that ended the body, io.EOF included
}

// maxIgnored is how much of an unneeded body is read anyway, so that the connection can be
// reused.
const maxIgnored = 64 << 10

// begin asks hold once before any of the body is read.
func (b *body) begin() {
	b.ask = b.c.o.SpillAt
	if b.hold == nil {
		b.hold = func(*Exchange) Holding { return InFile }
	} else if b.hold(b.x) == NotNeeded {
		b.most = min(b.most, maxIgnored)
	}
}

// held decides where further data goes: memory while hold asks for that, then a file. full
// says that nothing more is to be read.
func (b *body) held() (full bool, err error) {
	rec := &b.x.rec
	if rec.file != nil || rec.size < b.ask {
		return false, nil
	}
	b.x.measure()
	defer b.x.undecode()
	switch how := b.hold(b.x); {
	case how == InMemory:
		b.ask = rec.size + b.c.o.SpillAt
		return false, b.takeTurn()
	case how == NotNeeded:
		b.x.Truncated, b.x.Cut = "length", errors.New("the rest of the body is not needed")
		return true, nil
	case b.c.o.Spill == nil:
		b.x.Truncated, b.x.Cut = "length", fmt.Errorf("longer than %d bytes", rec.size)
		return true, nil
	}
	if err := rec.spill(b.c.o.Spill); err != nil {
		return true, &fault{KindLocal, err}
	}
	return false, nil
}

// takeTurn waits for a token to hold one more large body in memory.
func (b *body) takeTurn() error {
	if b.x.rec.large != nil {
		return nil
	}
	timer := time.NewTimer(time.Until(b.end))
	defer timer.Stop()
	select {
	case b.c.large <- struct{}{}:
		b.x.rec.large = b.c.large
		return nil
	case <-b.ctx.Done():
		return &fault{KindCanceled, context.Cause(b.ctx)}
	case <-timer.C:
		return bad(KindTimeout, "timed out waiting for other large bodies")
	}
}

// read reads the body to its end, to a limit or to where it breaks off. clean says that it
// ended properly and no data followed. An error is a local one: there was no room for the body.
func (b *body) read() (clean bool, err error) {
	x := b.x
	rest := x.rec.buf[x.rec.body:] // arrived with the head
	x.rec.buf = x.rec.buf[:x.rec.body]
	defer x.measure()
	for {
		clipped := int64(len(rest)) > b.most-x.rec.size
		if clipped {
			rest = rest[:b.most-x.rec.size]
		}
		n, done, broken := x.frame.accept(rest, x.rec.size)
		if err := x.rec.keep(n); err != nil {
			return false, &fault{KindLocal, err}
		}
		switch {
		case done:
			b.surplus = n < len(rest)
			return !clipped && n == len(rest) && b.over == nil, nil
		case broken != nil:
			x.Truncated, x.Cut = "disconnect", broken
			return false, nil
		case clipped:
			x.Truncated, x.Cut = "length", fmt.Errorf("longer than %d bytes", b.most)
			return false, nil
		case b.over != nil:
			b.breakOff()
			return false, nil
		}
		if full, err := b.held(); full || err != nil {
			return false, err
		}
		rest = b.more()
	}
}

// more reads the next piece of the body straight into the recording's buffer.
func (b *body) more() []byte {
	want := int64(-1)
	if f := b.x.frame; f.chunks == nil && f.Length >= 0 {
		want = min(f.Length, b.most) - b.x.rec.size
	}
	space := b.x.rec.space(want)
	b.k.SetReadDeadline(earlier(time.Now().Add(b.c.o.IdleTimeout), b.end))
	n, err := b.k.Read(space)
	b.over = err
	return space[:n]
}

// breakOff records why the body ended early. A body that is delimited by the end of the
// connection (RFC 9112 §8) is complete.
func (b *body) breakOff() {
	f := b.x.frame
	kind, text := classify(b.over)
	switch {
	case f.chunks == nil && f.Length < 0 && b.over == io.EOF:
	case kind == KindTimeout:
		b.x.Truncated, b.x.Cut = "time", errors.New("timed out before the end of the body")
	case dropped(b.over):
		b.x.Truncated, b.x.Cut = "disconnect", errors.New("connection closed before the end of the body")
	default:
		b.x.Truncated, b.x.Cut = "disconnect", text
	}
}

// measure updates the payload's length.
func (x *Exchange) measure() {
	x.payload = x.rec.size
	if x.frame.chunks != nil {
		x.payload = x.frame.chunks.Payload()
	}
}

// accept returns how many octets of piece belong to the body, of which have octets came
// before, and whether these complete it.
func (f *frame) accept(piece []byte, have int64) (n int, done bool, err error) {
	switch {
	case f.chunks != nil:
		for n < len(piece) && !f.chunks.Ended() {
			_, k, err := f.chunks.Next(piece[n:])
			n += k
			if err != nil {
				return n, false, err
			}
		}
		return n, f.chunks.Ended(), nil
	case f.Length >= 0:
		n = int(min(f.Length-have, int64(len(piece))))
		return n, int64(n) == f.Length-have, nil
	}
	return len(piece), false, nil
}
