package export

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"curtsy/publish/mirror"
)

// site is a temporary mirror made for an export.
type site struct {
	dir   string
	root  *os.Root
	files []mirror.File
	start string // name of the main page's file
	res   *mirror.Result
}

// mirrored makes a mirror beside the export, with the names, permits and rewriting of the
// mirror command.
func (j *job) mirrored() (_ *site, err error) {
	m, err := j.o.mirror()
	if err != nil {
		return nil, err
	}
	s := new(site)
	if s.dir, err = os.MkdirTemp(j.dir(), "."+filepath.Base(j.out.name)+tmpMark+"*"); err != nil {
		return nil, &DiskError{err}
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	m.Watch = func(p mirror.Progress) {
		j.out.touch(s.dir)
		if j.o.Watch != nil {
			j.o.Watch(p.Done, p.Total)
		}
	}
	tree := filepath.Join(s.dir, "tree")
	if s.res, err = mirror.Export(j.ctx, j.a, tree, m); err != nil {
		return nil, ofMirror(err)
	}
	if s.root, err = os.OpenRoot(tree); err == nil {
		s.files, s.start, err = mirror.Files(s.root)
	}
	return s, err
}

// mirror returns the options of a mirror that holds what the export may hold.
func (o *Options) mirror() (mirror.Options, error) {
	m, err := o.Mirror()
	m.Now, m.At, m.Admits = o.Now, o.At, o.Consent.Admits
	return m, err
}

// ofMirror converts an error of a mirror to one of the export.
func ofMirror(err error) error {
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

// touch updates the modification times, so that sweep sees that the export is running.
func (f *outFile) touch(dir string) {
	now := time.Now()
	_ = os.Chtimes(f.Name(), now, now)
	_ = os.Chtimes(dir, now, now)
}
