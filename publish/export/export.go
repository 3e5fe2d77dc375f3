package export

import (
	"bufio"
	"context"
	"io"
	"path/filepath"

	"curtsy/internal/extsort"
	"curtsy/storage"
)

// Write exports an archive to the file out. An error leaves what was there.
func Write(ctx context.Context, a *storage.Archive, out string, o Options) (*Result, error) {
	o.is = o.Format.row()
	if o.is.write == nil {
		return writeBag(ctx, a, out, o)
	}
	f, err := create(out, &o)
	if err != nil {
		return nil, err
	}
	r := &Result{Format: o.Format, Consent: o.Consent}
	if err := o.is.write(ctx, a, f, &o, r); err != nil {
		f.discard()
		return nil, err
	}
	if r.Bytes, err = f.finish(); err != nil {
		f.discard()
		return nil, err
	}
	if r.card != nil {
		return r, r.card.write(out, r)
	}
	return r, nil
}

// writeWARC writes all that may be shown as one WARC file.
func writeWARC(ctx context.Context, a *storage.Archive, out *outFile, o *Options, r *Result) error {
	chosen, err := choose(ctx, a, o, filepath.Dir(out.name))
	if err != nil {
		return err
	}
	defer chosen.places.Close()
	r.Captures, r.Withheld = chosen.count, chosen.withheld
	c := &copier{a: a, o: o}
	w := bufio.NewWriterSize(out, 1<<20)
	segment := ""
	err = c.each(ctx, chosen, func(m *member) error {
		if m.flags&flagPage != 0 {
			r.Pages++
		}
		if segment != m.segment {
			segment = m.segment
			if _, err := w.Write(c.info); err != nil {
				return err
			}
		}
		_, err := io.Copy(w, m.octets)
		return err
	})
	if err != nil {
		return err
	}
	return w.Flush()
}

// writeCDXJ writes an index of the archive's own segments: of what may be shown.
func writeCDXJ(ctx context.Context, a *storage.Archive, out *outFile, o *Options, r *Result) error {
	dir := filepath.Dir(out.name)
	chosen, err := choose(ctx, a, o, dir)
	if err != nil {
		return err
	}
	defer chosen.places.Close()
	r.Captures, r.Withheld = chosen.count, chosen.withheld
	lines := extsort.New(dir)
	defer lines.Close()
	var buf []byte
	err = (&copier{a: a, o: o}).each(ctx, chosen, func(m *member) error {
		if m.flags&flagPage != 0 {
			r.Pages++
		}
		if buf, err = appendCDX(buf[:0], m, m.segment, m.offset); err != nil {
			return err
		}
		if err := lines.Add(buf); err != nil {
			return &DiskError{err}
		}
		return nil
	})
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(out, 256<<10)
	for line, err := range lines.Sorted() {
		if err != nil {
			return &DiskError{err}
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return w.Flush()
}

// writeTable writes a row for each URL that may be listed.
func writeTable(_ context.Context, _ *storage.Archive, out *outFile, o *Options, r *Result) (err error) {
	w := bufio.NewWriterSize(out, 256<<10)
	if r.Rows, r.Withheld, err = o.Table(w); err != nil {
		return err
	}
	return w.Flush()
}
