package replay

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"

	"curtsy/publish"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// inMemory is the largest body, in octets, that is read into memory without a limit on their
// number.
const inMemory = 256 << 10

// ended is a reader that stops when its request ends.
type ended struct {
	ctx context.Context
	r   io.Reader
}

func (e ended) Read(p []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	return e.r.Read(p)
}

// seeker makes a body seekable, for range requests by http.ServeContent. To go back, it decodes
// the body again from its beginning.
type seeker struct {
	ctx  context.Context // of the request
	a    *storage.Archive
	v    *crawllog.Visit
	size int64 // -1: unknown
	pos  int64
	body *publish.Body // positioned at at; nil: not open
	at   int64
}

func (s *seeker) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += s.pos
	case io.SeekEnd:
		size, err := s.length()
		if err != nil {
			return 0, err
		}
		offset += size
	}
	if offset < 0 {
		return 0, errors.New("seek before the beginning")
	}
	s.pos = offset
	return offset, nil
}

// length returns the decoded length, for which it has to read the whole body.
func (s *seeker) length() (int64, error) {
	if s.size >= 0 {
		return s.size, nil
	}
	b, err := publish.OpenBody(s.a, s.v)
	if err != nil {
		return 0, err
	}
	defer b.Close()
	n, err := io.Copy(io.Discard, ended{s.ctx, b})
	if publish.IsOfArchive(err) || s.ctx.Err() != nil {
		return 0, cmp.Or(s.ctx.Err(), err)
	}
	s.size = n // the decodable part, if the coding is broken
	return n, nil
}

func (s *seeker) Read(p []byte) (int, error) {
	if s.body != nil && s.at > s.pos {
		s.Close()
	}
	if s.body == nil {
		var err error
		if s.body, err = publish.OpenBody(s.a, s.v); err != nil {
			return 0, err
		}
		s.at = 0
	}
	if s.at < s.pos {
		n, err := io.CopyN(io.Discard, ended{s.ctx, s.body}, s.pos-s.at)
		s.at += n
		if err != nil {
			return 0, err
		}
	}
	n, err := ended{s.ctx, s.body}.Read(p)
	s.at += int64(n)
	s.pos = s.at
	return n, err
}

func (s *seeker) Close() {
	if s.body != nil {
		s.body.Close()
		s.body = nil
	}
}

// open opens the body of a capture, in memory if it is small. The caller calls the returned
// function when done.
func open(ctx context.Context, c *capture) (io.ReadSeeker, func(), error) {
	s := &seeker{ctx: ctx, a: c.archive, v: c.Visit, size: -1}
	b, err := readUpTo(c, inMemory)
	if err == nil {
		return bytes.NewReader(b), func() {}, nil
	}
	if !errors.Is(err, errLarge) {
		return nil, nil, err
	}
	return s, s.Close, nil
}

var errLarge = errors.New("too large to be read at once")

// readUpTo reads a body of at most most octets, or returns errLarge.
func readUpTo(c *capture, most int64) ([]byte, error) {
	body, err := publish.OpenBody(c.archive, c.Visit)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	b := bytes.NewBuffer(make([]byte, 0, min(max(c.Length, 4<<10), most)+512))
	_, err = io.Copy(b, io.LimitReader(body, most+1))
	if int64(b.Len()) > most {
		return nil, errLarge
	}
	if publish.IsOfArchive(err) {
		return nil, err
	}
	return b.Bytes(), nil // if the coding is broken, return what could be decoded
}
