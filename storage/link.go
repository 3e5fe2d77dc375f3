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

// link is a file of another program that contains records of visits. It is only read: the archive's directory
// has neither a symbolic nor a hard link to it, and it has no entry among the segments, so that code that
// writes, truncates, renames or removes segments never touches it. A note of the import contains its
// path.
type link struct {
	Path  string    `json:"path"` // absolute
	Size  int64     `json:"size"`
	Time  time.Time `json:"time"`  // modification time
	Edges string    `json:"edges"` // digest of its first and last edgeSize octets
}

// noteLink begins the names of notes for links, linkPrefix the names that visits have in place of a
// segment's.
const (
	noteLink   = "link/"
	linkPrefix = "linked-"
	edgeSize   = 64 << 10
)

// IsLink reports whether the segment name in a visit denotes a linked file.
func IsLink(name string) bool { return strings.HasPrefix(name, linkPrefix) }

// linkOf describes a file.
func linkOf(path string) (*link, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	f, err := OpenRegular(path)
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

// OpenRegular opens a file for reading. A pipe or device, which could block forever, is an ErrIrregular.
func OpenRegular(path string) (*os.File, error) {
	st, err := os.Stat(path)
	if err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", path, ErrIrregular)
	}
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

// Link makes a file available for records of visits with the next commit, and returns the name that visits
// have in place of a segment's. A file that was linked under another path keeps its name and gets the new
// path.
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
	// The archive always has at least one segment of its own, whose warcinfo record describes the crawl.
	if err := a.room(time.Now()); err != nil {
		return "", a.abandon(err)
	}
	a.Note(noteLink+name, l)
	return name, nil
}

// openSegment opens a segment or a linked file; foreign says which.
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
	if f, err = OpenRegular(l.Path); err != nil {
		return nil, true, &LinkError{err}
	}
	return f, true, nil
}

// LinkError reports that a linked file cannot be read. It does not unwrap: fs.ErrNotExist, for example, would be
// taken for that of another file.
type LinkError struct{ Err error }

func (e *LinkError) Error() string {
	return "a file that the archive refers to cannot be read: " + e.Err.Error()
}

// verifyLink checks the visits with records in a linked file. Damage there concerns the owner of that file; a
// repair does not change the visits.
func (v *verifier) verifyLink(name string, list []extent) error {
	var l link
	if _, err := v.a.Noted(noteLink+name, &l); err != nil {
		return err
	}
	problem := func(offset int64, url, what string) {
		v.r.add(DamageError{File: l.Path, Offset: offset, URL: url, What: what})
	}
	f, err := OpenRegular(l.Path)
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
