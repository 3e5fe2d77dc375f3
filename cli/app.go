package cli

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"curtsy/app"
	"curtsy/publish/export"
)

// appFlags are the flags of app.
type appFlags struct {
	listen  string
	noOpen  bool
	anyPort bool // if that of listen is taken
}

func appCmd(u *ui) *cobra.Command {
	f := &appFlags{}
	c := &cobra.Command{
		Use:   "app [FOLDER]",
		Short: "a local page to archive, watch, read and keep sites without a terminal",
		Long: "app opens a page in the browser over the archives of FOLDER (default: Curtsy in the home directory): begin a\n" +
			"crawl after a look at what the site's owner allows, watch, pause and continue it, browse, search, export,\n" +
			"and visit sites again each day or week while the program runs. What ran when the program ended, killed or\n" +
			"not, is continued by the next.\n\n" +
			"The page is reachable from this machine only, and only with the key in the address that is printed.",
		Example: "  curtsy app\n  curtsy app ~/archives --no-open",
		Args: func(_ *cobra.Command, a []string) error {
			if len(a) > 1 {
				return usagef("curtsy app FOLDER", "app opens one folder, not %d", len(a))
			}
			return nil
		},
		RunE: func(c *cobra.Command, a []string) error {
			f.anyPort = !c.Flags().Changed("listen")
			folder := ""
			if len(a) > 0 {
				folder = a[0]
			}
			ctx, release := u.until()
			defer release()
			return f.run(ctx, u, folder)
		},
	}
	c.Flags().StringVar(&f.listen, "listen", "127.0.0.1:8610",
		"`ADDRESS` of this machine to listen on; port 0 is any free one")
	c.Flags().BoolVar(&f.noOpen, "no-open", false, "print the address, and open no browser")
	return c
}

// defaultFolder is where archives are kept, unless it is said.
func defaultFolder() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", usagef("curtsy app FOLDER", "no home directory: %v", err)
	}
	return filepath.Join(home, "Curtsy"), nil
}

func (f *appFlags) run(ctx context.Context, u *ui, folder string) (err error) {
	if folder == "" {
		if folder, err = defaultFolder(); err != nil {
			return err
		}
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
	if at := app.Running(folder); errors.Is(err, app.ErrInUse) && at != "" &&
		!f.noOpen { // started twice, as by a double click
		u.say("%v: opening its page", err)
		openBrowser(u, at)
		return nil
	}
	if errors.Is(err, app.ErrInUse) {
		return exitWith(exitFailed, err, "the page that is open, or another FOLDER")
	}
	if err != nil {
		return exitWith(exitFailed, err, "another FOLDER")
	}
	at := s.First(app.Name)
	if runtime.GOOS == "darwin" { // Safari does not find names below localhost
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
	err = serveBoth(ctx, [2]net.Listener{page, files}, [2]http.Handler{s.Page(), s.Files()})
	<-ending
	return cmp.Or(err, s.Close())
}
