package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"curtsy/crawler/render"
	"curtsy/frontier/judge"
	"curtsy/internal/legible"
	"curtsy/internal/localweb"
	"curtsy/publish/mirror"
)

// Parameters of browsing a mirror: concurrent tabs, links to click per page, and the time limit
// of a page.
const (
	browseTabs   = 2
	browseClicks = 2
	browseTime   = 10 * time.Second
)

// findBrowser finds and starts the browser. The caller closes it.
func (f *mirrorFlags) findBrowser() (*render.Browser, error) {
	path, err := render.Find(f.browser)
	if err != nil {
		return nil, exitWith(exitUsage, fmt.Errorf("--browser: %w", err),
			"--browser with the path of a Chromium or Chrome (Debian: apt install chromium)")
	}
	return render.New(render.Options{Browser: path, Quiet: 300 * time.Millisecond, Timeout: browseTime,
		Limit: time.Minute}), nil
}

// browse opens pages of a mirror; dir is its archive, or "".
func (f *mirrorFlags) browse(ctx context.Context, u *ui, dir, out string, b mirror.Browsing) (*mirror.Opened, error) {
	browser, err := f.findBrowser()
	if err != nil {
		return nil, err
	}
	defer browser.Close()
	o := mirror.Options{Twin: judge.SamePage}
	if dir != "" {
		a, err := openBoth(dir)
		if err != nil {
			return nil, err
		}
		defer a.Close()
		if o, err = mirrorOptions(a); err != nil {
			return nil, err
		}
		b.Archive = a.Archive
		if !f.repair {
			sayOlder(u, a, dir, out)
		}
	}
	bar := newStepBar(u)
	defer bar.close()
	o.Watch = bar.showMirror
	b.Tabs, b.Clicks, b.Look = browseTabs, browseClicks, looker(browser, b.Lost != nil)
	opened, err := mirror.Browse(ctx, out, o, b)
	if errors.Is(err, context.Canceled) {
		again := "curtsy mirror --check --browser " + quoted(f.browser) + " " + quoted(out)
		if f.repair {
			again = "curtsy mirror --repair " + quoted(dir) + " " + quoted(out)
		}
		return nil, exitWith(exitStopped, errors.New("stopped; not all pages were opened"), again)
	}
	if err != nil {
		return nil, checkError(err, out)
	}
	return opened, nil
}

// sayOlder prints a note if a mirror is older than the last round of its archive: then changed
// pages differ.
func sayOlder(u *ui, a *opened, dir, out string) {
	info, err := os.Stat(filepath.Join(out, mirror.ReportFile))
	if n := len(a.state.Rounds); err == nil && n > 0 && a.state.Rounds[n-1].After(info.ModTime()) {
		u.say("%s is older than the last update of %s, and pages that changed since differ; try: curtsy mirror %s %s",
			out, dir, quoted(dir), quoted(out))
	}
}

// looker returns a function that shows pages in a browser.
func looker(browser *render.Browser, documents bool) func(context.Context, mirror.View) (*mirror.Seen,
	*mirror.Seen, error) {
	return func(ctx context.Context, v mirror.View) (*mirror.Seen, *mirror.Seen, error) {
		l := render.Looking{Document: documents,
			Answer: func(_ context.Context, r render.Request) (*render.Response, error) {
				a, err := v.Answer(r.URL, r.Main)
				return (*render.Response)(a), err
			},
			File: func(url string) bool { return v.Files != "" && strings.HasPrefix(url, v.Files) }}
		if v.Press != nil {
			l.Press = func(s *render.Seen) int { return v.Press((*mirror.Seen)(s)) }
		}
		first, after, err := browser.Look(ctx, v.URL, l)
		return (*mirror.Seen)(first), (*mirror.Seen)(after), err
	}
}

// sayOpened prints what a browser showed of a mirror. Pages that are right in no form, or that
// lose their text, are an error.
func sayOpened(u *ui, f *mirrorFlags, out string, r *mirror.Opened) error {
	lost := 0
	for i := range r.Judged {
		p := &r.Judged[i]
		if p.Lost || p.Right == "none" {
			lost++
		}
		if f.json || p.Right == "disk" {
			continue
		}
		for _, d := range p.Differs {
			u.print("%s: %s: %s: %s", p.URL, d.Form, d.What, d.Detail)
		}
	}
	if !f.json {
		u.print("%s: %d of %s opened: %d right from disk, %d only by mirror --serve, %d in neither; "+
			"%d of %s lead where they do on the site",
			out, r.Pages, legible.Count(r.Of, "page"), r.Disk, r.Served, r.None, r.Arrive,
			legible.Count(r.Clicks, "link"))
	}
	if lost == 0 {
		return nil
	}
	return exitWith(exitFailed, fmt.Errorf("%s: %s not right from disk", out, plural(lost, "1 page is", "pages are")),
		"curtsy mirror --repair DIR "+quoted(out)+", which shows these without their scripts")
}

// repairMirror makes the mirror of an archive, opens its pages, and makes it again with the
// still form of pages that their scripts break.
func repairMirror(ctx context.Context, u *ui, f *mirrorFlags, dir, out string) error {
	made := *f
	made.json, made.quiet = false, true
	made.still = func(string) ([]byte, bool, error) { return nil, false, nil } // all pages are judged with scripts
	if err := exportMirror(ctx, u, &made, dir, out); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "curtsy-still-")
	if err != nil {
		return exitWith(exitFailed, err, "")
	}
	defer os.RemoveAll(tmp)
	still := map[string]string{}
	place := func() string { return filepath.Join(tmp, strconv.Itoa(len(still))) }
	opened, err := f.browse(ctx, u, dir, out,
		mirror.Browsing{Sample: f.sample, Lost: func(url string, html []byte) error {
			still[url] = place()
			return os.WriteFile(still[url], html, 0o600)
		}})
	if err != nil {
		return err
	}
	made = *f
	made.still = func(url string) ([]byte, bool, error) {
		name, ok := still[url]
		if !ok {
			return nil, false, nil
		}
		html, err := os.ReadFile(name)
		return html, true, err
	}
	if len(still) > 0 || f.json {
		err = exportMirror(ctx, u, &made, dir, out)
	}
	if !f.json {
		u.print("%s: %d of %s opened, %s shown without scripts now", out, opened.Pages,
			legible.Count(opened.Of, "page"), plural(len(still), "1 page is", "pages are"))
	}
	return err
}

// serveMirror serves a mirror until it is stopped.
func serveMirror(ctx context.Context, u *ui, out string, f *mirrorFlags) error {
	root, err := os.OpenRoot(out)
	if err != nil {
		return checkError(err, out)
	}
	defer root.Close()
	site, err := mirror.NewSite(root, localweb.Names{Public: f.public})
	if err != nil {
		return checkError(err, out)
	}
	listen, err := localAddress("--listen", f.listen, f.public,
		"--public, if everybody who can reach it may see the mirror")
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return usagef("--listen 127.0.0.1:0 for any free port", "listen on %s: %v", listen, err)
	}
	u.print("serving %s at http://%s/", out, l.Addr())
	if !f.public {
		u.say("browsers are led to http://%s.localhost:%d/; one that does not find it: http://%s/%s/",
			site.Token, l.Addr().(*net.TCPAddr).Port, l.Addr(), site.Token)
	}
	return serveAll(ctx, []net.Listener{l}, site.Handler())
}
