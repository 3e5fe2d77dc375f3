package cli

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"curtsy/app"
	"curtsy/publish/export"
)

// appFlags are the flags of app.
type appFlags struct {
	listen  string
	noOpen  bool
	anyPort bool // use another port if that of listen is taken
}

func appCmd(u *ui) *cobra.Command {
	f := &appFlags{listen: "127.0.0.1:8610"}
	list := vars{"listen": &f.listen, "no-open": &f.noOpen}
	return newCommand("app [FOLDER]", list, func(c *cobra.Command, a []string) error {
		f.anyPort = !c.Flags().Changed("listen")
		ctx, release := u.until()
		defer release()
		return f.run(ctx, u, strings.Join(a, ""))
	})
}

func (f *appFlags) run(ctx context.Context, u *ui, folder string) (err error) {
	if folder == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return usagef("curtsy app FOLDER", "no home directory: %v", err)
		}
		folder = filepath.Join(home, "Curtsy")
	}
	if f.listen, err = localAddress("--listen", f.listen, false,
		"--listen 127.0.0.1:0: the page is for this machine alone"); err != nil {
		return err
	}
	page, files, err := listeners(ctx, &serveFlags{listen: f.listen})
	if err != nil && f.anyPort {
		page, files, err = listeners(ctx, &serveFlags{listen: "127.0.0.1:0"})
	}
	if err != nil {
		return err
	}
	defer page.Close()
	defer files.Close()
	if folder, err = filepath.Abs(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return exitWith(exitFailed, err, "another FOLDER")
	}
	s, err := app.New(app.Options{Folder: folder, Page: page.Addr().String(), Files: files.Addr().String(),
		Version: version,
		Formats: export.Formats(), Command: runHosted, Quote: quoted, Logger: u.logger(false)})
	if errors.Is(err, app.ErrInUse) {
		at := app.Running(folder)
		if at == "" || f.noOpen {
			return exitWith(exitFailed, err, "the page that is open, or another FOLDER")
		}
		u.say("%v: opening its page", err) // started twice, for example by a double click
		openBrowser(u, at)
		return nil
	}
	if err != nil {
		return exitWith(exitFailed, err, "another FOLDER")
	}
	at := s.First(app.Name)
	if runtime.GOOS == "darwin" { // Safari does not resolve names below localhost
		at = s.First("127.0.0.1")
	}
	u.print("the page on %s is at %s", folder, at)
	u.say("a browser that does not find it: %s", s.First("127.0.0.1"))
	if !f.noOpen {
		openBrowser(u, at)
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	ending := make(chan struct{})
	go func() { defer close(ending); s.Go(ctx); end() }()
	err = serveAll(ctx, []net.Listener{page, files}, s.Page(), s.Files())
	<-ending
	return cmp.Or(err, s.Close())
}
