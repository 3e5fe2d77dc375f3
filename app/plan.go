package app

import (
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// plan describes a new crawl.
type plan struct {
	URL, Name, Contact                   string
	Scope, Requisites                    string
	Pages, Depth, Bytes, Time            string
	Include, Exclude                     string
	Delay, Language, Cookies, RenderMode string
	Follow                               bool
	Make                                 []string // formats, or "mirror"
}

func readPlan(v url.Values) *plan {
	get := func(name string) string { return strings.TrimSpace(v.Get(name)) }
	return &plan{URL: get("url"), Name: get("name"), Contact: get("contact"), Scope: get("scope"),
		Requisites: get("requisites"),
		Pages:      get("pages"), Depth: get("depth"), Bytes: get("bytes"), Time: get("time"), Include: get("include"),
		Exclude: get("exclude"),
		Delay:   get("delay"), Language: get("language"), Cookies: get("cookies"), RenderMode: get("render"),
		Follow: get("follow") != "",
		Make:   v["make"]}
}

// args returns the command line of the crawl into a directory.
func (p *plan) args(dir string) []string {
	args := []string{"crawl", p.URL, "--archive", dir}
	for _, f := range []struct{ flag, value, usual string }{
		{"--contact", p.Contact, ""}, {"--scope", p.Scope, "host"}, {"--requisites", p.Requisites, "same-host"},
		{"--max-pages", p.Pages, ""}, {"--max-depth", p.Depth, ""}, {"--max-bytes", p.Bytes, ""},
		{"--max-time", p.Time, ""},
		{"--include", p.Include, ""}, {"--exclude", p.Exclude, ""}, {"--delay", p.Delay, ""},
		{"--language", p.Language, ""},
		{"--cookies", p.Cookies, ""}, {"--render", p.RenderMode, ""},
	} {
		if f.value != "" && f.value != f.usual {
			args = append(args, f.flag+"="+f.value)
		}
	}
	if p.Follow {
		args = append(args, "--follow-seed")
	}
	return args
}

// checkURL returns what is wrong with the address of a site; "": nothing.
func (p *plan) checkURL() string {
	switch {
	case p.URL == "":
		return "Type the address of a site."
	case strings.HasPrefix(p.URL, "-") || strings.ContainsAny(p.URL, " \t\n"):
		return "This is not the address of a site."
	}
	return ""
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// exports is the directory of exports; no archive can have that name.
const exports = "exports"

// maxName is the maximum length of an archive's name.
const maxName = 100

// isName reports whether a name is valid for an archive on every system.
func isName(name string) bool {
	return name != "" && len(name) <= maxName && !notInNames.MatchString(name) && name[0] != '.' && name[0] != '-' &&
		!strings.HasSuffix(name, ".") && name != exports && filepath.IsLocal(name)
}

// nameFor returns an unused name for the archive of a site, based on its host.
func nameFor(address string, taken func(string) bool) string {
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	base := "archive"
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		base = strings.Trim(notInNames.ReplaceAllString(u.Host, "_"), "._-")
	}
	if !isName(base) {
		base = "archive"
	}
	name := base
	for n := 2; taken(name); n++ {
		name = base + "-" + strconv.Itoa(n)
	}
	return name
}

// commandLine formats a command for the shell.
func (s *Server) commandLine(args []string) string { return s.commandOf("curtsy", args) }

// commandOf is commandLine with the name or path of the program.
func (s *Server) commandOf(program string, args []string) string {
	words := []string{s.o.Quote(program)}
	for _, a := range args {
		words = append(words, s.o.Quote(a))
	}
	return strings.Join(words, " ")
}

// commands formats the commands of a plan, to be run in sequence.
func (s *Server) commands(p *plan) string {
	list := []string{s.commandLine(p.args(s.dir(p.Name)))}
	for _, format := range p.Make {
		if slices.Contains(s.makes(), format) {
			list = append(list, s.commandLine(s.making(p.Name, format).args))
		}
	}
	return strings.Join(list, " && \\\n  ")
}
