package store

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// crawl.db is stored as a base and deltas. A delta is a list of changed pages, each with its
// number (uvarint) and its octets.
const pageSize = 4096

// page describes a saved page.
type page struct {
	sum  [16]byte // truncated SHA-256
	save int      // the save in which it last changed
}

// pager splits a crawl.db into pages and writes those that changed after a save or, if after is
// -1, the whole file.
type pager struct {
	had, now []page
	save     int // number of this save
	after    int // -1: everything
	w        *bufio.Writer
	buf      bytes.Buffer
}

func (p *pager) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		part := b[:min(len(b), pageSize-p.buf.Len())]
		p.buf.Write(part)
		b = b[len(part):]
		if p.buf.Len() == pageSize {
			if err := p.page(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

func (p *pager) page() error {
	sum := sha256.Sum256(p.buf.Bytes())
	i, is := len(p.now), page{[16]byte(sum[:16]), p.save}
	if i < len(p.had) && p.had[i].sum == is.sum {
		is.save = p.had[i].save
	}
	p.now = append(p.now, is)
	defer p.buf.Reset()
	if is.save <= p.after {
		return nil
	}
	if p.after >= 0 {
		_, _ = p.w.Write(binary.AppendUvarint(nil, uint64(i))) // the next Write reports its error too
	}
	_, err := p.w.Write(p.buf.Bytes())
	return err
}

// end flushes the output. bbolt's files consist of whole pages.
func (p *pager) end() error {
	if p.buf.Len() > 0 {
		return errors.New("crawl.db does not end with a page")
	}
	return p.w.Flush()
}

// apply writes the pages of a delta into a crawl.db of size octets, and calls had for each.
func apply(db *os.File, delta io.Reader, size int64, had func(page uint64)) error {
	r := bufio.NewReader(delta)
	buf := make([]byte, pageSize)
	for {
		i, err := binary.ReadUvarint(r)
		if errors.Is(err, io.EOF) {
			return db.Truncate(size)
		}
		if err == nil && i >= uint64(size/pageSize) {
			err = fmt.Errorf("page %d of %d", i, size/pageSize)
		}
		if err == nil {
			_, err = io.ReadFull(r, buf)
		}
		if err == nil {
			_, err = db.WriteAt(buf, int64(i)*pageSize)
		}
		if err != nil {
			return fmt.Errorf("a part of crawl.db is damaged: %w", err)
		}
		had(i)
	}
}

// fold returns how many of the last parts a new one replaces, so that few parts exist after any
// number of saves, and each octet is sent only a few times: seven parts of one save and a new
// one become one of eight, seven of these one of 64. saves are the numbers of saves that each
// part covers; weight is that of the new part.
func fold(saves []int) (replaced, weight int) {
	weight = 1
	for {
		n := 0
		for i := len(saves) - replaced - 1; i >= 0 && n < 7 && max(saves[i], 1) == weight; i-- {
			n++
		}
		if n < 7 {
			return replaced, weight
		}
		replaced, weight = replaced+7, weight*8
	}
}
