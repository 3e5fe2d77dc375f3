package fetch

import (
	"time"

	"curtsy/internal/weburl"
)

// Replay makes an Exchange from an archived head and its payload, or as much of that as is to be
// read. Nothing is sent. PayloadDigest covers the payload given. The caller must Release it.
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
