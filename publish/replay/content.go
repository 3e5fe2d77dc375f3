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

// serveContent handles requests for a framed page and what it loads.
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

// inFrame reports whether a request is a navigation of a frame (Fetch Metadata).
func inFrame(r *http.Request) bool {
	dest := r.Header.Get("Sec-Fetch-Dest")
	return dest == "iframe" || dest == "frame"
}

// policies sets the headers that confine an archived page.
func (s *Server) policies(w http.ResponseWriter, r *http.Request) {
	// frame-src: a page in a blob: or data: URL would lack the guard script.
	w.Header().Set("Content-Security-Policy", "default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval'; "+
		"frame-src 'self'; form-action 'self'; base-uri 'self'; object-src 'self'; "+
		"worker-src 'self' blob:; webrtc 'block'; "+s.ancestors(r)+"sandbox "+s.sandbox(s.under(r) != ""))
	// All redirects from here lead to this server.
	w.Header().Set("Connection-Allowlist", "(response-origin);redirects=allow")
}

// strayed handles a path made by a script: it resolves it against the page that requests it or,
// if a script changed that page's address or such an address is reloaded, against the page that
// was opened last.
func (s *Server) strayed(w http.ResponseWriter, r *http.Request) error {
	var a address
	from, err := url.Parse(r.Referer())
	ok := false
	if err == nil && from.Host == r.Host {
		a, ok = parseAddress(from.RequestURI())
	}
	// A frame may navigate back to such an address.
	if last, opened := s.opened.Load(r.Host); opened && !ok && err == nil && (from.Host == r.Host || inFrame(r)) {
		a = last.(address)
	}
	for _, base := range urlsOf(a.text) {
		if to, err := base.Resolve(target(r)); err == nil {
			there := pathTo(a.ts, to)
			if r.Header.Get("Sec-Fetch-Dest") == "script" { // module URLs must match: see reference
				there = strings.Replace(there, "://", ":/", 1)
			}
			return redirect(w, http.StatusTemporaryRedirect, there)
		}
	}
	return refuse(w, http.StatusNotFound, "not in the archive")
}

// serveCapture serves an archived response with its references rewritten.
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

// serveRendered serves the DOM that a browser rendered during the crawl, without scripts: they
// have run already, and many would find an unexpected address and replace the page by an error.
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

// rewritable reports whether a response, given the beginning of its body, is a document with
// references.
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
		s.withoutScripts(w) // the guard script cannot be inserted
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

// sendTime is how long a client may take to receive a document held in memory.
const sendTime = 2 * time.Minute

// sendHeld sends a document that is held in memory.
func (s *Server) sendHeld(w http.ResponseWriter, r *http.Request, status int, text []byte) error {
	conn := http.NewResponseController(w)
	_ = conn.SetWriteDeadline(time.Now().Add(sendTime)) // not every connection supports deadlines
	defer conn.SetWriteDeadline(time.Time{})
	return s.send(w, r, status, bytes.NewReader(text))
}

// maxHeld is the most octets of memory for all documents being rewritten.
const maxHeld = 96 << 20

// hold waits for memory for a document of size octets and its rewritten form.
func (s *Server) hold(ctx context.Context, size int64) (free func(), err error) {
	most := min(2*size+size/8+min(3*size, maxGrowth), maxHeld)
	if err := s.held.Acquire(ctx, most); err != nil {
		return nil, err
	}
	return func() { s.held.Release(most) }, nil
}

// whole reads a document into memory; the caller calls free.
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

// withoutScripts disables the scripts of documents without the guard script.
func (s *Server) withoutScripts(w http.ResponseWriter) {
	csp := w.Header().Get("Content-Security-Policy")
	w.Header().Set("Content-Security-Policy", strings.Replace(csp, " allow-scripts", "", 1))
}

// isMarkup reports whether browsers run scripts in documents of a media type.
func isMarkup(typ string) bool {
	t := http1.MediaType(typ)
	return t == "text/html" || strings.HasSuffix(t, "xml") || strings.HasPrefix(t, "multipart/")
}

// contentType returns the Content-Type to send. It adds the charset that the document itself
// declares, since the declaration would come after the guard script. If the response has no
// valid Content-Type, the type is sniffed.
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

// maxRanges is the most ranges answered: each may require decoding a large body from its
// beginning.
const maxRanges = 3

// send sends a body, or the requested ranges of it.
func (s *Server) send(w http.ResponseWriter, r *http.Request, status int, body io.ReadSeeker) error {
	if strings.Count(r.Header.Get("Range"), ",") >= maxRanges {
		r.Header.Del("Range") // RFC 9110 §14.2 allows servers to ignore it
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

// serveRaw serves the payload as archived, for download.
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

// failed answers a request that could not be served.
func (s *Server) failed(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // the client is gone
	}
	if errors.Is(err, storage.ErrInUse) { // a crawl is starting or ending
		w.Header().Set("Retry-After", "2")
		_ = refuse(w, http.StatusServiceUnavailable, "the archive cannot be read at the moment; try again")
		return
	}
	s.log.Error("the archive is damaged", "target", target(r), "err", err)
	_ = refuse(w, http.StatusInternalServerError, "the archive is damaged: curtsy verify says where")
}
