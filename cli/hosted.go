package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"curtsy/app"
	"curtsy/crawler"
	"curtsy/storage/crawllog"
)

// runHosted runs a command line for the page of curtsy app, like Main for a terminal: messages
// go to h.Err, data to h.Out.
func runHosted(args []string, h app.Hooks) app.Outcome {
	u := &ui{in: strings.NewReader(""), out: &dataWriter{w: cmp.Or(h.Out, io.Discard)}, err: cmp.Or(h.Err, io.Discard),
		host: &h}
	err := cmp.Or(execute(h.Ctx, u, args), u.out.failure())
	if err == nil {
		return app.Outcome{Code: exitDone}
	}
	o := app.Outcome{Code: exitCode(err), Err: clean(err.Error())}
	if e, ok := errors.AsType[*exitError](err); ok {
		o.Try = clean(e.try)
	}
	return o
}

// until returns the context of a command that has nothing to finish. The first signal cancels
// it, the second ends the process. For a command run by the page, it is the page's context.
func (u *ui) until() (ctx context.Context, release func()) {
	if u.host != nil {
		return context.WithCancel(u.host.Ctx)
	}
	ctx, release = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, release)
	return ctx, release
}

// runs adapts work to cobra, with the context of until.
func (u *ui) runs(work func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		ctx, release := u.until()
		defer release()
		return work(ctx, args)
	}
}

// signals returns two contexts: stop is canceled by the first signal or by finish, ctx by the
// second.
func (u *ui) signals() (ctx, stop context.Context, finish, release func()) {
	if u.host != nil {
		ctx, cancel := context.WithCancel(u.host.Ctx)
		stop, finish = context.WithCancel(u.host.Stop)
		return ctx, stop, finish, cancel
	}
	ctx, cancel := context.WithCancel(context.Background())
	stop, ask := context.WithCancel(ctx)
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	finish = func() {
		if stop.Err() != nil {
			cancel()
			return
		}
		u.say("finishing requests in flight; interrupt again to stop at once")
		ask()
	}
	go func() {
		for range ch {
			finish()
		}
	}()
	return ctx, stop, finish, func() { signal.Stop(ch); close(ch); ask(); cancel() }
}

// attach lets the page watch and steer a crawl.
func (u *ui) attach(o *crawler.Options) {
	if u.host == nil {
		return
	}
	u.host.Began(o.Pace.Delay)
	o.Steer, o.Watch = u.host.Steer, u.host.Watch
	o.OnVisit = func(_ context.Context, v *crawllog.Visit) error {
		u.host.Visit(v.URL)
		return nil
	}
}

// frugal limits the memory of a process that only crawls; the result must stay alive as long as
// the crawl.
func (u *ui) frugal(urls int) []byte {
	if u.host != nil {
		return nil
	}
	limitMemory(urls)
	debug.SetGCPercent(collectAt)
	return make([]byte, collectFloor)
}
