package importer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"

	"curtsy/crawler/rebuild"
	"curtsy/storage/warc"
)

// postponed is a revisit whose original had not been imported yet. It may be in another file, of
// this import or a later one.
type postponed struct {
	File   string     `json:"file"`
	At     warc.Place `json:"at"`
	Record []byte     `json:"record"` // header and block
	Beside [][]byte   `json:"beside,omitempty"`
}

const maxPostponed = 64 << 10 // limit in octets for a saved record

// postpone saves a revisit. Its records are small: they have no payload.
func (a *assembler) postpone(p *part) {
	l := postponed{File: a.source.Name, At: p.At, Record: p.verbatim()}
	for _, q := range p.beside {
		l.Beside = append(l.Beside, q.verbatim())
	}
	if p.block.file != nil || len(l.Record) > maxPostponed {
		a.refuse(&a.done, p.At.String(), p.TargetURI, rebuild.ErrNoOriginal.Error())
		return
	}
	sum := sha256.Sum256(slices.Concat([]byte(p.id()), l.Record))
	a.done.Later++
	a.in.Archive().Note(noteLater+hex.EncodeToString(sum[:16]), l)
}

func (p *part) verbatim() []byte { return slices.Concat(p.Raw, p.block.mem) }

// later retries the saved revisits.
func (i *importer) later() error {
	if err := i.in.Commit(); err != nil {
		return err
	}
	after := ""
	for {
		names, err := i.in.Archive().NotesFrom(noteLater, after, 100)
		if err != nil || len(names) == 0 {
			return err
		}
		for _, name := range names {
			if err := i.retry(name); err != nil {
				return err
			}
			after = name
		}
		if err := i.in.Commit(); err != nil {
			return err
		}
	}
}

func (i *importer) retry(name string) error {
	var l postponed
	if ok, err := i.in.Archive().Noted(name, &l); err != nil || !ok {
		return err
	}
	a := &assembler{importer: i, source: &Source{Name: l.File}}
	p, err := a.again(l.Record, l.At)
	if err != nil {
		i.in.Archive().Note(name, nil)
		return nil
	}
	for _, b := range l.Beside {
		if q, err := a.again(b, l.At); err == nil {
			p.beside = append(p.beside, q)
		}
	}
	c, err := a.capture(p)
	if err == nil {
		err = i.in.Add(c)
	}
	if errors.Is(err, rebuild.ErrNoOriginal) {
		i.opts.Refused(Refusal{File: l.File, At: l.At.String(), URL: p.TargetURI,
			What: err.Error() + ": import the file that holds it, and this revisit comes with it"})
		return nil
	}
	i.in.Archive().Note(name, nil)
	if err == nil {
		i.result.Later--
		i.result.Revisits++
		return nil
	}
	return a.verdict(p, err)
}

// again parses a saved record.
func (a *assembler) again(b []byte, at warc.Place) (*part, error) {
	f, err := warc.NewForeign(bytes.NewReader(slices.Concat(b, []byte("\r\n\r\n"))), 0, 1)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := f.Next()
	if err != nil {
		return nil, err
	}
	r.At = at
	mem, err := io.ReadAll(f)
	held := &block{mem: mem, size: int64(len(mem)), sum: warc.Sum(r.BlockDigest, mem)}
	return &part{ForeignRecord: r, block: held}, err
}
