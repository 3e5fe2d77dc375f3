package importer

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"curtsy/internal/weburl"
	"curtsy/storage"
	"curtsy/storage/warc"
)

// Source is one file of records to be imported.
type Source struct {
	Name     string // display name; of a file within a WACZ "x.wacz!archive/data.warc.gz"
	First    string // URL of the first page that a WACZ names; "" for none
	key      string // name of its note; "" if it cannot be read again
	size     int64
	path     string // the file that may be linked, with the source at offset base; "" if linking is impossible
	base     int64
	seekable bool // reading can begin at any record
	open     func(from *checkpoint) (records, error)
}

// Stdin is the file name that stands for standard input.
const Stdin = "-"

// Sources lists the sources in the named files and directories. A file that cannot be read is
// reported to refused; in a directory, files without the name of a WARC, WACZ or HAR are skipped. An
// error is returned if a name does not exist or a directory has no such file.
func Sources(names []string, stdin io.Reader, refused func(Refusal)) (list []*Source, err error) {
	for _, name := range names {
		if name == Stdin {
			list = append(list, fromStdin(stdin))
			continue
		}
		st, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		files := []string{name}
		if st.IsDir() {
			if files, err = within(name); err != nil {
				return nil, err
			}
			if len(files) == 0 {
				return nil, fmt.Errorf("%s: no file in it has the name of a WARC, WACZ or HAR", name)
			}
		}
		for _, file := range files {
			found, err := sourcesOf(file)
			if err != nil {
				refused(Refusal{File: file, At: "0", What: err.Error()})
				continue
			}
			list = append(list, found...)
		}
	}
	return list, nil
}

// within lists the WARC, WACZ and HAR files in a directory and below, sorted.
func within(dir string) (files []string, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.ToLower(e.Name())
		for _, end := range []string{".warc", ".warc.gz", ".warc.zst", ".wacz", ".har", ".warc.open"} {
			if e.Type().IsRegular() && strings.HasSuffix(name, end) {
				files = append(files, path)
			}
		}
		return nil
	})
	slices.Sort(files)
	return files, err
}

// sourcesOf determines the format of a file by its first bytes, not its name.
func sourcesOf(path string) ([]*Source, error) {
	f, err := storage.OpenRegular(path)
	if errors.Is(err, storage.ErrIrregular) {
		return nil, errors.New("not a regular file; a pipe is read from standard input: -")
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("%s %d %d", abs, st.Size(), st.ModTime().UnixNano())
	head := make([]byte, 4)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return nil, err
	}
	switch head = head[:n]; {
	case isZip(head):
		return sourcesOfWACZ(path, key, st.Size(), zipAt(path), false)
	case isHAR(head):
		return []*Source{fromHAR(path, key, st.Size())}, nil
	}
	return []*Source{{Name: path, key: key, size: st.Size(), path: path, seekable: true,
		open: func(from *checkpoint) (records, error) {
			return openAt(func() (io.ReadCloser, error) { return os.Open(path) }, from)
		}}}, nil
}

// isZip reports whether a file that begins with these four octets is a zip, which a WACZ is.
func isZip(head []byte) bool { return string(head) == "PK\x03\x04" || string(head) == "PK\x05\x06" }

// isHAR reports whether a file that begins with these octets is JSON, with or without a byte order mark.
func isHAR(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), []byte("{"))
}

// openAt opens a WARC file at the checkpoint's next record if it can seek, else at its beginning.
func openAt(open func() (io.ReadCloser, error), from *checkpoint) (records, error) {
	f, err := open()
	if err != nil {
		return nil, err
	}
	at, number := int64(0), 1
	if s, ok := f.(io.Seeker); ok && from.Offset > 0 {
		if _, err := s.Seek(from.Offset, io.SeekStart); err != nil {
			f.Close()
			return nil, err
		}
		at, number = from.Offset, from.Number
	}
	r, err := warc.NewForeign(f, at, number)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &warcFile{r, f}, nil
}

// warcFile is a reader that closes its file too.
type warcFile struct {
	*warc.Foreign
	file io.Closer
}

func (w *warcFile) Close() {
	w.Foreign.Close()
	w.file.Close()
}

// fromStdin reads a WARC in any compression, or a HAR.
func fromStdin(stdin io.Reader) *Source {
	return &Source{Name: Stdin, open: func(*checkpoint) (records, error) {
		b := bufio.NewReaderSize(stdin, 64<<10)
		switch head, _ := b.Peek(4); {
		case isZip(head):
			return nil, errors.New("a WACZ is read from a file, not from a pipe: its directory is at its end")
		case isHAR(head):
			return openHAR(b, io.NopCloser(nil))
		}
		r, err := warc.NewForeign(b, 0, 1)
		if err != nil {
			return nil, err
		}
		return &warcFile{r, io.NopCloser(nil)}, nil
	}}
}

// ErrNotWARC reports that a file is in none of the formats read here.
var ErrNotWARC = warc.ErrNotWARC

// FirstPage chooses the seed for a new archive: the first page that a WACZ names, else the first HTML
// page with status 200, else the first URL.
func FirstPage(list []*Source) (weburl.URL, error) {
	for _, s := range list {
		if u, err := weburl.Parse(s.First); err == nil {
			return u, nil
		}
	}
	var first weburl.URL
	why := errors.New("no file holds a response of http or https")
	for _, s := range list {
		if s.Name == Stdin {
			continue
		}
		u, page, err := firstOf(s)
		if page {
			return u, nil
		}
		if err != nil {
			why = fmt.Errorf("%s: %w", s.Name, err)
		}
		if first.IsZero() {
			first = u
		}
	}
	if first.IsZero() {
		return first, why
	}
	return first, nil
}

// maxLooked bounds the records of a file that are searched for a first page.
const maxLooked = 2000

func firstOf(s *Source) (first weburl.URL, page bool, err error) {
	in, err := s.open(&checkpoint{})
	if err != nil {
		return first, false, err
	}
	defer in.Close()
	for range maxLooked {
		r, err := in.Next()
		if _, bad := errors.AsType[*warc.Unreadable](err); bad {
			continue
		}
		if err != nil {
			return first, false, nil
		}
		u, err := weburl.Parse(r.TargetURI)
		if err != nil || r.Type != warc.TypeResponse && r.Type != typeResource {
			continue
		}
		if first.IsZero() {
			first = u
		}
		begin, _ := io.ReadAll(io.LimitReader(in, 16<<10))
		if strings.HasPrefix(r.ContentType, "text/html") || isPage(begin) {
			return u, true, nil
		}
	}
	return first, false, nil
}

// isPage reports whether a response is an HTML page with status 200.
func isPage(begin []byte) bool {
	head, _, err := splitHead(begin, true)
	if err != nil {
		return false
	}
	status, fields, _ := strings.Cut(strings.ToLower(string(head)), "\n")
	_, after, _ := strings.Cut(fields, "content-type:")
	return strings.Contains(status, " 200") && strings.HasPrefix(strings.TrimSpace(after), "text/html")
}

// maxEntries bounds the number of files in a WACZ.
const maxEntries = 100_000

// archived opens a zip file; each reader opens it anew.
type archived func() (*zip.Reader, io.Closer, error)

// zipAt opens a zip file of the file system.
func zipAt(path string) archived {
	return func() (*zip.Reader, io.Closer, error) {
		z, err := zip.OpenReader(path)
		if err != nil {
			return nil, nil, fmt.Errorf("its zip directory cannot be read: %w", err)
		}
		return &z.Reader, z, nil
	}
}

// within opens the n-th file in the zip, which must be an uncompressed zip itself.
func (a archived) within(n int) archived {
	return func() (*zip.Reader, io.Closer, error) {
		z, closer, err := a()
		if err != nil {
			return nil, nil, err
		}
		f := z.File[min(n, len(z.File)-1)]
		raw, err := f.OpenRaw()
		if section, ok := raw.(io.ReaderAt); ok && err == nil && f.Method == zip.Store {
			z, err = zip.NewReader(section, int64(f.CompressedSize64))
		} else if err == nil {
			err = errors.New("it is compressed")
		}
		if err != nil {
			closer.Close()
			return nil, nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		return z, closer, nil
	}
}

// sourcesOfWACZ lists the WARC files of a WACZ (1.1.1 §4), and of the WACZ files within one
// (multi-wacz-package), one level deep. No file name from the zip is used for writing.
func sourcesOfWACZ(name, key string, size int64, open archived, nested bool) (list []*Source, err error) {
	z, closer, err := open()
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	if len(z.File) > maxEntries {
		return nil, fmt.Errorf("%d files in a zip", len(z.File))
	}
	left := uint64(size) // overlapping entries are a decompression bomb
	first := firstPageOf(z)
	for n, f := range z.File {
		lower := strings.ToLower(f.Name)
		warcs := strings.HasPrefix(lower, "archive/") && strings.Contains(lower, ".warc")
		if !warcs && (nested || !strings.HasSuffix(lower, ".wacz")) {
			continue
		}
		if f.CompressedSize64 > left {
			return nil, errors.New("its files overlap: they are longer than it is")
		}
		left -= f.CompressedSize64
		key := fmt.Sprintf("%s %d", key, n)
		if !warcs {
			found, err := sourcesOfWACZ(name+"!"+f.Name, key, int64(f.CompressedSize64), open.within(n), true)
			if err != nil {
				return nil, err
			}
			list = append(list, found...)
			continue
		}
		s := &Source{Name: name + "!" + f.Name, First: first, key: key, size: int64(f.CompressedSize64),
			seekable: f.Method == zip.Store}
		s.open = func(from *checkpoint) (records, error) {
			return openAt(func() (io.ReadCloser, error) { return open.entry(n) }, from)
		}
		if at, err := f.DataOffset(); err == nil && s.seekable && !nested {
			s.path, s.base = name, at
		}
		list = append(list, s)
	}
	if len(list) == 0 {
		return nil, errors.New("no WARC file is in its archive/")
	}
	return list, nil
}

// entry is an open file within a zip.
type entry struct {
	io.Reader
	io.Closer
}

// stored is an uncompressed entry, which can seek.
type stored struct {
	entry
	io.Seeker
}

// entry opens the n-th file in the zip.
func (a archived) entry(n int) (io.ReadCloser, error) {
	z, closer, err := a()
	if err != nil {
		return nil, err
	}
	f := z.File[min(n, len(z.File)-1)]
	if f.Method == zip.Store && f.Flags&1 == 0 {
		raw, err := f.OpenRaw()
		if s, ok := raw.(io.ReadSeeker); ok && err == nil {
			return &stored{entry{s, closer}, s}, nil
		}
	}
	if f.Flags&1 != 0 {
		closer.Close()
		return nil, errors.New("it is encrypted")
	}
	r, err := f.Open()
	if err != nil {
		closer.Close()
		return nil, err
	}
	return &entry{r, closer}, nil
}
