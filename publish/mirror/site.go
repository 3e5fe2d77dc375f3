package mirror

import (
	"net/http"
	"os"

	"curtsy/internal/localweb"
)

// Site serves a mirror with the media types of its map to browsers, at an origin of its own:
// TOKEN.localhost. Where that name cannot be used, it serves below /TOKEN/ with an opaque
// origin.
type Site struct {
	Token string
	names localweb.Names
	files server
}

// NewSite reads the map of a mirror. The caller closes root when the site is no longer used.
func NewSite(root *os.Root, names localweb.Names) (*Site, error) {
	m, err := mapIn(root, root.Name())
	if err != nil {
		return nil, err
	}
	return &Site{Token: localweb.NewToken(), names: names, files: serverOf(root, m)}, nil
}

// Handler returns the handler of the site, behind localweb.Guard.
func (s *Site) Handler() http.Handler { return localweb.Guard(s.access, http.HandlerFunc(s.serve)) }

func (s *Site) access(r *http.Request) localweb.Access {
	_, below := localweb.Below(s.Token, r.URL.Path)
	switch {
	case !s.names.Public && s.names.IsOwn(r.Host, s.Token):
		return localweb.Own
	case !s.names.Has(r.Host):
		return localweb.Refused
	case below:
		return localweb.Opaque
	}
	return localweb.Own
}

// opaqueSandbox is the sandbox of pages without an origin of their own.
const opaqueSandbox = "sandbox allow-scripts allow-forms allow-modals allow-downloads " +
	"allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation"

func (s *Site) serve(w http.ResponseWriter, r *http.Request) {
	files := s.files
	if !s.names.Public && s.names.IsOwn(r.Host, s.Token) {
		files.ServeHTTP(w, r)
		return
	}
	if rest, ok := localweb.Below(s.Token, r.URL.Path); ok {
		r = r.Clone(r.Context())
		r.URL.Path, r.URL.RawPath = rest, ""
		files.under = "/" + s.Token
	} else if r.Header.Get("Sec-Fetch-Dest") == "document" { // a navigation
		w.Header().Set("Location", s.base(r)+r.URL.RequestURI())
		w.WriteHeader(http.StatusTemporaryRedirect)
		return
	}
	w.Header().Set("Content-Security-Policy", opaqueSandbox)
	files.ServeHTTP(w, r)
}

// base returns the URL prefix of the pages.
func (s *Site) base(r *http.Request) string {
	if s.names.Public {
		return "/" + s.Token
	}
	_, port := localweb.SplitHost(r.Host)
	return "http://" + s.Token + ".localhost:" + port
}
