package mirror

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"curtsy/htmlmeta"
	"curtsy/publish"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// writer writes the files of a mirror.
type writer struct {
	a     *storage.Archive
	s     *site
	tree  *tree
	notes *notes
	held  held
	done  atomic.Int64
	runs  atomic.Bool // some page has the link script
	still atomic.Int64
	kept  *stills // nil if Options.Still was given
	// strict makes it an error if a document cannot be rewritten, because there is no report.
	strict bool

	spare   sync.Pool // of *buffers
	sprites sprites
}

func newWriter(a *storage.Archive, s *site, t *tree) *writer {
	return &writer{a: a, s: s, tree: t, notes: newNotes(), held: newHeld(), sprites: sprites{made: map[string]sprite{}}}
}

// writeAll writes the files of all entries concurrently, in order of discovery, which is about
// their order in the archive.
func (w *writer) writeAll(ctx context.Context) error {
	order := make([]int32, len(w.s.list))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int { return cmp.Compare(w.s.list[i].urlID, w.s.list[j].urlID) })
	all, running := errgroup.WithContext(ctx)
	all.SetLimit(2 * runtime.GOMAXPROCS(0))
	for _, i := range order {
		if running.Err() != nil {
			break
		}
		all.Go(func() error {
			if err := w.guarded(&w.s.list[i]); err != nil {
				return err
			}
			w.progress()
			return nil
		})
	}
	return cmp.Or(all.Wait(), context.Cause(ctx))
}

func (w *writer) progress() {
	if n := w.done.Add(1); n%64 == 0 || int(n) == len(w.s.list) {
		w.s.o.Watch(Progress{Step: "write", Done: int(n), Total: len(w.s.list)})
	}
}

// guarded writes the file of an entry. If the rewriter panics at a document, the document is
// copied without rewriting and reported, so that a defect of this program does not stop the
// export.
func (w *writer) guarded(e *entry) (err error) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		why := fmt.Errorf("%w: %v", errInternal, cause)
		if w.strict {
			err = fmt.Errorf("%s: %w", e.url, why)
			return
		}
		w.incomplete(e, why.Error())
		e.raw = true
		err = w.copy(e)
	}()
	return w.write(e)
}

// write writes the file of an entry.
func (w *writer) write(e *entry) error {
	switch {
	case e.file == "" || e.same:
		return nil
	case e.state == moved:
		to := &w.s.list[e.final]
		return w.tree.put(e.file, time.Time{}, stub(relative(e.file, to.file)+encodeFragment(e.part()), e.url.String(),
			to.url.String()))
	case rewritten(e.typ()):
		return w.rewrite(e)
	}
	return w.copy(e)
}

// incomplete lists an entry in the report as incomplete.
func (w *writer) incomplete(e *entry, why string) {
	w.notes.add(cutOff, e.url.String(), why, e.url.String())
}

// rewritten reports whether references in files of a type are rewritten.
func rewritten(typ string) bool {
	switch typ {
	case typeHTML, typeXHTML, typeCSS, typeSVG, typeJS, "application/manifest+json":
		return true
	}
	return false
}

// visit returns the visit of an entry.
func (w *writer) visit(e *entry) (*crawllog.Visit, error) {
	v, err := w.a.Visit(e.ref())
	if err == nil && v == nil {
		err = &storage.DamageError{File: "crawl.db", What: "the visit of " + e.url.String() + " is missing"}
	}
	return v, err
}

// document reads a body of at most maxRewrite bytes, or returns errTooLarge. The caller calls
// give when it no longer needs the body.
func (w *writer) document(e *entry, use *buffers) (body []byte, h http.Header, v *crawllog.Visit,
	give func(), err error) {
	if v, err = w.visit(e); err != nil {
		return nil, nil, nil, func() {}, err
	}
	// An uncompressed body is as long as its payload.
	for _, most := range []int{max(shortDocument, int(min(v.Length, maxRewrite))), maxRewrite} {
		give = w.held.take(int64(most))
		body, h, err = w.read(e, v, &use.body, most)
		if !errors.Is(err, errTooLarge) {
			return body, h, v, give, err
		}
		if give(); most == maxRewrite {
			break
		}
	}
	return nil, nil, nil, func() {}, err
}

// read reads a body of at most most bytes into buf, or returns errTooLarge.
func (w *writer) read(e *entry, v *crawllog.Visit, buf *bytes.Buffer, most int) ([]byte, http.Header, error) {
	b, err := publish.OpenPage(w.a, v)
	if err != nil {
		return nil, nil, err
	}
	defer b.Close()
	buf.Reset()
	buf.Grow(min(max(int(v.Length), 4<<10), most) + bytes.MinRead)
	body, err := w.whole(e, b, buf, most)
	return body, b.Header, err
}

// whole reads a body to its end. If its coding is broken, it returns what could be decoded, and
// notes that for the report.
func (w *writer) whole(e *entry, r io.Reader, buf *bytes.Buffer, most int) ([]byte, error) {
	body, broken, err := readUpTo(r, buf, most)
	if broken != nil {
		w.incomplete(e, broken.Error())
	}
	return body, err
}

var errTooLarge = errors.New("too large to be rewritten")

// readUpTo reads r to its end; broken says why it ended early.
func readUpTo(r io.Reader, buf *bytes.Buffer, most int) (body []byte, broken, err error) {
	_, err = buf.ReadFrom(io.LimitReader(r, int64(most)+1))
	if buf.Len() > most {
		return nil, nil, errTooLarge
	}
	var damage *storage.DamageError
	if err != nil && (buf.Len() == 0 || errors.As(err, &damage) || storage.IsDisk(err)) {
		return nil, nil, err
	}
	return buf.Bytes(), err, nil
}

func (w *writer) rewrite(e *entry) error {
	use := w.takeBuffers()
	defer w.giveBuffers(use)
	body, h, v, give, err := w.document(e, use)
	defer give()
	if errors.Is(err, errTooLarge) {
		w.incomplete(e, fmt.Sprintf("over %d MiB: its links were not rewritten", maxRewrite>>20))
		e.raw = true
		return w.copy(e)
	}
	if err != nil {
		return w.unreadable(e, err)
	}
	if e.typ() == "application/manifest+json" {
		return w.tree.put(e.file, modified(v), w.manifest(e, body))
	}
	tags := publish.Tags(w.a, v, len(body))
	still := v.Rendered != nil || w.s.o.NoScripts
	if e.page && !still {
		made, ok, err := w.stillOf(e, v)
		if err != nil {
			return &DiskError{err}
		}
		if still = ok; ok {
			w.still.Add(1)
			e.still = stillCame
		}
		if len(made) > 0 {
			e.still = stillShown
			body, h, tags = made, h.Clone(), nil
			h.Set("Content-Type", crawllog.TypeRendered)
		}
	}
	l := &linker{s: w.s, from: e, notes: w.notes}
	out := w.s.o.rewrite(htmlmeta.Page{URL: e.url, Header: headerFor(h, e.typ()), Body: body, Tags: tags},
		htmlmeta.Rewriting{Ref: l.ref, Room: &use.out, NoTranslate: e.fixed, Inline: w.sprite,
			Policy: w.s.policy(still), Script: linkScript(e, still)})
	if !still {
		w.noteNeeds(e, out.NeedsHTTP)
	}
	if out.Scripted {
		w.runs.Store(true)
	}
	if e.cut {
		w.incomplete(e, "the server closed the connection early")
	}
	return w.tree.put(e.file, modified(v), out.Body)
}

// Policy lets a page load files of the mirror and nothing else (CSP Level 3 §6), even if its
// scripts construct URLs of the live site.
const Policy = "default-src 'self' file: data: blob: 'unsafe-inline' 'unsafe-eval'"

// stillPolicy disables the scripts of a page stored after they ran: they would change it again,
// at an address that they do not expect.
const stillPolicy = "script-src 'none'"

// policy returns the Content-Security-Policy of a page.
func (s *site) policy(still bool) string {
	switch {
	case still && s.o.Online:
		return stillPolicy
	case still:
		return Policy + "; " + stillPolicy
	case s.o.Online:
		return ""
	}
	return Policy
}

func (w *writer) noteNeeds(e *entry, needs []string) {
	if e.page && slices.Contains(needs, "module") {
		w.notes.modules.Add(1)
	}
	if len(needs) > 0 {
		w.notes.add(needsHTTP, e.url.String(), strings.Join(needs, ", "), e.url.String())
	}
}

// headerFor returns the header with typ as its media type.
func headerFor(h http.Header, typ string) http.Header {
	if declared(h.Get("Content-Type")) == typ && len(h.Values("Content-Type")) == 1 {
		return h
	}
	h = h.Clone()
	_, params, ok := strings.Cut(h.Get("Content-Type"), ";")
	if ok {
		typ += ";" + params
	}
	h.Set("Content-Type", typ)
	return h
}

// unreadable writes an empty file for a body that cannot be decoded, and reports it; damage of
// the archive is an error.
func (w *writer) unreadable(e *entry, err error) error {
	var damage *storage.DamageError
	var path *os.PathError
	if errors.As(err, &damage) || errors.As(err, &path) {
		return err
	}
	w.incomplete(e, err.Error())
	return w.tree.put(e.file, time.Time{}, nil)
}

// copy copies a body as a stream.
func (w *writer) copy(e *entry) error {
	v, err := w.visit(e)
	if err != nil {
		return err
	}
	b, err := publish.OpenBody(w.a, v)
	if err != nil {
		return w.unreadable(e, err)
	}
	defer b.Close()
	if v.Length <= shortDocument && b.Header.Get("Content-Encoding") == "" {
		defer w.held.take(shortDocument)()
		use := w.takeBuffers()
		defer w.giveBuffers(use)
		body, err := w.whole(e, b, &use.body, shortDocument)
		if err == nil {
			return w.tree.put(e.file, modified(v), body)
		}
		if !errors.Is(err, errTooLarge) {
			return w.unreadable(e, err)
		}
		b.Close()
		if b, err = publish.OpenBody(w.a, v); err != nil {
			return w.unreadable(e, err)
		}
		defer b.Close()
	}
	r := &capped{r: b, left: w.s.o.MaxBody}
	err = w.tree.stream(e.file, modified(v), r)
	if r.cut {
		w.incomplete(e, fmt.Sprintf("over %d bytes when decoded (fetch.max_body): truncated", w.s.o.MaxBody))
	}
	var disk *DiskError
	if err != nil && !errors.As(err, &disk) {
		return w.unreadable(e, err)
	}
	return err
}

// capped reads at most left bytes, and records whether there were more.
type capped struct {
	r    io.Reader
	left int64
	cut  bool
}

func (b *capped) Read(p []byte) (int, error) {
	if b.left <= 0 {
		var more [1]byte
		n, _ := io.ReadFull(b.r, more[:])
		b.cut = n > 0
		return 0, io.EOF
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// modified returns the modification time for a file: Last-Modified or, if that is missing or
// implausible, the time of the fetch.
func modified(v *crawllog.Visit) time.Time {
	if t, err := http.ParseTime(v.LastModified); err == nil && t.Year() > 1970 && t.Before(v.At.Add(24*time.Hour)) {
		return t
	}
	return v.At.Truncate(time.Second)
}

// DiskError means that writing failed. The old mirror is intact.
type DiskError struct{ Err error }

func (e *DiskError) Error() string { return fmt.Sprintf("write the mirror: %v", e.Err) }
func (e *DiskError) Unwrap() error { return e.Err }
