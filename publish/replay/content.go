package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"curtsy/htmlmeta"
	"curtsy/internal/http1"
	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// serveContent answers a frame, or what a page in it asks for.
func (s *Server) serveContent(w http.ResponseWriter, r *http.Request) error {
	s.policies(w, r)
	under := s.under(r)
	rest := strings.TrimPrefix(target(r), under)
	a, ok := parseAddress(rest)
	a.under = under
	if !ok {
		return s.strayed(w, r)
	}
	if r.Header.Get("Sec-Fetch-Dest") == "document" && !a.raw {
		return redirect(w, http.StatusTemporaryRedirect, s.uiOrigin(r)+rest)
	}
	c, _, u, err := s.find(r.Context(), a)
	switch {
	case err != nil:
		return err
	case c == nil || c.Status == 0:
		return s.absent(w, r, u, nil)
	case !c.shown():
		return s.absent(w, r, u, c)
	case a.raw:
		err = s.serveRaw(w, r, c)
	default:
		if inFrame(r) {
			s.opened.Store(r.Host, a)
		}
		err = s.serveCapture(w, r, a, c)
	}
	if err != nil && !publish.IsOfArchive(err) && r.Context().Err() == nil {
		return refuse(w, http.StatusNotFound, fmt.Sprintf("what the site sent cannot be decoded: %v", err))
	}
	return err
}

// inFrame says whether a browser asks for the document of a frame (Fetch Metadata).
func inFrame(r *http.Request) bool {
	dest := r.Header.Get("Sec-Fetch-Dest")
	return dest == "iframe" || dest == "frame"
}

// policies sets what a page of the archive may do.
func (s *Server) policies(w http.ResponseWriter, r *http.Request) {
	// frame-src: a page in a blob: or data: URL would have no guard of its own.
	w.Header().Set("Content-Security-Policy", "default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval'; "+
		"frame-src 'self'; form-action 'self'; base-uri 'self'; object-src 'self'; "+
		"worker-src 'self' blob:; webrtc 'block'; "+s.ancestors(r)+"sandbox "+s.sandbox(s.under(r) != ""))
	// All redirects here lead to this server.
	w.Header().Set("Connection-Allowlist", "(response-origin);redirects=allow")
}

// strayed answers a path that a script has made: it is resolved against the page
// that asks, or, if its script has changed that page's address or it is opened anew
// at such an address, against the page that was opened last.
func (s *Server) strayed(w http.ResponseWriter, r *http.Request) error {
	var a address
	from, err := url.Parse(r.Referer())
	ok := false
	if err == nil && from.Host == r.Host {
		a, ok = parseAddress(from.RequestURI())
	}
	// A frame may go back to such an address.
	if last, opened := s.opened.Load(r.Host); opened && !ok && err == nil && (from.Host == r.Host || inFrame(r)) {
		a = last.(address)
	}
	for _, base := range urlsOf(a.text) {
		if to, err := base.Resolve(target(r)); err == nil {
			there := pathTo(a.ts, to)
			if r.Header.Get("Sec-Fetch-Dest") == "script" { // a module is one by its address: see reference
				there = strings.Replace(there, "://", ":/", 1)
			}
			return redirect(w, http.StatusTemporaryRedirect, there)
		}
	}
	return refuse(w, http.StatusNotFound, "not in the archive")
}

// serveCapture gives a capture as a page of this server.
func (s *Server) serveCapture(w http.ResponseWriter, r *http.Request, a address, c *capture) error {
	resp, err := c.archive.Response(c.Visit)
	if err != nil {
		return err
	}
	header := resp.Header
	resp.Close()
	copyHeader(w.Header(), header)
	s.mementoHeaders(w, r, c)
	if c.Location != "" && c.Status >= 300 && c.Status < 400 {
		if to, err := weburl.Parse(c.Location); err == nil {
			w.Header().Set("Location", a.pathTo(to))
			w.WriteHeader(c.Status)
			return nil
		}
	}
	if c.Rendered != nil {
		return s.serveRendered(w, r, a, c)
	}
	return s.serveBody(w, r, a, c, header)
}

// serveRendered gives the document that a browser made of a page when it was
// crawled. Its scripts have run, and would look for an address that is not theirs:
// many show nothing then but that there is no such page.
func (s *Server) serveRendered(w http.ResponseWriter, r *http.Request, a address, c *capture) error {
	free, err := s.hold(r.Context(), c.Rendered.Length)
	if err != nil {
		return err
	}
	defer free()
	page, err := publish.OpenPage(c.archive, c.Visit)
	if err != nil {
		return err
	}
	defer page.Close()
	text, err := io.ReadAll(page)
	if err == nil {
		text, err = s.rewrite(r.Context(), a, c, page.Header, text)
	}
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", page.Header.Get("Content-Type"))
	w.Header().Add("Content-Security-Policy", "script-src 'none'")
	return s.sendHeld(w, r, c.Status, text)
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

func (s *Server) serveBody(w http.ResponseWriter, r *http.Request, a address, c *capture, header http.Header) error {
	body, done, err := open(r.Context(), c)
	if err != nil {
		return err
	}
	defer done()
	head := make([]byte, 4096)
	n, err := io.ReadFull(body, head)
	if publish.IsOfArchive(err) {
		return err
	}
	head = head[:n]
	w.Header().Set("Content-Type", contentType(header, head, c.Visit))
	if !rewritable(header, head) {
		if isMarkup(w.Header().Get("Content-Type")) {
			s.withoutScripts(w)
		}
		return s.send(w, r, c.Status, body)
	}
	if htmlmeta.KindOf(header, head) == htmlmeta.XML {
		s.withoutScripts(w) // no guard can be put into it
	}
	text, free, err := s.whole(r.Context(), body)
	if err == nil {
		defer free()
		text, err = s.rewrite(r.Context(), a, c, header, text)
	}
	if errors.Is(err, errLarge) {
		s.withoutScripts(w)
		return s.send(w, r, c.Status, body)
	}
	if err != nil {
		return err
	}
	return s.sendHeld(w, r, c.Status, text)
}

// sendTime is how long a client may take for a document that others wait for
// room for.
const sendTime = 2 * time.Minute

// sendHeld answers with a document that is held in memory.
func (s *Server) sendHeld(w http.ResponseWriter, r *http.Request, status int, text []byte) error {
	conn := http.NewResponseController(w)
	_ = conn.SetWriteDeadline(time.Now().Add(sendTime)) // what has none needs none
	defer conn.SetWriteDeadline(time.Time{})
	return s.send(w, r, status, bytes.NewReader(text))
}

// maxHeld is what documents may take together while they are rewritten, in octets.
const maxHeld = 96 << 20

// hold waits until there is room for a document of that size: its own octets, and
// those that it is rewritten to.
func (s *Server) hold(ctx context.Context, size int64) (free func(), err error) {
	most := min(2*size+size/8+min(3*size, maxGrowth), maxHeld)
	if err := s.held.Acquire(ctx, most); err != nil {
		return nil, err
	}
	return func() { s.held.Release(most) }, nil
}

// whole is a document in memory; the caller frees it.
func (s *Server) whole(ctx context.Context, body io.ReadSeeker) (text []byte, free func(), err error) {
	size, err := body.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case size > maxRewrite:
		return nil, nil, errLarge
	case size <= inMemory:
		free = func() {}
	default:
		free, err = s.hold(ctx, size)
	}
	if err != nil {
		return nil, nil, err
	}
	text = make([]byte, size)
	if _, err = body.Seek(0, io.SeekStart); err == nil {
		_, err = io.ReadFull(body, text)
	}
	if err != nil {
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
	t := http1.MediaType(typ)
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
	if kind == htmlmeta.HTML && v.Charset != "" && httpguts.ValidHeaderFieldValue(v.Charset) &&
		!strings.Contains(strings.ToLower(typ), "charset") {
		typ += "; charset=" + v.Charset
	}
	return typ
}

// maxRanges is how many ranges are answered as such: for each of them a body that
// is not in memory may be decoded from its beginning.
const maxRanges = 3

// send answers with a body, in ranges if it is asked for so.
func (s *Server) send(w http.ResponseWriter, r *http.Request, status int, body io.ReadSeeker) error {
	if strings.Count(r.Header.Get("Range"), ",") >= maxRanges {
		r.Header.Del("Range") // RFC 9110 §14.2 lets a server ignore it
	}
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if status == http.StatusOK || status == http.StatusPartialContent {
		http.ServeContent(w, r, "", noTime, body)
		return nil
	}
	if status < 200 || status > 599 || status == http.StatusNotModified || status == http.StatusUnauthorized ||
		status == http.StatusProxyAuthRequired {
		status = http.StatusOK
	}
	w.WriteHeader(status)
	if r.Method != http.MethodHead && status != http.StatusNoContent {
		_, _ = io.Copy(w, body)
	}
	return nil
}

// serveRaw gives the octets as they are kept, to be saved.
func (s *Server) serveRaw(w http.ResponseWriter, r *http.Request, c *capture) error {
	resp, err := c.archive.Response(c.Visit)
	if err != nil {
		return err
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
	if coded := resp.Header["Content-Encoding"]; len(coded) > 0 &&
		!slices.ContainsFunc(coded, func(v string) bool { return !httpguts.ValidHeaderFieldValue(v) }) {
		h["Content-Encoding"] = coded
	}
	if r.Method != http.MethodHead {
		_, _ = io.Copy(w, ended{r.Context(), resp.Body})
	}
	return nil
}

// failed says that a request could not be answered.
func (s *Server) failed(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // nobody waits for it
	}
	if errors.Is(err, storage.ErrInUse) { // a crawl begins or ends
		w.Header().Set("Retry-After", "2")
		_ = refuse(w, http.StatusServiceUnavailable, "the archive cannot be read at the moment; try again")
		return
	}
	s.log.Error("the archive is damaged", "target", target(r), "err", err)
	_ = refuse(w, http.StatusInternalServerError, "the archive is damaged: curtsy verify says where")
}
