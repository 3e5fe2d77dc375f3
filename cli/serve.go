package cli

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"curtsy/crawler/explain"
	"curtsy/internal/weburl"
	"curtsy/publish/replay"
	"curtsy/storage"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	listen                  string
	noScripts, open, public bool
}

func serveCmd(u *ui) *cobra.Command {
	f := &serveFlags{listen: "127.0.0.1:8600"}
	list := vars{"listen": &f.listen, "no-scripts": &f.noScripts, "open": &f.open, "public": &f.public}
	return newCommand("serve DIR...", list,
		u.runs(func(ctx context.Context, a []string) error { return serve(ctx, u, f, a) }))
}

// serveMemory is the soft memory limit of a server: up to 96 MiB of documents are rewritten in
// memory at a time.
const serveMemory = 120 << 20

// bounded sets the soft memory limit of the process to octets, plus ofURL for each URL of an
// archive, until restore is called. GOMEMLIMIT takes precedence.
func bounded(a *storage.Archive, octets, ofURL int64) (restore func()) {
	_, last, err := a.LastCommit()
	if err != nil || os.Getenv("GOMEMLIMIT") != "" { // the error is reported when the archive is read
		return func() {}
	}
	was := debug.SetMemoryLimit(octets + ofURL*int64(last.URLID))
	return func() { debug.SetMemoryLimit(was) }
}

// serve serves archives until it is stopped.
func serve(ctx context.Context, u *ui, f *serveFlags, dirs []string) error {
	if u.host == nil && os.Getenv("GOMEMLIMIT") == "" {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(serveMemory))
	}
	ui, content, err := listeners(ctx, f)
	if err != nil {
		return err
	}
	defer ui.Close()
	defer content.Close()
	opened := make([]string, len(dirs))
	for i, path := range dirs {
		if opened[i], err = asArchive(ctx, u, path); err != nil {
			return err
		}
	}
	sources, closeAll, err := openShelves(ctx, u, opened)
	defer closeAll()
	if err != nil {
		return err
	}
	s, err := replay.New(sources, replay.Options{UI: ui.Addr().String(), Content: content.Addr().String(),
		NoScripts: f.noScripts, Public: f.public, Logger: u.logger(false)})
	if err != nil {
		return err
	}
	at := "http://" + ui.Addr().String() + "/"
	u.print("serving %s at %s", strings.Join(dirs, " "), at)
	if f.public {
		u.say("everybody who can reach %s sees what may be shown; page content is on port %d", ui.Addr(),
			content.Addr().(*net.TCPAddr).Port)
	}
	if f.open {
		openBrowser(u, at)
	}
	return serveAll(ctx, []net.Listener{ui, content}, s.UI(), s.Content())
}

// listeners opens the UI's port, and the next or any free port for the content.
func listeners(ctx context.Context, f *serveFlags) (ui, content net.Listener, err error) {
	address, err := localAddress("--listen", f.listen, f.public,
		"--public, if everybody who can reach it may see the archives")
	if err != nil {
		return nil, nil, err
	}
	host, _, _ := net.SplitHostPort(address)
	var c net.ListenConfig
	if ui, err = c.Listen(ctx, "tcp", address); err != nil {
		return nil, nil, exitWith(exitFailed, err, "another --listen, such as 127.0.0.1:0")
	}
	next := ui.Addr().(*net.TCPAddr).Port + 1
	if content, err = c.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(next))); err != nil {
		content, err = c.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	}
	if err != nil {
		ui.Close()
		return nil, nil, exitWith(exitFailed, err, "another --listen")
	}
	return ui, content, nil
}

// localAddress returns a listening address that only this machine can reach, unless public.
// Without a host and public, it is 127.0.0.1. try is the hint for other addresses.
func localAddress(flag, address string, public bool, try string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", usagef(flag+" 127.0.0.1:8600", "%s %q: want ADDRESS:PORT", flag, address)
	}
	if host == "localhost" || host == "" && !public {
		return net.JoinHostPort("127.0.0.1", port), nil // so that the printed URL works
	}
	if ip := net.ParseIP(host); !public && (ip == nil || !ip.IsLoopback()) {
		return "", usagef(try, "%s %s is reachable from other machines", flag, address)
	}
	return address, nil
}

// openShelves opens all archives; closeAll closes those that were opened.
func openShelves(ctx context.Context, u *ui, dirs []string) (list []*replay.Source, closeAll func(), err error) {
	var shelves []*shelf
	closeAll = func() {
		for _, s := range slices.Backward(shelves) {
			s.close()
		}
	}
	names := map[string]int{}
	for _, dir := range dirs {
		names[filepath.Base(dir)]++
	}
	for _, dir := range dirs {
		name := filepath.Base(dir)
		if names[name] > 1 {
			name = dir
		}
		s, err := openShelf(ctx, u, dir)
		if err != nil {
			return nil, closeAll, err
		}
		shelves = append(shelves, s)
		list = append(list, &replay.Source{Open: s.read, Catalog: s.catalog, Name: name, Seed: s.seed,
			Search: s.texts.find, Explain: s.explain, Plots: s.plots, Report: s.report})
	}
	return list, closeAll, nil
}

// explain returns the output of the explain command, in lines.
func (s *shelf) explain(url weburl.URL) (lines []string) {
	e, err := s.take()
	if err != nil {
		return nil
	}
	defer s.giveBack(e)
	o, err := offlineOptions(&e.config, s.seed, s.u.logger(false))
	if err != nil {
		return nil
	}
	x, err := explain.URL(s.dir, url, o)
	if err != nil {
		return nil
	}
	state := stateWord(x.State)
	if reason := x.Reason.String(); reason != "" {
		state += ": " + reason
	}
	if !x.Known {
		state = "The crawl does not know this URL."
	}
	lines = append(lines, state)
	for _, d := range x.Decisions {
		if !d.Allow {
			lines = append(lines, strings.TrimSuffix("Excluded by the rule "+d.Rule+": "+d.Text, ": "))
		}
	}
	if x.StandsFor != "" {
		lines = append(lines, "It stands for "+x.StandsFor)
	}
	return lines
}

// serveAll runs servers until the context ends or one fails.
func serveAll(ctx context.Context, on []net.Listener, handlers ...http.Handler) error {
	ended := make(chan error, len(on))
	var servers []*http.Server
	for i, l := range on {
		s := &http.Server{Handler: handlers[i], ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
			MaxHeaderBytes: 64 << 10}
		servers = append(servers, s)
		go func() { ended <- s.Serve(l) }()
	}
	var first error
	left := len(on)
	select {
	case <-ctx.Done():
	case first = <-ended:
		left--
	}
	for _, s := range servers {
		stopServer(s)
	}
	for ; left > 0; left-- {
		<-ended
	}
	if first != nil && !errors.Is(first, http.ErrServerClosed) {
		return exitWith(exitFailed, first, "the same command again")
	}
	return nil
}

// stopServer shuts a server down, and waits for running requests.
func stopServer(s *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if s.Shutdown(ctx) != nil {
		_ = s.Close()
	}
}

// openBrowser asks the system to show a page.
func openBrowser(u *ui, at string) {
	name, args := "xdg-open", []string{at}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", at}
	}
	c := exec.Command(name, args...)
	if err := c.Start(); err != nil {
		u.say("no browser could be opened (%v): open %s", err, at)
		return
	}
	go func() { _ = c.Wait() }()
}
