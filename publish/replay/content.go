package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// serveContent answers a frame, or what a page in it asks for.
func (s *Server) serveContent(w http.ResponseWriter, r *http.Request) {
	s.policies(w, r)
	a, ok := parseAddress(target(r))
	if !ok {
		s.strayed(w, r)
		return
	}
	if r.Header.Get("Sec-Fetch-Dest") == "document" && !a.raw {
		redirect(w, http.StatusTemporaryRedirect, s.uiOrigin(r)+target(r))
		return
	}
	c, _, u, err := s.find(r.Context(), a)
	switch {
	case err != nil:
		s.failed(w, r, err)
	case c == nil || c.Status == 0:
		s.absent(w, r, u, nil)
	case !c.shown():
		s.absent(w, r, u, c)
	case a.raw:
		s.serveRaw(w, r, c)
	default:
		s.serveCapture(w, r, a, c)
	}
}

// policies sets what a page of the archive may do.
func (s *Server) policies(w http.ResponseWriter, r *http.Request) {
	sandbox := "allow-same-origin allow-forms"
	if !s.o.NoScripts {
		sandbox += " allow-scripts"
	}
	// frame-src: a page in a blob: or data: URL would have no guard of its own.
	w.Header().Set("Content-Security-Policy", "default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval'; frame-src 'self'; form-action 'self'; base-uri 'self'; object-src 'self'; "+
		"worker-src 'self' blob:; webrtc 'block'; frame-ancestors "+s.uiOrigins(r)+" 'self'; sandbox "+sandbox)
	w.Header().Set("Connection-Allowlist", "(response-origin)")
}

// strayed answers a path that a script has made: it is resolved against the page
// that asks.
func (s *Server) strayed(w http.ResponseWriter, r *http.Request) {
	from, err := url.Parse(r.Referer())
	if err != nil || from.Host != r.Host {
		refuse(w, http.StatusNotFound, "not in the archive")
		return
	}
	a, ok := parseAddress(from.RequestURI())
	if !ok {
		refuse(w, http.StatusNotFound, "not in the archive")
		return
	}
	for _, base := range urlsOf(a.text) {
		if to, err := base.Resolve(target(r)); err == nil {
			redirect(w, http.StatusTemporaryRedirect, pathTo(a.ts, to))
			return
		}
	}
	refuse(w, http.StatusNotFound, "not in the archive")
}

// serveCapture gives a capture as a page of this server.
func (s *Server) serveCapture(w http.ResponseWriter, r *http.Request, a address, c *capture) {
	resp, err := c.archive.Response(c.Visit)
	if err != nil {
		s.unreadable(w, r, c, err)
		return
	}
	header := resp.Header
	resp.Close()
	copyHeader(w.Header(), header)
	s.mementoHeaders(w, r, c)
	if c.Location != "" && c.Status >= 300 && c.Status < 400 {
		if to, err := weburl.Parse(c.Location); err == nil {
			w.Header().Set("Location", pathTo(a.ts, to))
			w.WriteHeader(c.Status)
			return
		}
	}
	if c.Rendered != nil {
		s.serveRendered(w, r, a, c)
		return
	}
	s.serveBody(w, r, a, c, header)
}

// serveRendered gives the document that a browser made of a page when it was
// crawled. Its scripts have run, and would look for an address that is not theirs:
// many show nothing then but that there is no such page.
func (s *Server) serveRendered(w http.ResponseWriter, r *http.Request, a address, c *capture) {
	select {
	case s.large <- struct{}{}:
		defer func() { <-s.large }()
	case <-r.Context().Done():
		return
	}
	page, err := publish.OpenPage(c.archive, c.Visit)
	if err != nil {
		s.unreadable(w, r, c, err)
		return
	}
	defer page.Close()
	text, err := io.ReadAll(page)
	if err != nil {
		s.unreadable(w, r, c, err)
		return
	}
	w.Header().Set("Content-Type", page.Header.Get("Content-Type"))
	w.Header().Add("Content-Security-Policy", "script-src 'none'")
	s.send(w, r, c.Status, bytes.NewReader(s.rewrite(a, c, page.Header, text)))
}

// rewritable says whether a response is a document with references, by the
// beginning of its body.
func rewritable(h http.Header, head []byte) bool {
	switch htmlmeta.KindOf(h, head) {
	case htmlmeta.HTML, htmlmeta.XML, htmlmeta.CSS:
		return true
	}
	return false
}

func (s *Server) serveBody(w http.ResponseWriter, r *http.Request, a address, c *capture, header http.Header) {
	body, done, err := open(c)
	if err != nil {
		s.unreadable(w, r, c, err)
		return
	}
	defer done()
	head := make([]byte, 4096)
	n, err := io.ReadFull(body, head)
	if fatal(err) {
		s.unreadable(w, r, c, err)
		return
	}
	head = head[:n]
	w.Header().Set("Content-Type", contentType(header, head, c.Visit))
	if !rewritable(header, head) {
		if isMarkup(w.Header().Get("Content-Type")) {
			s.withoutScripts(w)
		}
		s.send(w, r, c.Status, body)
		return
	}
	if htmlmeta.KindOf(header, head) == htmlmeta.XML {
		s.withoutScripts(w) // no guard can be put into it
	}
	text, free, err := s.whole(r, c, body)
	if errors.Is(err, errLarge) {
		s.withoutScripts(w)
		s.send(w, r, c.Status, body)
		return
	}
	if err != nil {
		s.unreadable(w, r, c, err)
		return
	}
	defer free()
	s.send(w, r, c.Status, bytes.NewReader(s.rewrite(a, c, header, text)))
}

// whole is a document in memory. Few of the large ones are there at once.
func (s *Server) whole(r *http.Request, c *capture, body io.ReadSeeker) (text []byte, free func(), err error) {
	if small, ok := body.(*bytes.Reader); ok {
		text = make([]byte, small.Size())
		_, err = small.ReadAt(text, 0)
		if err == io.EOF {
			err = nil
		}
		return text, func() {}, err
	}
	select {
	case s.large <- struct{}{}:
	case <-r.Context().Done():
		return nil, nil, r.Context().Err()
	}
	free = func() { <-s.large }
	if text, err = readUpTo(c, maxRewrite); err != nil {
		free()
	}
	return text, free, err
}

// withoutScripts is for documents that no guard stands in.
func (s *Server) withoutScripts(w http.ResponseWriter) {
	csp := w.Header().Get("Content-Security-Policy")
	w.Header().Set("Content-Security-Policy", strings.Replace(csp, " allow-scripts", "", 1))
}

// isMarkup says whether a browser would make a document of a type that scripts
// run in.
func isMarkup(typ string) bool {
	t, _, _ := strings.Cut(strings.ToLower(typ), ";")
	t = strings.TrimSpace(t)
	return t == "text/html" || strings.HasSuffix(t, "xml") || strings.HasPrefix(t, "multipart/")
}

// contentType is that of the response, with the charset that the page has where
// only the page itself says it: it comes to stand behind our guard. A response
// that says no type, or one that is no field value, gets the one a browser would
// see in it.
func contentType(h http.Header, head []byte, v *crawllog.Visit) string {
	typ := h.Get("Content-Type")
	if list := h.Values("Content-Type"); len(list) > 1 {
		typ = list[len(list)-1]
	}
	kind := htmlmeta.KindOf(h, head)
	if base, _, _ := strings.Cut(typ, ";"); !strings.Contains(base, "/") || !httpguts.ValidHeaderFieldValue(typ) {
		typ = http.DetectContentType(head)
		if kind == htmlmeta.HTML {
			typ = "text/html"
		}
	}
	if kind == htmlmeta.HTML && v.Charset != "" && httpguts.ValidHeaderFieldValue(v.Charset) && !strings.Contains(strings.ToLower(typ), "charset") {
		typ += "; charset=" + v.Charset
	}
	return typ
}

// send answers with a body, in ranges if it is asked for so.
func (s *Server) send(w http.ResponseWriter, r *http.Request, status int, body io.ReadSeeker) {
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		s.failed(w, r, err)
		return
	}
	if status == http.StatusOK || status == http.StatusPartialContent {
		http.ServeContent(w, r, "", noTime, body)
		return
	}
	if status < 200 || status > 599 || status == http.StatusNotModified || status == http.StatusUnauthorized || status == http.StatusProxyAuthRequired {
		status = http.StatusOK
	}
	w.WriteHeader(status)
	if r.Method != http.MethodHead && status != http.StatusNoContent {
		_, _ = io.Copy(w, body)
	}
}

// serveRaw gives the octets as they are kept, to be saved.
func (s *Server) serveRaw(w http.ResponseWriter, r *http.Request, c *capture) {
	resp, err := c.archive.Response(c.Visit)
	if err != nil {
		s.unreadable(w, r, c, err)
		return
	}
	defer resp.Close()
	copyHeader(w.Header(), resp.Header)
	s.mementoHeaders(w, r, c)
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Content-Type", "application/octet-stream")
	if typ := resp.Header.Get("Content-Type"); typ != "" && httpguts.ValidHeaderFieldValue(typ) {
		h.Set("Content-Type", typ)
	}
	if !strings.HasPrefix(h.Get("Content-Disposition"), "attachment") {
		h.Set("Content-Disposition", "attachment")
	}
	if coded := resp.Header["Content-Encoding"]; len(coded) > 0 && !slices.ContainsFunc(coded, func(v string) bool { return !httpguts.ValidHeaderFieldValue(v) }) {
		h["Content-Encoding"] = coded
	}
	if r.Method != http.MethodHead {
		_, _ = io.Copy(w, resp.Body)
	}
}

// unreadable answers for a capture whose body cannot be read: the archive's
// damage is a failure, what the site sent broken is not.
func (s *Server) unreadable(w http.ResponseWriter, r *http.Request, c *capture, err error) {
	if fatal(err) {
		s.failed(w, r, err)
		return
	}
	refuse(w, http.StatusNotFound, fmt.Sprintf("what the site sent cannot be decoded: %v", err))
}

func (s *Server) failed(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // nobody waits for it
	}
	if errors.Is(err, storage.ErrInUse) { // a crawl begins or ends
		w.Header().Set("Retry-After", "2")
		refuse(w, http.StatusServiceUnavailable, "the archive cannot be read at the moment; try again")
		return
	}
	s.log.Error("the archive is damaged", "target", target(r), "err", err)
	refuse(w, http.StatusInternalServerError, "the archive is damaged: curtsy verify says where")
}
