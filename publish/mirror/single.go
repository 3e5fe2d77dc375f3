package mirror

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
	"curtsy/storage"
)

// Limits in octets for pages that embed everything: of one part, of all parts together, and of
// the parts cached for later pages.
const (
	maxPart   = 32 << 20
	maxWhole  = 160 << 20
	maxShared = 32 << 20
)

// singlePolicy lets a page load only what is embedded in it.
const singlePolicy = "default-src data: blob: 'unsafe-inline' 'unsafe-eval'"

// ExportSingle is Export with styles, scripts, images and fonts embedded in each page as data:
// URLs (RFC 2397), so that each file shows its page alone. Links lead to the files of other
// pages. Files that are only embedded are removed.
func ExportSingle(ctx context.Context, a *storage.Archive, out string, o Options) (*Result, error) {
	return exportTree(ctx, a, out, o, (*writer).inlineAll)
}

// inliner embeds files in pages.
type inliner struct {
	w      *writer
	byFile map[string]*entry
	alone  bool            // links lead to the live site, not to other files
	linked map[string]bool // files that pages link to
	parts  map[string]string
	shared int             // octets in parts
	left   map[string]bool // files that are too large to embed
	failed bool            // some page could not be put together
}

func newInliner(w *writer) *inliner {
	in := &inliner{w: w, byFile: map[string]*entry{}, linked: map[string]bool{}, parts: map[string]string{},
		left: map[string]bool{}}
	for i := range w.s.list {
		if e := &w.s.list[i]; e.file != "" && !e.same {
			in.byFile[e.file] = e
		}
	}
	return in
}

// document is a file whose references are being replaced.
type document struct {
	*inliner
	open []string // the files being embedded, from the page to this one
	size *int     // of the page so far
}

// errInternal means that the rewriter panicked at a document, a defect of this program.
var errInternal = errors.New("its links were not rewritten: internal error")

// page returns the page in a file with everything embedded.
func (in *inliner) page(e *entry) (body []byte, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			body, err = nil, fmt.Errorf("%s: %w: %v", e.url, errInternal, cause)
		}
	}()
	body, err = in.w.tree.root.ReadFile(e.file)
	if err != nil {
		return nil, &DiskError{err}
	}
	d := &document{inliner: in, open: []string{e.file}, size: new(len(body))}
	return d.rewrite(e, body)
}

// rewrite replaces the references of a document.
func (d *document) rewrite(e *entry, body []byte) ([]byte, error) {
	base, err := weburl.MustParse("http://mirror.invalid/").Resolve("/" + encodePath(e.file))
	if err != nil {
		return body, nil //nolint:nilerr // no URL belongs to it: it has no references, either
	}
	var failure error
	o := htmlmeta.Rewriting{Ref: func(r htmlmeta.Reference) (htmlmeta.Change, string) {
		change, to, err := d.ref(r)
		failure = cmp.Or(failure, err)
		return change, to
	}}
	if e.page {
		o.Policy, o.Head = singlePolicy, d.mark(e)
		if strings.Contains(string(body[:min(len(body), 4096)]), stillPolicy) {
			o.Policy += "; " + stillPolicy
		}
	}
	out := d.w.s.o.rewrite(htmlmeta.Page{URL: base, Header: http.Header{"Content-Type": {e.typ()}}, Body: body}, o)
	return out.Body, failure
}

// SingleMark begins the comment that says where a page is from.
const SingleMark = "<!-- saved by curtsy: "

// mark returns that comment; "" for a framed document.
func (d *document) mark(e *entry) string {
	if len(d.open) > 1 {
		return ""
	}
	url := strings.NewReplacer("--", "%2D%2D", ">", "%3E", "<", "%3C").Replace(e.url.String())
	return SingleMark + url[:min(len(url), 300)] + " -->"
}

// ref decides how a reference is rewritten.
func (d *document) ref(r htmlmeta.Reference) (htmlmeta.Change, string, error) {
	if r.URL.Host() != "mirror.invalid" {
		return htmlmeta.Leave, "", nil
	}
	name := decode(r.URL.Path()[1:])
	e := d.byFile[name]
	away := d.alone || len(d.open) > 1 // data: URLs cannot resolve relative references
	switch {
	case e == nil, r.Kind == htmlmeta.Hint, r.Kind == htmlmeta.Speculative, hasAny(r.Rel, "manifest"):
		return htmlmeta.Silent, r.Text, nil
	case r.Kind == htmlmeta.Requisite:
		uri, err := d.part(e)
		if uri == "" {
			return htmlmeta.Silent, e.url.String(), err
		}
		return htmlmeta.Live, uri + encodeFragment(r.Fragment), nil
	case name == d.open[0] && len(d.open) == 1:
		return htmlmeta.Local, cmp.Or(encodeFragment(r.Fragment), "#"), nil
	case loads(r) && (r.Tag != "meta" || away): // a refresh, or a prefetch
		return htmlmeta.Silent, e.url.String(), nil
	case away:
		return htmlmeta.Live, e.url.String() + encodeFragment(r.Fragment), nil
	}
	d.linked[name] = true
	return htmlmeta.Leave, "", nil
}

// part returns a file as a data: URL; "" if it cannot be embedded.
func (d *document) part(e *entry) (uri string, err error) {
	if slices.Contains(d.open, e.file) {
		return "", nil // it embeds itself
	}
	uri, ok := d.parts[e.file]
	if !ok {
		if uri, err = d.encode(e); err != nil {
			return "", err
		}
		if d.shared+len(uri) <= maxShared && uri != "" && !e.page {
			d.parts[e.file] = uri
			d.shared += len(uri)
		}
	}
	if *d.size+len(uri) > maxWhole {
		uri = ""
	}
	if uri == "" {
		d.left[e.url.String()] = true
	}
	*d.size += len(uri)
	return uri, nil
}

// encode reads a file and makes a data: URL of it; "" if it is too large.
func (d *document) encode(e *entry) (string, error) {
	if err := d.w.present(e); err != nil {
		return "", err
	}
	st, err := d.w.tree.root.Stat(e.file)
	if err != nil {
		return "", &DiskError{err}
	}
	if st.Size() > maxPart {
		return "", nil
	}
	body, err := d.w.tree.root.ReadFile(e.file)
	if err != nil {
		return "", &DiskError{err}
	}
	if rewritten(e.typ()) && !e.raw {
		inner := &document{inliner: d.inliner, open: append(slices.Clone(d.open), e.file), size: d.size}
		if body, err = inner.rewrite(e, body); err != nil {
			return "", err
		}
	}
	kind := cmp.Or(served(e.typ(), e.file), typeAny)
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(body), nil
}

// present writes the file of an entry if it does not exist.
func (w *writer) present(e *entry) error {
	if _, err := w.tree.root.Lstat(e.file); err == nil {
		return nil
	}
	return w.guarded(e)
}

// inlineAll embeds in each page the files that it is made of, and removes files that are only
// embedded.
func (w *writer) inlineAll(ctx context.Context) error {
	in := newInliner(w)
	w.runs.Store(false) // the link script finds files by the address of the page
	for i := range w.s.list {
		e := &w.s.list[i]
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.state == kept && e.page && !e.raw && !e.same && e.file != "" {
			if err := in.replace(e); err != nil {
				return err
			}
		}
		if i%64 == 0 || i == len(w.s.list)-1 {
			w.s.o.Watch(Progress{Step: "put together", Done: i + 1, Total: len(w.s.list)})
		}
	}
	for _, url := range slices.Sorted(maps.Keys(in.left)) {
		w.notes.add(cutOff, url, "too large to be put into a page", url)
	}
	if in.failed {
		return nil
	}
	return in.prune()
}

// replace replaces the file of a page by the page with everything embedded.
func (in *inliner) replace(e *entry) error {
	v, err := in.w.visit(e)
	if err != nil {
		return err
	}
	body, err := in.page(e)
	if errors.Is(err, errInternal) { // keep the page and its parts as separate files
		in.w.incomplete(e, err.Error())
		in.failed = true
		return nil
	}
	if err != nil {
		return err
	}
	if err := in.w.tree.root.Remove(e.file); err != nil {
		return &DiskError{err}
	}
	return in.w.tree.put(e.file, modified(v), body)
}

// prune removes the files that no page links to and that are parts of pages.
func (in *inliner) prune() error {
	gone := map[string]bool{}
	for name, e := range in.byFile {
		if e.state != kept || e.page || in.linked[name] || !isPart(e.typ()) {
			continue
		}
		if err := in.w.tree.root.Remove(name); err != nil {
			return &DiskError{err}
		}
		gone[name] = true
		for dir := path.Dir(name); dir != "." && in.w.tree.root.Remove(dir) == nil; dir = path.Dir(dir) {
			in.w.tree.forget(dir) // it was empty
		}
	}
	for i := range in.w.s.list {
		if e := &in.w.s.list[i]; gone[e.file] {
			e.file = ""
		}
	}
	return nil
}

// isPart reports whether files of a type are parts of pages rather than documents.
func isPart(typ string) bool {
	kind, _, _ := strings.Cut(typ, "/")
	return kind == "image" || kind == "font" || typ == typeCSS || typ == typeJS || typ == "application/manifest+json" ||
		typ == "application/vnd.ms-fontobject" || typ == "application/wasm"
}

// ErrNoPage means that the archive has no page to show at a URL.
var ErrNoPage = errors.New("no page to be shown")

// Single returns the page at a URL, or at the end of its redirects, with everything embedded.
// Its links lead to the live site. left are URLs too large to embed. Temporary files are
// written beside near.
func Single(a *storage.Archive, u weburl.URL, near string, o Options) (body []byte, left []string, err error) {
	o.defaults()
	if o.Still == nil {
		o.Still = func(string) ([]byte, bool, error) { return nil, false, nil }
	}
	t, err := newTree(near)
	if err != nil {
		return nil, nil, err
	}
	defer t.discard()
	s, err := gather(a, &o)
	if err != nil {
		return nil, nil, err
	}
	s.nameAll()
	e, _ := s.target(s.find(u), "")
	if e == nil || !e.page {
		return nil, nil, fmt.Errorf("%s: %w: %s", u, ErrNoPage, s.whyNot(u, e))
	}
	w := newWriter(a, s, t)
	w.strict = true
	in := newInliner(w)
	in.alone = true
	if e.same {
		e = in.byFile[e.file]
	}
	if err := w.present(e); err != nil {
		return nil, nil, err
	}
	if e.raw {
		return nil, nil, fmt.Errorf("%s: %s", e.url, w.notes.rows[cutOff][e.url.String()].why)
	}
	if body, err = in.page(e); err != nil {
		return nil, nil, err
	}
	return body, slices.Sorted(maps.Keys(in.left)), nil
}

// whyNot says why there is no page at a URL.
func (s *site) whyNot(u weburl.URL, e *entry) string {
	i := s.find(u)
	switch {
	case e != nil:
		return "it is " + cmp.Or(e.typ(), "of no known type")
	case i < 0:
		return "the archive does not have it"
	}
	return cmp.Or(s.list[i].why(), "it leads out of the archive")
}
