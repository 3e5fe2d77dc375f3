package storage

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"curtsy/storage/warc"
)

// link is a file of another program in which records of visits lie. It is read, and never
// written: nothing in the directory of the archive leads to it, neither a symbolic nor a
// hard link, and no segment's entry, so that nothing that writes, cuts, renames or removes
// segments meets it. A note of the import names it.
type link struct {
	Path  string    `json:"path"` // absolute
	Size  int64     `json:"size"`
	Time  time.Time `json:"time"`  // of its last change
	Edges string    `json:"edges"` // digest of its beginning and its end
}

// noteLink begins the name of the note of a link; linkPrefix the name that stands in visits
// in the place of a segment's.
const (
	noteLink   = "link/"
	linkPrefix = "linked-"
	edgeSize   = 64 << 10
)

// IsLink says whether what a visit names as its segment is a file that is linked.
func IsLink(name string) bool { return strings.HasPrefix(name, linkPrefix) }

// linkOf looks at a file.
func linkOf(path string) (*link, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	n := st.Size()
	begin, end := io.NewSectionReader(f, 0, edgeSize), io.NewSectionReader(f, max(0, n-edgeSize), edgeSize)
	sum := warc.NewLabelled("")
	_, err = io.Copy(sum, io.MultiReader(begin, end))
	return &link{Path: path, Size: n, Time: st.ModTime().UTC(), Edges: sum.String()}, err
}

// openRegular opens a file to read. What is a pipe or a device, which would wait for ever, is an
// ErrIrregular.
func openRegular(path string) (*os.File, error) {
	st, err := os.Stat(path)
	if err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", path, ErrIrregular)
	}
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

// Link makes a file one in which records of visits may lie, with the next commit, and gives
// the name that stands in their place for a segment's. A file that was linked under another
// path keeps its name, and is read where it is now.
func (a *Archive) Link(path string) (name string, err error) {
	l, err := linkOf(path)
	if err != nil {
		return "", err
	}
	names, err := a.NotesFrom(noteLink, "", 1<<20)
	if err != nil {
		return "", err
	}
	name = fmt.Sprintf(linkPrefix+"%014d-%05d.warc.gz", 0, len(names)+1)
	for _, note := range names {
		var had link
		if _, err := a.Noted(note, &had); err != nil {
			return "", err
		}
		if had.Size == l.Size && had.Edges == l.Edges {
			name = strings.TrimPrefix(note, noteLink)
		}
	}
	// The archive has a segment of its own in any case, which says what it is.
	if err := a.room(time.Now()); err != nil {
		return "", a.abandon(err)
	}
	return name, a.Note(noteLink+name, l)
}

// openSegment opens a segment, or the file that is linked in its place; foreign says so.
func (a *Archive) openSegment(name string) (f *os.File, foreign bool, err error) {
	var l link
	if IsLink(name) {
		if foreign, err = a.Noted(noteLink+name, &l); err != nil {
			return nil, false, err
		}
	}
	if !foreign {
		f, err = a.dir.open(segmentFile(name))
		return f, false, err
	}
	if f, err = openRegular(l.Path); err != nil {
		return nil, true, &LinkError{err}
	}
	return f, true, nil
}

// LinkError says that a linked file cannot be read. It wraps nothing: that no file is there, say, would
// be taken for the lack of another one.
type LinkError struct{ Err error }

func (e *LinkError) Error() string {
	return "a file that the archive refers to cannot be read: " + e.Err.Error()
}

// verifyLink checks the visits whose records lie in a linked file. What is wrong there is
// for whoever keeps that file: a repair leaves the visits as they are.
func (v *verifier) verifyLink(name string, list []extent) error {
	var l link
	if _, err := v.a.Noted(noteLink+name, &l); err != nil {
		return err
	}
	problem := func(offset int64, url, what string) {
		v.r.add(DamageError{File: l.Path, Offset: offset, URL: url, What: what})
	}
	f, err := openRegular(l.Path)
	if err != nil {
		problem(-1, "", fmt.Sprintf("cannot be read: %v; %s", err, linkHint))
		return nil
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if st.Size() != l.Size {
		problem(-1, "", fmt.Sprintf("%d bytes, %d when it was linked; %s", st.Size(), l.Size, linkHint))
	}
	v.name, v.file = name, f
	shown, err := v.checkAll(list)
	if err != nil {
		return err
	}
	for i, x := range list {
		v.r.Records += shown[i].records
		if c := shown[i]; c.visit == nil {
			problem(x.offset, "", "its visit cannot be decoded")
		} else if c.err != nil {
			problem(x.offset, c.visit.URL, fmt.Sprintf("changed since it was linked: %v; %s", c.err, linkHint))
		}
	}
	return nil
}

const linkHint = "put the file back, or import --link it from where it is now"
