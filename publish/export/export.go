package export

import (
	"bufio"
	"context"
	"path/filepath"

	"curtsy/internal/extsort"
	"curtsy/storage"
)

// job is a running export.
type job struct {
	ctx context.Context
	a   *storage.Archive
	o   *Options
	r   *Result
	out *outFile
	w   *bufio.Writer // buffers out, for formats written sequentially
}

// Write exports an archive to the file out. On an error, an existing file stays as it was.
func Write(ctx context.Context, a *storage.Archive, out string, o Options) (*Result, error) {
	o.is, out = o.Format.row(), target(out)
	if o.is.write == nil {
		return writeBag(ctx, a, out, o)
	}
	if err := replaceable(out, o.Force, o.is.ours); err != nil {
		return nil, err
	}
	f, err := begin(out)
	if err != nil {
		return nil, err
	}
	defer f.discard()
	r := &Result{Format: o.Format, Consent: o.Consent}
	j := &job{ctx: ctx, a: a, o: &o, r: r, out: f, w: bufio.NewWriterSize(f, 256<<10)}
	if err := o.is.write(j); err != nil {
		return nil, err
	}
	if err := j.w.Flush(); err != nil {
		return nil, err
	}
	if r.Bytes, err = f.seal(); err != nil {
		return nil, err
	}
	if r.card != nil {
		if err := r.card.write(out); err != nil {
			return nil, err
		}
	}
	return r, f.place()
}

// dir returns the directory for temporary files: that of the export.
func (j *job) dir() string { return filepath.Dir(j.out.name) }

// writeWARC writes all captures that may be shown as one WARC file.
func writeWARC(j *job) error {
	segment := ""
	return j.captures(func(m *member) error {
		if segment != m.segment {
			segment = m.segment
			if _, err := j.w.Write(m.from.info); err != nil {
				return err
			}
		}
		return m.writeTo(j.w)
	})
}

// writeCDXJ writes an index of the archive's segments and linked files, without captures that
// may not be shown.
func writeCDXJ(j *job) error {
	lines := extsort.New(j.dir())
	defer lines.Close()
	err := j.captures(func(m *member) error {
		line, err := cdxLineOf(m, m.fileName(), m.offset)
		if err != nil {
			return err
		}
		return asDisk(lines.Add(line))
	})
	if err != nil {
		return err
	}
	return j.writeSorted(lines)
}

// writeSorted writes lines in sorted order.
func (j *job) writeSorted(lines *extsort.Sorter) error {
	for line, err := range lines.Sorted() {
		if err != nil {
			return asDisk(err)
		}
		if _, err := j.w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// writeTable writes a row for each URL that may be listed.
func writeTable(j *job) (err error) {
	j.r.Rows, j.r.Withheld, err = j.o.Table(j.w)
	return err
}
