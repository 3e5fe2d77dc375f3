package app

import (
	"archive/zip"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path"
	"strings"

	"curtsy/internal/localweb"
)

// files serves exported files as attachments, on a port of its own below an unguessable token.
type files struct {
	root  *os.Root
	names localweb.Names
	token string
	base  string // prefix of their URLs
}

func newFiles(root *os.Root, address string) (*files, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	token := localweb.NewToken()
	return &files{root: root, names: localweb.Names{Port: port}, token: token, base: "http://" + address + "/" +
		token + "/"}, nil
}

// access admits requests with the token.
func (f *files) access(r *http.Request) localweb.Access {
	if _, ok := localweb.Below(f.token, r.URL.Path); ok && f.names.Has(r.Host) {
		return localweb.Opaque
	}
	return localweb.Refused
}

// fileView is a file for download.
type fileView struct {
	Name, Format, At string
	Size             int64
}

// filesOf lists the exported files of an archive; isCopy reports whether there is an offline
// copy.
func (s *Server) filesOf(name string) (list []fileView, isCopy bool) {
	for _, format := range s.makes() {
		if format == mirrorFormat {
			if st, err := s.root.Lstat(exports + "/" + name); err == nil && st.IsDir() {
				list, isCopy = append(list, fileView{Name: name + ".zip", Format: format,
					At: s.files.base + name + ".zip"}), true
			}
			continue
		}
		file := name + "." + format
		if st, err := s.root.Lstat(exports + "/" + file); err == nil && st.Mode().IsRegular() {
			list = append(list, fileView{Name: file, Format: format, At: s.files.base + file, Size: st.Size()})
		}
	}
	return list, isCopy
}

// serve serves a file, or an offline copy as a zip.
func (f *files) serve(w http.ResponseWriter, r *http.Request) {
	rest, _ := localweb.Below(f.token, r.URL.Path)
	name := strings.TrimPrefix(rest, "/")
	if strings.ContainsAny(name, `/\"`) || !fs.ValidPath(name) {
		localweb.Refuse(w, http.StatusNotFound, "no such file")
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Content-Type", "application/octet-stream")
	file, err := f.root.Open(exports + "/" + name)
	if err == nil {
		defer file.Close()
		if st, err := file.Stat(); err == nil && st.Mode().IsRegular() {
			http.ServeContent(w, r, name, st.ModTime(), file)
			return
		}
	}
	dir, isZip := strings.CutSuffix(name, ".zip")
	if st, err := f.root.Lstat(exports + "/" + dir); !isZip || err != nil || !st.IsDir() {
		h.Del("Content-Disposition")
		localweb.Refuse(w, http.StatusNotFound, "no such file")
		return
	}
	if r.Method == http.MethodHead {
		return
	}
	if err := f.zip(w, dir); err != nil {
		panic(http.ErrAbortHandler) // so that the client does not take a part for the file
	}
}

// zip writes an offline copy as a zip.
func (f *files) zip(w io.Writer, dir string) (err error) {
	z := zip.NewWriter(w)
	defer func() { err = errors.Join(err, z.Close()) }()
	base := exports + "/" + dir
	return fs.WalkDir(f.root.FS(), base, func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		src, err := f.root.Open(at)
		if err != nil {
			return err
		}
		defer src.Close()
		dst, err := z.Create(path.Join(dir, strings.TrimPrefix(at, base+"/")))
		if err != nil {
			return err
		}
		_, err = io.Copy(dst, src)
		return err
	})
}
