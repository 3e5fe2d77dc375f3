package export

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"curtsy/publish/mirror"
	"curtsy/storage"
)

// site is a mirror that is made for an export, and is gone after it.
type site struct {
	dir   string
	root  *os.Root
	files []mirror.File
	start string // name of the file to begin with
	res   *mirror.Result
}

// mirrored makes a mirror beside the export: its names, permits and rewriting are
// those of curtsy mirror.
func mirrored(ctx context.Context, a *storage.Archive, out *outFile, o *Options) (_ *site, err error) {
	m, err := o.mirror()
	if err != nil {
		return nil, err
	}
	in, base := filepath.Split(out.name)
	if in == "" {
		in = "."
	}
	s := new(site)
	if s.dir, err = os.MkdirTemp(in, "."+base+tmpMark+"*"); err != nil {
		return nil, &DiskError{err}
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	m.Watch = func(p mirror.Progress) {
		out.touch(s.dir)
		if o.Watch != nil {
			o.Watch(p.Done, p.Total)
		}
	}
	tree := filepath.Join(s.dir, "tree")
	if s.res, err = mirror.Export(ctx, a, tree, m); err != nil {
		return nil, asDisk(err)
	}
	if s.root, err = os.OpenRoot(tree); err == nil {
		s.files, s.start, err = mirror.Files(s.root)
	}
	return s, err
}

// mirror is the options of a mirror that holds what the export may.
func (o *Options) mirror() (mirror.Options, error) {
	m, err := o.Mirror()
	m.Now, m.At, m.Admits = o.Now, o.At, o.Consent.Admits
	return m, err
}

// asDisk is an error of a mirror as one of an export.
func asDisk(err error) error {
	var disk *mirror.DiskError
	if errors.As(err, &disk) {
		return &DiskError{disk.Err}
	}
	return err
}

func (s *site) close() {
	if s.root != nil {
		s.root.Close()
	}
	os.RemoveAll(s.dir)
}

// touch says that the export is at work (see sweep).
func (f *outFile) touch(dir string) {
	now := time.Now()
	_ = os.Chtimes(f.Name(), now, now)
	_ = os.Chtimes(dir, now, now)
}
