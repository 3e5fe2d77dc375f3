package fetch

import (
	"time"

	"curtsy/internal/weburl"
)

// Replay is an exchange made long ago, of what an archive keeps of it: the
// head verbatim and the payload, or as much of it as is to be read. It asks
// nobody. Its digest is that of the payload given.
func (c *Client) Replay(u weburl.URL, start time.Time, head, payload []byte) (*Exchange, error) {
	x := &Exchange{URL: u, Times: Times{Start: start}, payload: int64(len(payload))}
	x.rec = recording{buf: append(c.scratch.buffer(), head...), scratch: &c.scratch, body: len(head),
		size: int64(len(payload))}
	x.rec.buf = append(x.rec.buf, payload...)
	var err error
	if x.Proto, x.Status, x.Header, err = parseHead(head); err != nil {
		x.Release()
		return nil, err
	}
	if f, err := frameOf(x.Proto, x.Status, x.Header); err == nil {
		x.frame.Codings = f.Codings
	}
	x.Head = x.rec.buf[:len(head)]
	return x, nil
}
