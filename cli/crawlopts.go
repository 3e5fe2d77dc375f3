package cli

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/mail"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/publicsuffix"

	"curtsy/crawler"
	"curtsy/crawler/fetch"
	"curtsy/crawler/render"
	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
	"curtsy/politeness"
	"curtsy/politeness/rules"
	"curtsy/storage"
)

// crawlOptions makes the options of a crawl from the settings. Invalid settings are usage
// errors that name the key.
func crawlOptions(c *config, seed weburl.URL, logger *slog.Logger) (crawler.Options, error) {
	o, err := offlineOptions(c, seed, logger)
	if err == nil {
		o.Archive.UserAgent = userAgent(c)
		err = set(c, &o, contactOptions, loginOptions, renderOptions)
	}
	return o, err
}

// offlineOptions makes options for commands that send no requests, and so need no contact, login
// or browser; imported archives have none.
func offlineOptions(c *config, seed weburl.URL, logger *slog.Logger) (crawler.Options, error) {
	o := crawler.Options{
		Seed:        seed,
		Limits:      crawler.Limits{Pages: c.Limits.MaxPages, Bytes: int64(c.Limits.MaxBytes), Time: c.Limits.MaxTime},
		RelNofollow: c.Politeness.RelNofollow,
		SiteFiles: crawler.SiteFiles{MaxRobotsAge: c.Politeness.RobotsMaxAge, UsageFiles: c.Politeness.UsageFiles,
			GuessSitemap: c.Politeness.GuessSitemap, SitemapHosts: cmp.Or(c.Politeness.SitemapHosts, -1)},
		Traps:      judge.Traps(c.Traps),
		Retry:      crawler.Retry{Retries: c.Fetch.Retries, RetryBase: c.Fetch.RetryBase},
		Remembered: crawler.Remembered{Settings: c, Public: c.public()},
		Hooks:      crawler.Hooks{Logger: logger},
		Archive: storage.Options{Prefix: c.Storage.Prefix, SegmentSize: int64(c.Storage.SegmentSize),
			MinFree: int64(c.Storage.MinFree), Logger: logger,
			Software: "curtsy/" + version, Operator: c.Contact,
			RobotsLine: "obeyed (" + c.Politeness.Dialect + "), X-Robots-Tag and meta robots too", Fail: failpoint()},
	}
	if c.Contact != "" {
		o.Archive.UserAgent = userAgent(c)
	}
	err := set(c, &o, checkAmounts, checkPrefix, digestOption, scopeOptions, rulesOptions, paceOptions, fetchOptions)
	return o, err
}

// set takes steps that set options from settings, or check settings, until one fails.
func set(c *config, o *crawler.Options, steps ...func(*config, *crawler.Options) error) error {
	for _, step := range steps {
		if err := step(c, o); err != nil {
			return err
		}
	}
	return nil
}

func scopeOptions(c *config, o *crawler.Options) error {
	o.Scope.MaxDepth = c.Scope.MaxDepth
	var err error
	if o.Scope.Include, err = patterns("scope.include", c.Scope.Include); err != nil {
		return err
	}
	if o.Scope.Exclude, err = patterns("scope.exclude", c.Scope.Exclude); err != nil {
		return err
	}
	switch c.Scope.Requisites {
	case "same-host":
	case "any":
		o.Scope.AnyRequisites = true
	default:
		return usagef("--requisites same-host, or --requisites any", "scope.requisites: %q is not same-host or any",
			c.Scope.Requisites)
	}
	if err := reach(c.Scope.Reach, o.Seed, &o.Scope); err != nil {
		return err
	}
	if err := checkNames(c); err != nil {
		return err
	}
	o.Names = crawler.Names{FollowSeed: c.Scope.FollowSeed, Aliases: c.Scope.Aliases, AllowHosts: c.Scope.AllowHosts}
	o.Scope.SkipAlternates = c.Scope.SkipAlternates
	o.Scope.SkipTypes, o.Scope.SkipLarger = c.Scope.SkipTypes, int64(c.Scope.SkipLarger)
	if bad := judge.CheckTypes(c.Scope.SkipTypes); bad != "" {
		return usagef("--skip-type 'video/*'", "scope.skip_types: %q is not a media type", bad)
	}
	if c.Concurrency < 1 || c.Concurrency > 256 {
		return usagef("--concurrency 1", "concurrency: %d is not between 1 and 256", c.Concurrency)
	}
	return nil
}

// reach sets the extent of the scope around the seed.
func reach(to string, seed weburl.URL, s *judge.Scope) error {
	switch to {
	case "host":
	case "prefix":
		path := seed.Path()
		s.Prefix = seed.Origin() + path[:strings.LastIndexByte(path, '/')+1]
	case "domain":
		s.Port = strings.TrimPrefix(seed.Host(), seed.Hostname())
		if _, err := netip.ParseAddr(strings.Trim(seed.Hostname(), "[]")); err == nil {
			return nil // an IP address has no subdomains
		}
		s.Domain = seed.Hostname()
		if d, err := publicsuffix.EffectiveTLDPlusOne(s.Domain); err == nil {
			s.Domain = d
		}
	default:
		return usagef("--scope host, prefix or domain", "scope.reach: %q is not one of host, prefix and domain", to)
	}
	return nil
}

func patterns(key string, list []string) ([]*regexp.Regexp, error) {
	var res []*regexp.Regexp
	for _, s := range list {
		re, err := regexp.Compile(s)
		if err != nil {
			return nil, patternError(key, s, err)
		}
		res = append(res, re)
	}
	return res, nil
}

func rulesOptions(c *config, o *crawler.Options) error {
	d, err := rules.ParseDialect(c.Politeness.Dialect)
	if err != nil {
		return usagef("politeness.dialect: rfc9309, yandex, or 1994", "politeness.dialect: %v", err)
	}
	if !productToken.MatchString(c.Agent) {
		return usagef("--agent curtsy", "agent: %q is not a product token: use letters, - and _ only (RFC 9309 §2.2.1)",
			c.Agent)
	}
	o.Rules = rules.Options{Agents: append([]string{c.Agent}, c.Politeness.Agents...), Dialect: d,
		MaxCrawlDelay: c.Politeness.MaxCrawlDelay}
	return nil
}

var productToken = regexp.MustCompile(`^[A-Za-z_-]+$`)

// checkAgents rejects empty names. Files and pages can be tested for any token (MJ12bot); only
// our own must follow RFC 9309 §2.2.1.
func checkAgents(agents []string) error {
	for _, a := range agents {
		if strings.TrimSpace(a) == "" {
			return usagef("--agent MJ12bot", "agent: %q does not name a crawler", a)
		}
	}
	return nil
}

func paceOptions(c *config, o *crawler.Options) error {
	o.Pace = politeness.Options{Delay: c.Delay, Concurrency: c.Concurrency, Adaptive: c.Politeness.Adaptive,
		MaxRetryAfter: c.Politeness.MaxRetryAfter, MaxSlowdown: c.Politeness.MaxSlowdown,
		MaxFailures: c.Politeness.MaxFailures}
	for _, s := range c.Politeness.Quiet {
		w, err := quietWindow(s)
		if err != nil {
			return usagef(`politeness.quiet: ["08:00-18:00"]`, "politeness.quiet: %v", err)
		}
		o.Pace.Quiet = append(o.Pace.Quiet, w)
	}
	return nil
}

// quietWindow parses "08:00-18:30", local time.
func quietWindow(s string) (politeness.Window, error) {
	from, to, ok := strings.Cut(s, "-")
	start, err1 := time.Parse("15:04", strings.TrimSpace(from))
	end, err2 := time.Parse("15:04", strings.TrimSpace(to))
	if !ok || err1 != nil || err2 != nil {
		return politeness.Window{}, fmt.Errorf("%q is not of the form HH:MM-HH:MM", s)
	}
	since := func(t time.Time) time.Duration {
		return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute
	}
	return politeness.Window{Start: since(start), End: since(end), Location: time.Local}, nil
}

func fetchOptions(c *config, o *crawler.Options) error {
	f := &o.Fetch
	*f = fetch.Options{
		UserAgent: userAgent(c),
		Timeouts: fetch.Timeouts{ConnectTimeout: c.Fetch.ConnectTimeout, HeadTimeout: c.Fetch.HeadTimeout,
			IdleTimeout: c.Fetch.IdleTimeout, TotalTimeout: c.Fetch.TotalTimeout},
		MaxBody: int64(c.Fetch.MaxBody), AllowHost: o.Seed.Hostname(), Logger: o.Logger,
		Proxy: fetch.ProxyFromEnvironment(), Header: http.Header{},
	}
	f.Ceiling = politeness.NewBandwidth(int64(c.Politeness.LimitRate))
	if err := checkHeader(c.Fetch.Header); err != nil {
		return err
	}
	for name, value := range c.Fetch.Header {
		f.Header.Set(name, value) // without credentials: see takeSecrets, and fetch.Secret
	}
	if c.Fetch.Language != "" {
		languages, err := acceptLanguage(c.Fetch.Language)
		if err != nil {
			return err
		}
		f.Header.Set("Accept-Language", languages)
	}
	if c.Fetch.Proxy != "" {
		proxy, err := fetch.ProxyURL(c.Fetch.Proxy)
		if err != nil {
			return usagef("--proxy http://host:port, or --proxy socks5://host:port", "fetch.proxy: %v", err)
		}
		f.Proxy = proxy
	}
	if c.Fetch.Cookies != "false" {
		jar, err := cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List})
		if err != nil {
			return err
		}
		f.Cookies, o.SessionCookies = jar, c.Fetch.Cookies == autoCookies
	}
	return nil
}

// renderOptions sets which pages are rendered, and by which browser.
func renderOptions(c *config, o *crawler.Options) error {
	switch c.Render.Pages {
	case "none", "":
		return nil
	case "auto":
		o.Render = crawler.RenderBare
	case "all":
		o.Render = crawler.RenderAll
	default:
		return usagef("--render auto, or --render all", "render.pages: %q is not one of none, auto and all",
			c.Render.Pages)
	}
	path, err := render.Find(c.Render.Browser)
	if err != nil {
		return exitWith(exitUsage, fmt.Errorf("--render: %w", err), "--browser with the path of a Chromium or "+
			"Chrome, or the ws:// address of a running one (Debian: apt install chromium)")
	}
	o.Browser = render.New(render.Options{Browser: path, Dir: c.Archive, UserAgent: userAgent(c),
		Timeout: c.Render.Timeout, Memory: int64(c.Render.MaxMemory)})
	return nil
}

func userAgent(c *config) string {
	if c.Contact == "" {
		return c.Agent + "/" + version
	}
	return c.Agent + "/" + version + " (+" + c.Contact + ")"
}

// contactOptions checks the contact, which is part of the User-Agent.
func contactOptions(c *config, o *crawler.Options) error {
	if c.Contact == "" && isLoopback(o.Seed) {
		return nil
	}
	if c.Contact == "" {
		return usagef("--contact you@example.org, or --contact https://example.org/crawler",
			"%s: a contact is needed so that the site's owner can reach you; it is sent in the User-Agent",
			o.Seed.Host())
	}
	u, err := url.Parse(c.Contact)
	isURL := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
	a, err := mail.ParseAddress(strings.TrimPrefix(c.Contact, "mailto:"))
	if isMail := err == nil && a.Name == ""; isURL || isMail {
		return nil
	}
	return usagef("--contact you@example.org", "contact: %q is not a mail address or an http URL", c.Contact)
}

// isLoopback reports whether the host is this machine.
func isLoopback(u weburl.URL) bool {
	host := strings.Trim(u.Hostname(), "[]")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}

// quoted quotes a word for the shell.
func quoted(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:%@+,=") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// failpointVariable is for tests only.
const failpointVariable = "CURTSY_FAILPOINT"

// failpoint kills the process like kill -9 at the named point of a commit:
// CURTSY_FAILPOINT=NAME, or NAME:COUNT for the COUNTth time. It is used to test durability; see
// storage.Options.
func failpoint() func(string) {
	name, count, _ := strings.Cut(os.Getenv(failpointVariable), ":")
	if name == "" {
		return nil
	}
	after, err := strconv.ParseInt(count, 10, 64)
	if err != nil {
		after = 1
	}
	var passed atomic.Int64
	return func(point string) {
		if point == name && passed.Add(1) == after {
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Kill()
			}
			select {} // until the signal takes effect
		}
	}
}
