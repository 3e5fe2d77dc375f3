package render

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"
)

// names are those that distributions give the program.
var names = [...]string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
	"headless_shell", "chrome"}

// Find is the program or address of a browser: what was asked for, if it is
// there, else the first of the usual names.
func Find(asked string) (string, error) {
	if strings.HasPrefix(asked, "ws://") || strings.HasPrefix(asked, "wss://") {
		return asked, nil
	}
	if asked != "" {
		path, err := exec.LookPath(asked)
		if err != nil {
			return "", fmt.Errorf("%w: %w", ErrNoBrowser, err)
		}
		return path, nil
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: none of %s is in PATH", ErrNoBrowser, strings.Join(names[:], ", "))
}

// Browser renders pages. Its program is started for the first of them, and
// anew where it has ended. It is safe for concurrent use.
type Browser struct {
	o    Options
	mu   sync.Mutex
	on   *process
	ways ways
}

// ways are the links that were taken within applications.
type ways struct {
	sync.Mutex
	taken map[string]bool
	left  int // how many more led to other documents than were taken within one
}

// process is a browser that runs.
type process struct {
	ctx   context.Context
	stop  func()
	wall  *wall
	agent string
}

// New makes a Browser. Close it.
func New(o Options) *Browser {
	o.Quiet = cmp.Or(o.Quiet, 500*time.Millisecond)
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.Limit = cmp.Or(o.Limit, 15*time.Minute)
	o.MaxAsked = cmp.Or(o.MaxAsked, 1000)
	o.MaxHTML = cmp.Or(o.MaxHTML, 16<<20)
	o.Memory = cmp.Or(o.Memory, 1<<30)
	return &Browser{o: o}
}

// Close ends the browser; one that was not started by us only loses the
// connection.
func (b *Browser) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.on != nil {
		b.on.stop()
		b.on = nil
	}
}

// process is the browser, started if it does not run.
func (b *Browser) process() (*process, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.on != nil && b.on.ctx.Err() == nil {
		return b.on, nil
	}
	if b.on != nil {
		b.on.stop()
		b.on = nil
	}
	on, err := b.start()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", b.o.Browser, err)
	}
	b.on = on
	return on, nil
}

func (b *Browser) start() (*process, error) {
	w, err := newWall()
	if err != nil {
		return nil, err
	}
	parent, stop := context.Background(), func() {}
	var profile string
	if strings.Contains(b.o.Browser, "://") {
		parent, stop = remote.NewAllocator(parent, b.o.Browser)
	} else {
		if profile, err = b.profile(); err != nil {
			w.Close()
			return nil, err
		}
		parent, stop = chromedp.NewExecAllocator(parent, append(flags(b.o.Browser, profile, w.address),
			confine(b.o.Memory))...)
	}
	ctx, cancel := chromedp.NewContext(parent, chromedp.WithErrorf(func(string, ...any) {}))
	p := &process{ctx: ctx, wall: w, stop: func() {
		cancel()
		stop()
		w.Close()
		if profile != "" {
			os.RemoveAll(profile)
		}
	}}
	v, err := chromedp.CallBrowser(ctx, browser.GetVersion, cdp.Empty{})
	if err != nil {
		p.stop()
		return nil, err
	}
	p.agent = strings.TrimSpace(v.UserAgent + " " + b.o.UserAgent)
	return p, nil
}

// profile makes an empty directory; one that a kill has left is emptied.
func (b *Browser) profile() (string, error) {
	if b.o.Dir == "" {
		return os.MkdirTemp("", "curtsy-browser-")
	}
	dir, err := filepath.Abs(filepath.Join(b.o.Dir, "browser.tmp"))
	if err != nil {
		return "", err
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	return dir, os.Mkdir(dir, 0o700)
}

// flags start a browser that talks to nobody. chromedp adds --no-sandbox where
// we are root, for whom Chromium does not start with it, and has the kernel end
// the browser with us (Linux).
func flags(program, profile, proxy string) []chromedp.ExecAllocatorOption {
	list := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	for _, f := range [...]struct {
		name  string
		value any
	}{
		{"proxy-server", proxy},
		{"proxy-bypass-list", "<-loopback>"}, // not even this machine is asked directly
		{"host-resolver-rules", "MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"},
		{"force-webrtc-ip-handling-policy", "disable_non_proxied_udp"},
		{"disable-quic", true},
		{"dns-prefetch-disable", true},
		{"no-pings", true},
		{"disable-component-update", true},
		{"disable-domain-reliability", true},
		{"disable-crash-reporter", true},
		{"mute-audio", true},
		{"disable-gpu", true},
		{"disk-cache-size", "1"},
		{"js-flags", "--max-old-space-size=512"},
		{"disable-site-isolation-trials", true}, // frames of a page are its own target's, and so are their requests
		{"disable-features", "IsolateOrigins,site-per-process,Translate,OptimizationHints,MediaRouter," +
			"DialMediaRouteProvider,AutofillServerCommunication,CertificateTransparencyComponentUpdater," +
			"Prerender2,SpeculationRulesPrefetchFuture," +
			// the crawl has its own guard
			"LocalNetworkAccessChecks,PrivateNetworkAccessSendPreflights,BlockInsecurePrivateNetworkRequests"},
	} {
		list = append(list, chromedp.Flag(f.name, f.value))
	}
	return append(list, chromedp.ExecPath(program), chromedp.UserDataDir(profile))
}
