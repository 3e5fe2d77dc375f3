package replay

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/text/message"

	"curtsy/internal/legible"
	"curtsy/internal/locale"
	"curtsy/internal/weburl"
)

//go:embed ui
var files embed.FS

// phrase is a message with its arguments. It is translated when the page is rendered.
type phrase struct {
	Text string
	Args []any
}

func say(text string, args ...any) phrase { return phrase{text, args} }

// views are the templates by language. They are parsed on first use, which would delay every
// command.
var views = sync.OnceValue(func() map[string]*template.Template {
	printers, err := locale.Printers()
	if err != nil {
		panic(err) // the message catalogue is compiled in
	}
	list := map[string]*template.Template{}
	for tag, p := range printers {
		list[tag] = template.Must(template.New("").Funcs(functions(p)).ParseFS(files, "ui/*.html"))
	}
	return list
})

// functions are the template functions of a language.
func functions(p locale.Printer) template.FuncMap {
	in := func(layout string) func(time.Time) string { // translations define the order of a date
		return func(t time.Time) string { return t.UTC().Format(p.Sprintf(layout)) }
	}
	day := in("2 January 2006")
	return template.FuncMap{
		"day": day, "month": in("January 2006"), "clock": in("2 January 2006, 15:04:05 UTC"),
		"iso":  func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"size": p.Size, "t": func(text string, args ...any) string { return p.Sprintf(text, args...) },
		"word": func(text any) string { return p.Word(fmt.Sprint(text)) },
		"say": func(s phrase) string {
			args := slices.Clone(s.Args)
			for i, a := range args {
				if t, ok := a.(time.Time); ok {
					args[i] = day(t)
				}
			}
			return p.Sprintf(s.Text, args...)
		},
		"weekdays": func() (names []string) {
			for d := range 7 {
				names = append(names, p.Sprintf(time.Weekday((d+1)%7).String()))
			}
			return names
		},
		"initial": func(text string) int { _, n := utf8.DecodeRuneInString(text); return n },
		"count": func(n int, thing string) string {
			key := "counted " + thing // in English, numbers have a plural instead of a label
			if label := p.Sprintf(message.Key(key, key)); label != key {
				return label + ": " + p.Sprintf("%d", n)
			}
			if n != 1 {
				thing += "s"
			}
			return p.Sprintf("%d", n) + " " + thing
		},
	}
}

// serveUI handles requests to the UI's origin.
func (s *Server) serveUI(w http.ResponseWriter, r *http.Request) error {
	s.uiPolicy(w, "'none'")
	at := target(r)
	path, _, _ := strings.Cut(at, "?")
	for prefix, serve := range map[string]func(http.ResponseWriter, *http.Request, string) error{
		"/versions/": s.versions, "/timegate/": s.timegate, "/timemap/link/": s.timemap,
		"/compare/": s.compareTexts, "/beside/": s.comparePages,
	} {
		if text, ok := strings.CutPrefix(at, prefix); ok {
			return serve(w, r, text)
		}
	}
	switch path {
	case "/":
		return s.start(w, r)
	case "/search":
		return s.search(w, r)
	case "/cdx":
		return s.cdx(w, r)
	case "/changes":
		return s.changes(w, r)
	case "/compare":
		return s.choose(w, r)
	case "/report":
		return s.report(w, r)
	case "/go":
		return s.goTo(w, r)
	case "/style.css":
		return file(w, "ui/style.css", "text/css; charset=utf-8")
	case "/icon.svg", "/favicon.ico":
		return file(w, "ui/icon.svg", "image/svg+xml")
	}
	if a, ok := parseAddress(at); ok {
		return s.replay(w, r, a)
	}
	return s.show(w, r, http.StatusNotFound, "lost", &page{Title: say("No such page")})
}

// uiPolicy lets a page of the UI load its own files, and a frame from the given source.
func (s *Server) uiPolicy(w http.ResponseWriter, frame string) {
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src "+
		"'self'"+s.probeSource()+"; frame-src "+frame+"; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	w.Header().Set("X-Frame-Options", "DENY")
	w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
}

// probeSource is the origin of the probe, as an additional img-src.
func (s *Server) probeSource() string {
	if at := s.probe(); at != "" {
		return " " + strings.TrimSuffix(at, probePath)
	}
	return ""
}

func file(w http.ResponseWriter, name, typ string) error {
	w.Header().Set("Content-Type", typ)
	w.Header().Set("Cache-Control", "private, max-age=3600")
	b, err := files.ReadFile(name)
	_, _ = w.Write(b)
	return err
}

// page is the data that every view has.
type page struct {
	Title    phrase
	Lang     string // language of the view
	Query    string // text of the search box
	URL      string // text of the address box
	Searches bool
	Probe    string // URL of an image to load; "": none
	View     any
}

// show renders a view of the UI.
func (s *Server) show(w http.ResponseWriter, r *http.Request, status int, view string, p *page) error {
	for _, from := range s.sources {
		p.Searches = p.Searches || from.Search != nil
	}
	p.Probe = s.probe()
	p.Lang = locale.Choose(r.Header.Get("Accept-Language"))
	var b bytes.Buffer
	if err := views()[p.Lang].ExecuteTemplate(legible.Writer{W: &b}, view+".html", p); err != nil {
		s.log.Error("render", "view", view, "err", err)
		return refuse(w, http.StatusInternalServerError, "this page cannot be shown")
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Add("Vary", "Accept-Language")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
	return nil
}

// goTo redirects from the address box to a page.
func (s *Server) goTo(w http.ResponseWriter, r *http.Request) error {
	text := strings.TrimSpace(r.FormValue("url"))
	u, err := weburl.Parse(text)
	if err != nil && len(s.sources) > 0 {
		seed := s.sources[0].Seed
		if rest, ok := strings.CutPrefix(text, seed.Host()); ok {
			text = rest // the scheme is missing
		} else if !strings.HasPrefix(text, "/") {
			text = "/" + text
		}
		u, err = seed.Resolve(text)
	}
	if err != nil {
		return s.show(w, r, http.StatusBadRequest, "lost", &page{Title: say("Not an address"), URL: text})
	}
	return redirect(w, http.StatusSeeOther, pathTo(s.now().UTC().Format(tsFormat), u))
}
