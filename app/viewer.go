package app

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"
)

// viewer is an archive or offline copy shown by the serve command. It has its own address, to
// which cookies of this page are not sent.
type viewer struct {
	of   string // the archive; with copyMark, its offline copy
	stop context.CancelFunc
	said chan struct{} // closed when line is set
	done chan struct{} // closed when fail is set
	line string        // the first line of data, which has its URL
	fail Outcome
}

// maxViewers is the most archives shown at a time.
const maxViewers = 8

// viewerFor is the timeout for opening an archive.
const viewerFor = 2 * time.Minute

var servedAt = regexp.MustCompile(`at (http://[^ ]+/)$`)

// view returns the URL at which a serve command shows an archive or copy, and starts it if
// needed.
func (s *Server) view(ctx context.Context, of string, args []string) (string, error) {
	s.mu.Lock()
	i := slices.IndexFunc(s.viewers, func(v *viewer) bool { return v.of == of && !isDone(v.done) })
	var v *viewer
	if i >= 0 {
		v = s.viewers[i]
		s.viewers = append(slices.Delete(s.viewers, i, i+1), v)
	} else {
		s.viewers = slices.DeleteFunc(s.viewers, func(v *viewer) bool { return isDone(v.done) })
		if len(s.viewers) >= maxViewers {
			s.viewers[0].stop()
		}
		v = s.beginViewer(of, args)
		s.viewers = append(s.viewers, v)
	}
	s.mu.Unlock()
	return v.address(ctx)
}

func (s *Server) beginViewer(of string, args []string) *viewer {
	ctx, stop := context.WithCancel(s.stop)
	v := &viewer{of: of, stop: stop, said: make(chan struct{}), done: make(chan struct{})}
	first := sync.Once{}
	out := &lines{each: func(line string) { first.Do(func() { v.line = line; close(v.said) }) }}
	s.running.Go(func() {
		defer close(v.done)
		v.fail = s.o.Command(args, Hooks{Ctx: ctx, Stop: ctx, Out: out})
	})
	return v
}

// address waits for the URL.
func (v *viewer) address(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, viewerFor)
	defer cancel()
	select {
	case <-v.said:
		m := servedAt.FindStringSubmatch(v.line)
		if m == nil {
			return "", errors.New("serve: " + v.line)
		}
		return m[1], nil
	case <-v.done:
		return "", errors.New(v.fail.Err)
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// stopViewers stops the viewers of an archive, or all for "".
func (s *Server) stopViewers(of string) {
	s.mu.Lock()
	list := slices.Clone(s.viewers)
	s.mu.Unlock()
	for _, v := range list {
		if of == "" || v.of == of || v.of == of+copyMark {
			v.stop()
			<-v.done
		}
	}
}

// copyMark distinguishes the offline copy of an archive from the archive.
const copyMark = "/"

// browse opens an archive in serve, at a page of it.
func (s *Server) browse(w http.ResponseWriter, r *http.Request, a *archive) {
	s.showViewer(w, r, a, a.name, placeIn(r.URL.Query()), "serve", s.dir(a.name))
}

// browseCopy opens the offline copy of an archive.
func (s *Server) browseCopy(w http.ResponseWriter, r *http.Request, a *archive) {
	s.showViewer(w, r, a, a.name+copyMark, "", "mirror", "--serve", filepath.Join(s.o.Folder, exports, a.name))
}

// showViewer leads to a place in what a command serves.
func (s *Server) showViewer(w http.ResponseWriter, r *http.Request, a *archive, of, place string, command ...string) {
	at, err := s.view(r.Context(), of, append(command, "--listen=127.0.0.1:0"))
	if err != nil {
		s.problem(w, r, http.StatusConflict, err.Error(), "/a/"+a.name)
		return
	}
	http.Redirect(w, r, at+place, http.StatusSeeOther)
}

// placeIn returns the path of serve for a query.
func placeIn(q url.Values) string {
	switch {
	case q.Get("q") != "":
		return "search?" + url.Values{"q": {q.Get("q")}}.Encode()
	case q.Get("url") != "":
		return "go?" + url.Values{"url": {q.Get("url")}}.Encode()
	case q.Get("page") == "changes":
		return "changes"
	case q.Get("page") == "report":
		return "report"
	}
	return ""
}

func (s *Server) dir(name string) string { return s.o.Folder + string(os.PathSeparator) + name }
