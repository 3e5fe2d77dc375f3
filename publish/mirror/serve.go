package mirror

import (
	"mime"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"

	"curtsy/internal/weburl"
)

// serverOf returns a server of a mirror, with the media types of its map. It serves files by
// their names, as any web server would, and by the site's own URLs, which scripts in pages use.
func serverOf(root *os.Root, m *mirrorMap) server {
	s := server{types: map[string]string{}, byURL: map[string]string{}, urlOf: map[string]string{},
		moved: map[string]string{}, files: http.FileServerFS(root.FS()), policy: !m.Online}
	for _, f := range m.Files {
		s.types[f.File] = f.Type
	}
	seed := weburl.FromCanonical(m.Seed).Origin()
	s.add(m, []string{seed})
	s.add(m, append([]string{seed}, m.Origins...))
	return s
}

// server serves a mirror.
type server struct {
	types  map[string]string // by file
	byURL  map[string]string // file by path and query of the site's URL
	urlOf  map[string]string // path and query on the site, by the page's file
	moved  map[string]string // target of redirects; both as path and query
	files  http.Handler
	under  string // prefix of all paths: "/TOKEN" if the origin is opaque
	policy bool   // pages load nothing from elsewhere
}

// add adds the URLs of the given origins.
func (s *server) add(m *mirrorMap, own []string) {
	for _, f := range m.Files {
		u := weburl.FromCanonical(f.URL)
		if u.IsZero() || u.Route() != "" || !slices.Contains(own, u.Origin()) {
			continue
		}
		at := u.Target()
		if _, known := s.byURL[at]; known {
			continue
		}
		s.byURL[at] = f.File
		if to := weburl.FromCanonical(f.To); !to.IsZero() && slices.Contains(own, to.Origin()) && to.Target() != at {
			s.moved[at] = to.Target()
		}
		if f.To == "" && (f.Type == typeHTML || f.Type == typeXHTML) && !strings.HasPrefix(at, "//") {
			s.urlOf[f.File] = at
		}
	}
}

// ServeHTTP serves a URL of the site, or a file. A page opened by its file name is redirected
// to its path on the site if that is in the same directory, since client-side routers use the
// address.
func (s server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	if strings.HasSuffix(r.URL.Path, "/") {
		name = path.Join(name, "index.html")
	}
	asked := weburl.FromCanonical("http://mirror.invalid/")
	if u, err := asked.Resolve(r.URL.RequestURI()); err == nil {
		asked = u
	}
	file, known := s.byURL[asked.Target()]
	if _, isFile := s.types[name]; !known && !isFile {
		file, known = s.byURL[asked.Path()] // ?_=1 and other cache busters
	}
	to := s.urlOf[name]
	switch end := s.moved[asked.Target()]; {
	case s.byURL[end] != "":
		http.Redirect(w, r, s.under+"/"+encodePath(s.byURL[end]), http.StatusFound)
		return
	case known && name != file && dirOf("/"+file) != decode(dirOf(asked.Path())):
		http.Redirect(w, r, s.under+"/"+encodePath(file), http.StatusFound)
		return
	case known:
		name = file
	case to != "" && isDocument(r) && pathOf(to) != asked.Path() && dirOf(to) == dirOf(asked.Path()):
		if r.URL.RawQuery != "" && pathOf(to) == to { // from a form; scripts read it
			to += "?" + r.URL.RawQuery
		}
		http.Redirect(w, r, s.under+to, http.StatusFound)
		return
	}
	if t := served(s.types[name], name); t != "" {
		w.Header().Set("Content-Type", t)
	}
	if s.policy {
		w.Header().Add("Content-Security-Policy", Policy) // also for workers
	}
	if known {
		r = r.Clone(r.Context())
		r.URL.Path = "/" + name
		if path.Base(name) == "index.html" {
			r.URL.Path = strings.TrimSuffix(r.URL.Path, "index.html") // FileServer would redirect it
		}
	}
	s.files.ServeHTTP(w, r)
}

// dirOf returns the directory that references in a page are relative to.
func dirOf(target string) string {
	p := pathOf(target)
	return p[:strings.LastIndexByte(p, '/')+1]
}

// pathOf returns a target without its query.
func pathOf(target string) string {
	p, _, _ := strings.Cut(target, "?")
	return p
}

// isDocument reports whether a request is a navigation (Fetch Metadata).
func isDocument(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Dest") {
	case "document", "iframe", "frame":
		return true
	}
	return false
}

// served returns the Content-Type of a file. The charset is declared in the documents.
func served(typ, name string) string {
	switch {
	case typ == "":
		return mime.TypeByExtension(path.Ext(name))
	case typ == typeSealed:
		return typeAny
	}
	return typ
}
