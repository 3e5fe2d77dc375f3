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

// names are the program's names in various distributions.
var names = [...]string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
	"headless_shell", "chrome"}

// Find returns the program or address of a browser: asked, if it is set and exists, else the first of
// the usual names in PATH. The error is ErrNoBrowser.
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

// Browser renders pages. Its program is started for the first page, and again if it has exited. It is
// safe for concurrent use.
type Browser struct {
	o    Options
	mu   sync.Mutex
	on   *process
	ways ways
}

// ways records the clicks on links within applications.
type ways struct {
	sync.Mutex
	taken map[string]bool
	left  int // clicks that led to other documents, less those handled within one
}

// process is a running browser.
type process struct {
	ctx   context.Context
	stop  func()
	wall  *wall
	agent string
}

// New makes a Browser. The caller must Close it.
func New(o Options) *Browser {
	o.Quiet = cmp.Or(o.Quiet, 500*time.Millisecond)
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.Limit = cmp.Or(o.Limit, 15*time.Minute)
	o.MaxAsked = cmp.Or(o.MaxAsked, 1000)
	o.MaxHTML = cmp.Or(o.MaxHTML, 16<<20)
	o.Memory = cmp.Or(o.Memory, 1<<30)
	return &Browser{o: o}
}

// Close ends the browser. A browser that was not started here is only disconnected.
func (b *Browser) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.on != nil {
		b.on.stop()
		b.on = nil
	}
}

// process returns the running browser, starting one if necessary.
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

// profile creates an empty profile directory, replacing one that a kill has left.
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

// flags are the options of a browser that can reach no network. chromedp adds --no-sandbox for root,
// without which Chromium refuses to run as root, and makes the kernel end the browser with this program
// (Linux).
func flags(program, profile, proxy string) []chromedp.ExecAllocatorOption {
	list := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	for _, f := range [...]struct {
		name  string
		value any
	}{
		{"proxy-server", proxy},
		{"proxy-bypass-list", "<-loopback>"}, // not even this machine is contacted directly
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
		{"disable-site-isolation-trials", true}, // frames belong to the page's target, and so do their requests
		{"disable-features", "IsolateOrigins,site-per-process,Translate,OptimizationHints,MediaRouter," +
			"DialMediaRouteProvider,AutofillServerCommunication,CertificateTransparencyComponentUpdater," +
			"Prerender2,SpeculationRulesPrefetchFuture," +
			// the crawl has its own address guard
			"LocalNetworkAccessChecks,PrivateNetworkAccessSendPreflights,BlockInsecurePrivateNetworkRequests"},
	} {
		list = append(list, chromedp.Flag(f.name, f.value))
	}
	return append(list, chromedp.ExecPath(program), chromedp.UserDataDir(profile))
}
