package replay

import (
	"fmt"
	"net/http"
	"time"
)

// noTime suppresses Last-Modified, since what is shown depends on permits.
var noTime time.Time

// mementoHeaders sets the headers of a memento (RFC 7089 §2.1).
func (s *Server) mementoHeaders(w http.ResponseWriter, r *http.Request, c *capture) {
	w.Header().Set("Memento-Datetime", c.At.UTC().Format(http.TimeFormat))
	w.Header().Set("Link", s.relations(r, c.URL))
}

// relations returns the Link header of a memento: original, timegate and timemap.
func (s *Server) relations(r *http.Request, url string) string {
	ui, ref := s.uiOrigin(r), listed(url)
	return fmt.Sprintf(`<%s>; rel="original", <%s/timegate/%s>; rel="timegate", `+
		`<%s/timemap/link/%s>; rel="timemap"; type="application/link-format"`,
		ref, ui, ref, ui, ref)
}

// timegate redirects to the capture nearest to Accept-Datetime (§4.1), or to the latest.
func (s *Server) timegate(w http.ResponseWriter, r *http.Request, text string) error {
	w.Header().Set("Vary", "accept-datetime")
	at := s.now()
	if asked := r.Header.Get("Accept-Datetime"); asked != "" {
		var err error
		if at, err = http.ParseTime(asked); err != nil {
			return refuse(w, http.StatusBadRequest, "Accept-Datetime is not an HTTP date")
		}
	}
	c, _, u, err := s.find(r.Context(), address{text: text, at: at})
	if err != nil {
		return err
	}
	if c == nil || !c.shown() {
		return s.absentUI(w, r, u, c)
	}
	w.Header().Set("Link", s.relations(r, c.URL))
	return redirect(w, http.StatusFound, pathTo(c.At.UTC().Format(tsFormat), urlsOf(c.URL)[0]))
}

// timemap lists the captures of a URL (§5).
func (s *Server) timemap(w http.ResponseWriter, r *http.Request, text string) error {
	_, all, u, err := s.find(r.Context(), address{text: text})
	if err != nil {
		return err
	}
	var shown []*capture
	for _, c := range all {
		if c.shown() {
			shown = append(shown, c)
		}
	}
	if len(shown) == 0 {
		return s.absentUI(w, r, u, nearest(all, s.now()))
	}
	w.Header().Set("Content-Type", "application/link-format")
	ui, ref := s.uiOrigin(r), listed(u.String())
	first, last := shown[0].At.UTC().Format(http.TimeFormat), shown[len(shown)-1].At.UTC().Format(http.TimeFormat)
	fmt.Fprintf(w, "<%s>;rel=\"original\",\n"+
		"<%s/timemap/link/%s>;rel=\"self\";type=\"application/link-format\";from=\"%s\";until=\"%s\",\n"+
		"<%s/timegate/%s>;rel=\"timegate\"",
		ref, ui, ref, first, last, ui, ref)
	for i, c := range shown {
		rel := "memento"
		if i == len(shown)-1 {
			rel = "last " + rel
		}
		if i == 0 {
			rel = "first " + rel
		}
		fmt.Fprintf(w, ",\n<%s%s>;rel=\"%s\";datetime=\"%s\"", ui, pathTo(c.At.UTC().Format(tsFormat), u),
			rel, c.At.UTC().Format(http.TimeFormat))
	}
	fmt.Fprintln(w)
	return nil
}
