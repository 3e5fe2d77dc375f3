package mirror

import (
	"mime"
	"net/http"
	"os"
	"path"
	"strings"

	"curtsy/internal/weburl"
)

// serverOf serves a mirror with the types that its map has: by the names of its files,
// as any web server would, and by the site's own URLs, which the scripts of its pages
// know.
func serverOf(root *os.Root, m *mirrorMap) server {
	s := server{types: map[string]string{}, byURL: map[string]string{}, urlOf: map[string]string{},
		moved: map[string]string{}, files: http.FileServerFS(root.FS()), policy: !m.Online}
	for _, f := range m.Files {
		s.types[f.File] = f.Type
	}
	own := map[string]bool{weburl.FromCanonical(m.Seed).Origin(): true}
	s.add(m, own)
	for _, origin := range m.Origins {
		own[origin] = true
	}
	s.add(m, own)
	return s
}

// server serves a mirror.
type server struct {
	types  map[string]string // of files
	byURL  map[string]string // files by path and query of the site's URLs
	urlOf  map[string]string // path and query that a page has on the site, by its file
	moved  map[string]string // where redirects lead, both as path and query
	files  http.Handler
	under  string // what stands before the paths of all: "/TOKEN" where the origin is opaque
	policy bool   // pages load nothing from elsewhere
}

// add takes in the URLs of these origins.
func (s *server) add(m *mirrorMap, own map[string]bool) {
	for _, f := range m.Files {
		u := weburl.FromCanonical(f.URL)
		if u.IsZero() || u.Route() != "" || !own[u.Origin()] {
			continue
		}
		at := u.Target()
		if _, known := s.byURL[at]; known {
			continue
		}
		s.byURL[at] = f.File
		if to := weburl.FromCanonical(f.To); !to.IsZero() && own[to.Origin()] && to.Target() != at {
			s.moved[at] = to.Target()
		}
		if f.To == "" && (f.Type == typeHTML || f.Type == typeXHTML) && !strings.HasPrefix(at, "//") {
			s.urlOf[f.File] = at
		}
	}
}

// ServeHTTP answers for one of the site's URLs, or for a file. A page that a browser
// opens by its file's name is sent to the site's own path for it, if that lies in the
// same directory: routers among its scripts go by the address.
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
		file, known = s.byURL[asked.Path()] // ?_=1 against caches
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
		if r.URL.RawQuery != "" && pathOf(to) == to { // a form's, which scripts read
			to += "?" + r.URL.RawQuery
		}
		http.Redirect(w, r, s.under+to, http.StatusFound)
		return
	}
	if t := served(s.types[name], name); t != "" {
		w.Header().Set("Content-Type", t)
	}
	if s.policy {
		w.Header().Add("Content-Security-Policy", Policy) // of workers, too
	}
	if known {
		r = r.Clone(r.Context())
		r.URL.Path = "/" + name
		if path.Base(name) == "index.html" {
			r.URL.Path = strings.TrimSuffix(r.URL.Path, "index.html") // which a FileServer redirects
		}
	}
	s.files.ServeHTTP(w, r)
}

// dirOf is the directory that references in a page are relative to.
func dirOf(target string) string {
	p := pathOf(target)
	return p[:strings.LastIndexByte(p, '/')+1]
}

// pathOf is a target without its query.
func pathOf(target string) string {
	p, _, _ := strings.Cut(target, "?")
	return p
}

// isDocument says whether a browser is to show what it asks for (Fetch Metadata).
func isDocument(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Dest") {
	case "document", "iframe", "frame":
		return true
	}
	return false
}

// served is the Content-Type of a file: documents say their charset themselves.
func served(typ, name string) string {
	switch {
	case typ == "":
		return mime.TypeByExtension(path.Ext(name))
	case typ == typeSealed:
		return typeAny
	}
	return typ
}
