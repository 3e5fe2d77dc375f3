package app

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"time"

	"curtsy/internal/legible"
	"curtsy/internal/locale"
	"curtsy/internal/localweb"
)

//go:embed ui
var ui embed.FS

// language renders pages in one language.
type language struct {
	locale.Printer
	Tag   string
	views *template.Template
}

// newLanguages returns all languages, by tag.
func newLanguages() (map[string]*language, error) {
	printers, err := locale.Printers()
	if err != nil {
		return nil, err
	}
	all := map[string]*language{}
	for tag, p := range printers {
		l := &language{Printer: p, Tag: tag}
		l.views, err = template.New("").Funcs(template.FuncMap{
			"t": l.say, "number": l.number, "size": l.Size, "duration": l.duration, "date": l.date, "word": l.Word,
		}).ParseFS(ui, "ui/*.html")
		if err != nil {
			return nil, err
		}
		all[tag] = l
	}
	return all, nil
}

// say translates a text.
func (l *language) say(text string, args ...any) string { return l.Sprintf(text, args...) }

func (l *language) number(n int) string { return l.Sprintf("%d", n) }

// duration formats a duration with appropriate precision.
func (l *language) duration(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return l.say("%d s", int(d.Seconds()+0.5))
	case d < 90*time.Minute:
		return l.say("%d min", int(d.Minutes()+0.5))
	case d < 48*time.Hour:
		return l.say("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return l.say("%d days", int(d.Hours())/24)
}

// date formats a time in the local time zone.
func (l *language) date(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}

// languageCookie stores the chosen language.
const languageCookie = "curtsy-app-language"

func (s *Server) language(r *http.Request) *language {
	wishes := []string{}
	if c, err := r.Cookie(languageCookie); err == nil {
		wishes = append(wishes, c.Value)
	}
	return s.langs[locale.Choose(append(wishes, r.Header.Get("Accept-Language"))...)]
}

// setLanguage stores a language and redirects back.
func (s *Server) setLanguage(w http.ResponseWriter, r *http.Request) {
	tag := r.PostFormValue("language")
	if s.langs[tag] != nil {
		http.SetCookie(w, &http.Cookie{Name: languageCookie, Value: tag, Path: "/", HttpOnly: true,
			SameSite: http.SameSiteStrictMode, MaxAge: 365 * 24 * 3600})
	}
	to := path.Clean("/" + r.PostFormValue("back"))
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// page is the data that every view has.
type page struct {
	Title, Lang, Version string
	Back                 string // path of the page, without its query
	Tags                 []string
	View                 any
}

// show renders a view. Invisible characters and bidirectional controls are marked, since titles
// and URLs come from sites.
func (s *Server) show(w http.ResponseWriter, r *http.Request, status int, view, title string, data any) {
	l := s.language(r)
	p := &page{Title: title, Lang: l.Tag, Version: s.o.Version, Back: r.URL.Path, View: data}
	if r.Method == http.MethodPost {
		p.Back = "/"
	}
	for _, tag := range locale.Tags {
		p.Tags = append(p.Tags, tag.String())
	}
	var b bytes.Buffer
	if err := l.views.ExecuteTemplate(legible.Writer{W: &b}, view+".html", p); err != nil {
		s.log.Error("render", "view", view, "err", err)
		localweb.Refuse(w, http.StatusInternalServerError, "this page cannot be shown")
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Vary", "Accept-Language, Cookie")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(b.Bytes())
	}
}

// problemView is the data of an error page.
type problemView struct{ What, Back string }

func (s *Server) problem(w http.ResponseWriter, r *http.Request, status int, what, back string) {
	l := s.language(r)
	s.show(w, r, status, "problem", l.say("That did not work"), &problemView{l.Word(what), back})
}

func (s *Server) lost(w http.ResponseWriter, r *http.Request) {
	s.problem(w, r, http.StatusNotFound, "There is no such page.", "/")
}

// quit ends the program like a signal. Running crawls are continued at the next start.
func (s *Server) quit(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, http.StatusOK, "outside", s.language(r).say("Ended"), true)
	time.AfterFunc(quitAfter, s.finish)
}

// quitAfter is the time for sending the last response.
const quitAfter = 200 * time.Millisecond

// outside answers requests without a key, or with that of a program that has ended.
func (s *Server) outside(w http.ResponseWriter, r *http.Request) {
	l := s.language(r)
	s.show(w, r, http.StatusForbidden, "outside", l.say("Closed"), false)
}

var types = map[string]string{"style.css": "text/css; charset=utf-8", "app.js": "text/javascript; charset=utf-8",
	"icon.svg": "image/svg+xml"}

func (s *Server) static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	b, err := ui.ReadFile("ui/" + name)
	if err != nil || types[name] == "" {
		localweb.Refuse(w, http.StatusNotFound, "no such file")
		return
	}
	w.Header().Set("Content-Type", types[name])
	w.Header().Set("Cache-Control", "private, max-age=3600")
	w.Header().Set("ETag", fmt.Sprintf("%q", s.o.Version+name))
	_, _ = w.Write(b)
}

// errName means that the typed name differs from that of the archive.
var errName = fmt.Errorf("the name that was typed is not that of the archive: nothing was deleted")

// askDelete asks for confirmation before an archive is deleted.
func (s *Server) askDelete(w http.ResponseWriter, r *http.Request, a *archive) {
	c := s.seen(a)
	s.show(w, r, http.StatusOK, "delete", s.language(r).say("Delete an archive"), &c)
}
