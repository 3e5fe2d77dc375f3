package app

import (
	"cmp"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"curtsy/crawler/status"
	"curtsy/frontier/judge"
)

// crawlOn starts or continues a crawl.
func (s *Server) crawlOn(a *archive, kind string, args []string) (*activity, error) {
	return s.run(a, work{kind: kind, args: args, after: func(o Outcome) {
		a.forget()
		if o.Code == 0 {
			s.makeNext(a)
		}
	}})
}

func (s *Server) note(name string, change func(*intentions)) {
	if err := s.memory.change(name, change); err != nil {
		s.log.Error("the page's own file cannot be written", "err", err)
	}
}

// again returns the command that continues or updates an archive.
func (s *Server) again(name, command string, more ...string) []string {
	args := append([]string{command, s.dir(name)}, more...)
	if s.memory.of(name).Ours {
		args = append(args, "--as-archived")
	}
	return args
}

// mirrorFormat is the name of the offline copy among the formats.
const mirrorFormat = "mirror"

// makes lists the formats that the page offers.
func (s *Server) makes() []string {
	list := []string{mirrorFormat}
	for _, f := range []string{"zim", "wacz", "warc", "csv", "txt"} {
		if slices.Contains(s.o.Formats, f) {
			list = append(list, f)
		}
	}
	return list
}

// making returns the command that makes a format of an archive.
func (s *Server) making(name, format string) work {
	kind, out := "export", name+"."+format
	if format == mirrorFormat {
		kind, out = "mirror", name
	}
	return work{kind: kind, args: []string{kind, s.dir(name), filepath.Join(s.o.Folder, exports, out)}}
}

// make starts making a format.
func (s *Server) make(a *archive, format string, after func(Outcome)) error {
	if err := s.root.Mkdir(exports, 0o755); err != nil && !os.IsExist(err) {
		return err
	}
	if st, err := s.root.Lstat(exports); err != nil || !st.IsDir() {
		return errExports
	}
	w := s.making(a.name, format)
	w.after = after
	_, err := s.run(a, w)
	return err
}

var errExports = errors.New("exports in the folder is a file, not a directory: rename it and try again")

// makeNext makes the next format requested with the crawl.
func (s *Server) makeNext(a *archive) {
	if s.stop.Err() != nil {
		return
	}
	want := s.memory.of(a.name).Make
	if len(want) == 0 {
		return
	}
	err := s.make(a, want[0], func(o Outcome) {
		if s.stop.Err() != nil {
			return
		}
		s.note(a.name, func(i *intentions) { i.Make = want[1:] })
		if o.Code == 0 {
			s.makeNext(a)
		}
	})
	if err != nil {
		s.log.Error("make a file of the archive", "archive", a.name, "err", err)
	}
}

// continueAll continues what was running when the program last ended.
func (s *Server) continueAll() {
	for _, name := range s.names() {
		want, a := s.memory.of(name), s.find(name)
		switch {
		case a == nil:
		case want.Goes:
			if _, err := s.crawlOn(a, "crawl", s.again(name, "resume")); err != nil {
				s.log.Error("continue", "archive", name, "err", err)
			}
		case len(want.Make) > 0 && s.seen(a).State == "finished":
			s.makeNext(a)
		}
	}
}

// dueEvery is the interval of checks for due updates.
const dueEvery = 20 * time.Second

var periods = map[string]time.Duration{"day": 24 * time.Hour, "week": 7 * 24 * time.Hour}

// visitDue starts due updates, one at a time.
func (s *Server) visitDue() {
	for _, name := range s.names() {
		want := s.memory.of(name)
		if want.Every == "" || s.now().Before(want.Next) {
			continue
		}
		a := s.find(name)
		if a == nil {
			continue
		}
		if _, err := s.crawlOn(a, "update", s.again(name, "update")); err == nil {
			s.note(name, func(i *intentions) { i.Next = s.now().Add(periods[i.Every]) })
			return
		}
	}
}

// act handles the action of a form.
func (s *Server) act(w http.ResponseWriter, r *http.Request, a *archive) {
	if err := r.ParseForm(); err != nil {
		s.problem(w, r, http.StatusBadRequest, "This form cannot be read.", "")
		return
	}
	var err error
	to := "/a/" + a.name
	switch action := r.PathValue("action"); action {
	case "pause", "continue", "slower", "faster", "stop":
		s.steer(a, action)
	case "resume":
		_, err = s.crawlOn(a, "crawl", s.again(a.name, "resume"))
	case "unlimited":
		_, err = s.crawlOn(a, "crawl", s.again(a.name, "resume", "--max-pages=0", "--max-bytes=0"))
	case "follow":
		_, err = s.crawlOn(a, "crawl", s.again(a.name, "resume", "--follow-seed"))
	case "update":
		_, err = s.crawlOn(a, "update", s.again(a.name, "update"))
	case "every":
		every := r.PostForm.Get("every")
		err = s.memory.change(a.name, func(i *intentions) {
			if i.Every, i.Next = "", (time.Time{}); periods[every] > 0 {
				i.Every, i.Next = every, s.now().Add(periods[every])
			}
		})
	case "make":
		if format := r.PostForm.Get("format"); slices.Contains(s.makes(), format) {
			err = s.make(a, format, nil)
		}
	case "verify":
		_, err = s.run(a, work{kind: "verify", args: []string{"verify", s.dir(a.name)}})
	case "repair":
		s.stopViewers(a.name)
		_, err = s.run(a, work{kind: "repair", args: []string{"verify", s.dir(a.name), "--repair"},
			after: func(Outcome) { a.forget() }})
	case "delete":
		to = "/"
		err = s.remove(a, r.PostForm.Get("name"))
	default:
		s.lost(w, r)
		return
	}
	if err != nil {
		s.problem(w, r, http.StatusConflict, err.Error(), "/a/"+a.name)
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// forget discards the cached card.
func (a *archive) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.of = time.Time{}
}

// steer applies an action to a running command.
func (s *Server) steer(a *archive, action string) {
	a.mu.Lock()
	act := a.doing
	a.mu.Unlock()
	if act == nil || isDone(act.done) {
		return
	}
	switch action {
	case "stop":
		if act.crawls() {
			s.note(a.name, func(i *intentions) { i.Goes = false })
			act.finish()
		} else {
			act.drop()
		}
		select {
		case <-act.done:
		case <-time.After(2 * time.Second):
		}
	case "pause":
		act.change(func() { act.wanted.Pause = true })
		s.note(a.name, func(i *intentions) { i.Goes = false })
	case "continue":
		act.change(func() { act.wanted.Pause = false })
		s.note(a.name, func(i *intentions) { i.Goes = true })
	case "slower":
		act.change(func() { act.wanted.Delay = min(max(2*act.wanted.Delay, time.Second), slowest) })
	case "faster":
		act.change(func() { act.wanted.Delay = act.usual })
	}
}

// remove deletes an archive, if typed is its name.
func (s *Server) remove(a *archive, typed string) error {
	if typed != a.name {
		return errName
	}
	if a.isBusy() {
		return errBusy
	}
	s.stopViewers(a.name)
	if err := s.root.RemoveAll(a.name); err != nil {
		return err
	}
	s.mu.Lock()
	delete(s.archives, a.name)
	s.mu.Unlock()
	return s.memory.forget(a.name)
}

// archiveView is the data of an archive's page.
type archiveView struct {
	card
	Live     *liveView
	Status   *status.Status
	Rules    []ruleCount
	Files    []fileView
	Copy     bool // there is an offline copy
	Formats  []string
	Cron     string
	Service  string
	Commands []string
	Gone     bool // there is no archive, or not yet
}

type ruleCount struct {
	Rule  string
	Count int
}

func (s *Server) archivePage(w http.ResponseWriter, r *http.Request, a *archive) {
	l := s.language(r)
	v := &archiveView{card: s.seen(a), Live: s.live(a, l), Gone: !s.isArchive(a.name), Formats: s.makes()}
	if !v.Gone && v.State != "damaged" {
		dir := s.dir(a.name)
		if st, err := status.Read(dir); err == nil {
			v.Status, v.Rules = &st, rulesOf(&st)
		}
		update := s.again(a.name, "update")
		v.Cron, v.Service = s.schedules(a.name, append(slices.Clip(update), "--quiet"))
		for _, args := range [][]string{update, {"serve", dir, "--open"}, {"report", dir}} {
			v.Commands = append(v.Commands, s.commandLine(args))
		}
	}
	v.Files, v.Copy = s.filesOf(a.name)
	s.show(w, r, http.StatusOK, "archive", v.Title, v)
}

// schedules formats a command as a cron line and as systemd units, with percent signs escaped
// for each.
func (s *Server) schedules(name string, args []string) (cron, units string) {
	program, err := os.Executable() // cron and systemd do not search the shell's PATH
	if err != nil {
		program = "curtsy"
	}
	command := s.commandOf(program, args)
	unit := "~/.config/systemd/user/curtsy-" + name
	cron = "17 3 * * *  " + strings.ReplaceAll(command, "%", `\%`)
	units = "# " + unit + ".service\n[Service]\nType=oneshot\nExecStart=" + strings.ReplaceAll(command, "%", "%%") +
		"\n\n# " + unit + ".timer\n[Timer]\nOnCalendar=daily\nPersistent=true\n[Install]\nWantedBy=timers.target\n\n" +
		"# systemctl --user enable --now curtsy-" + name + ".timer"
	return cron, units
}

// rulesOf lists the rules that skipped URLs, most frequent first.
func rulesOf(st *status.Status) (list []ruleCount) {
	for rule, n := range st.Rules {
		if !slices.Contains(judge.InVain, rule) {
			list = append(list, ruleCount{rule, n})
		}
	}
	slices.SortFunc(list, func(a, b ruleCount) int {
		return cmp.Or(b.Count-a.Count, strings.Compare(a.Rule, b.Rule))
	})
	return list
}
