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

// crawl.db goes to the store as a base and deltas: what changed of its pages since. A
// delta is a list of pages, each its number (uvarint) and its octets.
const pageSize = 4096

// page is what an owner knows of a page that it has saved.
type page struct {
	sum  [16]byte // of SHA-256
	save int      // when it was last another
}

// pager cuts a crawl.db into pages, and writes those that changed after a save; all of
// them, one after another, where there is none.
type pager struct {
	had, now []page
	save     int // the number of this one
	after    int // -1: all
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
	if p.after >= 0 && is.save > p.after {
		if _, err := p.w.Write(binary.AppendUvarint(nil, uint64(i))); err != nil {
			return err
		}
	}
	if p.after < 0 || is.save > p.after {
		if _, err := p.w.Write(p.buf.Bytes()); err != nil {
			return err
		}
	}
	p.buf.Reset()
	return nil
}

// end writes what is left: bbolt's files are whole pages.
func (p *pager) end() error {
	if p.buf.Len() > 0 {
		return errors.New("crawl.db does not end with a page")
	}
	return p.w.Flush()
}

// apply writes the pages of a delta over a crawl.db of size octets, and tells had of each.
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

// fold says how many of the last parts a new one replaces, so that few are named whatever
// the number of saves, and each octet is sent a few times in all: seven parts of one save
// and a new one become one of eight, seven of these one of 64. saves are of how many saves
// each part is.
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
