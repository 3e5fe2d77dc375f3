package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/net/http/httpguts"

	"curtsy/crawler"
	"curtsy/crawler/known"
	"curtsy/crawler/rebuild"
	"curtsy/crawler/revisit"
	"curtsy/crawler/status"
	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// crawlFlags are the flags shared by crawl and resume. Only flags that were given override the
// configuration.
type crawlFlags struct {
	round    *revisit.Options // for update
	index    bool
	mirror   string
	config   string
	json     bool
	verbose  bool
	metrics  string
	set      config
	noLogin  bool
	noReport bool
	failFast bool
	header   []string
	startFlags
	crawlEnd
}

// startFlags say where a crawl starts.
type startFlags struct {
	seeds    string
	bare     bool // the seed was given without a scheme
	sitemaps []string
	since    string
	given    crawler.Given
	known    []string
}

// crawlEnd is the result of a crawl, for the rest of the command.
type crawlEnd struct {
	ran    bool           // something was crawled
	found  int            // URLs that the archive knows afterwards
	ended  crawler.Result // for a round
	others bool           // the seed failed, but other pages were fetched
}

// command makes a command with the flags of every crawl, and those of list.
func (f *crawlFlags) command(use string, list vars, run func(*cobra.Command, []string) error) *cobra.Command {
	c := newCommand(use, list, run)
	f.set.register(c.Flags())
	flags(c.Flags(), vars{"config": &f.config, "known": &f.known, "fail-fast": &f.failFast, "index": &f.index,
		"mirror": &f.mirror, "header": &f.header, "no-login": &f.noLogin, "no-report": &f.noReport, "json": &f.json,
		"metrics": &f.metrics, "verbose,v": &f.verbose})
	return c
}

// lay applies the given flags to c.
func (f *crawlFlags) lay(cmd *cobra.Command, c *config) {
	given := f.set.keys()
	for i, k := range c.keys() {
		if cmd.Flags().Changed(k.flag) {
			k.value.Set(given[i].value)
		}
	}
}

// settings combines the defaults (or the archive's settings), file, variables and flags; later
// ones take precedence.
func (f *crawlFlags) settings(u *ui, cmd *cobra.Command, c config) (config, error) {
	if f.config != "" {
		if err := readConfig(&c, f.config); err != nil {
			return c, err
		}
	}
	if err := u.readEnv(&c); err != nil {
		return c, err
	}
	f.lay(cmd, &c)
	if err := layHeader(&c, f.header); err != nil {
		return c, err
	}
	c.takeSecrets()
	if cmd.Flags().Changed("known") {
		return c, layKnown(&c, f.known)
	}
	return c, nil
}

// layKnown replaces the archive's indexes by those of --known; "" means none.
func layKnown(c *config, list []string) error {
	c.Known = nil
	for _, name := range list {
		if name == "" {
			continue
		}
		path, err := filepath.Abs(name)
		if err != nil {
			return err
		}
		c.Known = append(c.Known, path)
	}
	return nil
}

// layHeader adds the fields of --header to those of the file, and checks all.
func layHeader(c *config, list []string) error {
	if len(list) == 0 {
		return checkHeader(c.Fetch.Header)
	}
	c.Fetch.Header = maps.Clone(c.Fetch.Header)
	if c.Fetch.Header == nil {
		c.Fetch.Header = map[string]string{}
	}
	for _, field := range list {
		name, value, ok := strings.Cut(field, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return usagef("--header 'Accept-Language: de'", "--header %q: expected 'Name: value'", fieldName(field))
		}
		c.Fetch.Header[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return checkHeader(c.Fetch.Header)
}

// fieldName returns the leading part of a field that may be its name, since the rest may be a
// secret.
func fieldName(field string) string {
	if i := strings.IndexFunc(field, func(r rune) bool { return !httpguts.IsTokenRune(r) }); i >= 0 {
		return field[:i]
	}
	return field
}

// readEnv applies the variables, and rejects unknown ones.
func (u *ui) readEnv(c *config) error {
	if wrong := unknownVariables(os.Environ()); len(wrong) > 0 {
		return usagef("unset "+strings.Join(slices.Sorted(maps.Keys(wrong)), " "), "%s",
			strings.Join(slices.Sorted(maps.Values(wrong)), "\n"))
	}
	return readEnv(c, os.LookupEnv)
}

func crawlCmd(u *ui) *cobra.Command {
	f := &crawlFlags{}
	var dir string
	var dry bool
	c := f.command("crawl URL...", vars{"seeds": &f.seeds, "sitemap": &f.sitemaps, "since": &f.since, "archive": &dir,
		"dry-run": &dry}, func(cmd *cobra.Command, a []string) error {
		run := crawlAndMirror
		if dry {
			run = dryRun
		}
		return f.crawl(u, cmd, a, dir, run)
	})
	c.Args = cobra.ArbitraryArgs
	return c
}

// crawl crawls the site of the given URLs into dir; "" for the default.
func (f *crawlFlags) crawl(u *ui, cmd *cobra.Command, a []string, dir string,
	run func(*ui, *crawlFlags, *config, weburl.URL) error) error {
	seed, err := f.readSeeds(u, a)
	if err != nil {
		return err
	}
	c, err := f.settings(u, cmd, defaults())
	if err != nil {
		return err
	}
	c.Archive = cmp.Or(dir, c.Archive, archiveName(seed.Host()))
	if f.bare {
		if seed, err = f.chooseScheme(u, &c, seed); err != nil {
			return err
		}
	}
	if err := f.sameLogin(&c, seed); err != nil {
		return err
	}
	err = run(u, f, &c, seed)
	if plain, ok := f.plainAnswers(u, &c, seed, err); ok {
		return run(u, f, &c, plain)
	}
	return err
}

// archiveName returns the default directory of an archive: the host name, in characters allowed
// on every system. A directory of an earlier version keeps its name.
func archiveName(host string) string {
	if _, err := os.Stat(host); err == nil {
		return host
	}
	return strings.NewReplacer(":", "_", "[", "", "]", "").Replace(host)
}

func (u *ui) logger(verbose bool) *slog.Logger {
	level := slog.LevelWarn
	if verbose {
		level = slog.LevelDebug
	}
	if u.quiet {
		level = slog.LevelError
	}
	if !verbose {
		return slog.New(peopleHandler{u, level})
	}
	return slog.New(slog.NewTextHandler(lineWriter{u}, &slog.HandlerOptions{Level: level}))
}

// openKnown opens the indexes of other archives. Those named by the archive are untrusted: they
// must not be devices, nor on other machines.
func (f *crawlFlags) openKnown(u *ui, c *config, o *crawler.Options) (done func(), err error) {
	if len(c.Known) == 0 {
		return func() {}, nil
	}
	hint := "an index made by curtsy export DIR OUT.cdxj, or by pywb or cdxj-indexer"
	for _, name := range c.Known {
		if len(f.known) > 0 {
			break
		}
		hint = `put it back, or give --known with where it is now; --known "" goes on without it`
		if strings.HasPrefix(filepath.ToSlash(name), "//") || !filepath.IsAbs(name) {
			err = errors.New("an archive from somebody else may name any file")
		} else if st, failed := os.Stat(name); failed != nil {
			err = errors.Unwrap(failed)
		} else if !st.Mode().IsRegular() {
			err = storage.ErrIrregular
		}
		if err != nil {
			return nil, exitWith(exitFailed, fmt.Errorf("the crawl has --known %s: %w", oneLine(name), err), hint)
		}
	}
	k, err := known.Open("", c.Known)
	if err != nil && len(f.known) > 0 {
		return nil, usagef(hint, "--known: %v", err)
	} else if err != nil {
		return nil, exitWith(exitFailed, fmt.Errorf("--known: %w", err), hint)
	}
	u.say("--known: %s of other archives", legible.Count(k.Len(), "response"))
	o.Known = k
	return func() { _ = k.Close() }, nil
}

// runCrawl crawls until the end or a signal, and prints the result.
func runCrawl(u *ui, f *crawlFlags, c *config, seed weburl.URL) error {
	o, err := crawlOptions(c, seed, u.logger(f.verbose))
	if err != nil {
		return err
	}
	ctx, stop, finish, release := u.signals()
	defer release()
	pressed := newKeys(u, c.Delay, finish)
	defer pressed.close()
	bar := newProgress(u, pressed.hint)
	defer bar.close()
	o.Steer = pressed.steer
	o.Watch = func(s status.Status) {
		limitMemory(s.Discovered)
		bar.show(s)
	}
	u.attach(&o)
	endMetrics, err := watchMetrics(f.metrics, c.Archive, &o)
	if err != nil {
		return err
	}
	defer endMetrics()
	o.Tell = func(text string) { u.say("%s", text) }
	closeKnown, err := f.openKnown(u, c, &o)
	if err != nil {
		return err
	}
	defer closeKnown()
	o.Round, o.Given = f.round, f.given
	var failure *crawllog.Visit
	if f.failFast {
		o.OnVisit = func(_ context.Context, v *crawllog.Visit) error {
			if failure == nil && fails(v, c.Fetch.Retries) {
				failure = v
				finish()
			}
			return nil
		}
	}
	if o.Since, err = f.sinceDate(); err != nil {
		return err
	}
	if err := ofTheSite(&o); err != nil {
		return err
	}
	if c.LoggedIn != "" {
		u.say("logging in with %s: sent to %s only, never stored; links that log out are skipped",
			c.LoggedIn, seed.Origin())
	}
	_, err = os.Lstat(c.Archive)
	fresh := errors.Is(err, fs.ErrNotExist)
	cr, err := f.open(ctx, u, c, &o)
	if err != nil {
		return err
	}
	defer func() { cr.Close() }()
	if cr.Finished() && o.Round == nil {
		return f.nothingLeft(u, cr, c, seed)
	}
	floor := u.frugal(cr.Counts().Discovered)
	defer runtime.KeepAlive(floor)
	f.ran = true
	result, err := cr.Run(ctx, stop)
	for err == nil && result.Ending == crawler.Done &&
		cr.RoundOpen() { // after its sitemaps were read, its pages are chosen
		cr.Close()
		if cr, err = crawler.Open(c.Archive, o); err != nil {
			return archiveError(err, c.Archive)
		}
		result, err = cr.Run(ctx, stop)
	}
	f.found = result.Counts.Discovered
	pressed.close()
	bar.close()
	if isA[*storage.DamageError](err) {
		return archiveError(err, c.Archive)
	}
	if err != nil {
		return exitWith(exitFailed, err, c.again())
	}
	if result.Ending == crawler.Unreachable && fresh { // created by this command, and empty
		cr.Close()
		if err := os.RemoveAll(c.Archive); err != nil {
			u.say("%v", err)
		}
	}
	if f.round != nil && result.Ending != crawler.Unreachable {
		f.ended = result
	} else {
		u.result(f, result)
	}
	switch {
	case failure != nil:
		why := fmt.Errorf("%s: %s", failure.URL, cmp.Or(failure.Error, fmt.Sprintf("HTTP %d", failure.Status)))
		return exitWith(exitFailed, why, "curtsy explain "+quoted(c.Archive)+" "+quoted(failure.URL))
	case result.Ending == crawler.Done:
		return f.seedError(cr, c, seed)
	case f.round != nil && result.Ending == crawler.Unreachable:
		return exitWith(exitFailed, result.Err, "the same command later; what the archive has stays")
	}
	return endingError(result, c.again(), c.Archive)
}

// open opens the crawl of an archive, and says what of an earlier run is continued.
func (f *crawlFlags) open(ctx context.Context, u *ui, c *config, o *crawler.Options) (*crawler.Crawl, error) {
	if name := strangersIn(c.Archive); name != "" {
		u.say("%s already holds other files (%s); they are left untouched", c.Archive, oneLine(name))
	}
	imported, err := rebuild.ReadLinks(ctx, c.Archive, *o)
	if imported > 0 {
		u.say("read the links of %s that were imported", legible.Count(imported, "URL"))
	}
	if err != nil && ctx.Err() == nil { // otherwise it is continued next time
		return nil, archiveError(err, c.Archive)
	}
	cr, err := crawler.Open(c.Archive, *o)
	if errors.Is(err, crawler.ErrUnfinished) {
		u.say("%s: its crawl is not finished, and is continued; the next update visits its pages again", c.Archive)
		o.Round, f.round = nil, nil
		cr, err = crawler.Open(c.Archive, *o)
	}
	if err != nil {
		return nil, archiveError(err, c.Archive)
	}
	if !cr.Finished() || o.Round != nil {
		return cr, nil
	}
	again, err := cr.SeedAgain()
	if err != nil {
		cr.Close()
		return nil, archiveError(err, c.Archive)
	}
	if again {
		u.say("%s: its seed failed; asking for it again", c.Archive)
	}
	return cr, nil
}

// nothingLeft prints the result of a crawl that had already finished.
func (f *crawlFlags) nothingLeft(u *ui, cr *crawler.Crawl, c *config, seed weburl.URL) error {
	n := cr.Counts()
	own := n.OfSite()
	u.say("%s: the crawl of %s is finished: %d fetched, %d failed, %d skipped", c.Archive, seed, own.Fetched,
		own.Failed, own.Disregarded)
	u.result(f, crawler.Result{Ending: crawler.Done, State: cr.State(), Counts: n})
	return f.seedError(cr, c, seed)
}

// limitMemory sets the soft memory limit of the Go runtime: room for a few large documents, and
// for the fingerprints of all URLs. Those of ten million URLs take 160 MB, and must not take
// twice as much.
func limitMemory(urls int) {
	fingerprints := 16 * int64(urls)
	limit := max(min(120<<20+fingerprints, 152<<20), 32<<20+fingerprints) + collectFloor
	if was := debug.SetMemoryLimit(-1); limit < was || limit > was+1<<20 {
		debug.SetMemoryLimit(limit)
	}
}

const (
	// collectAt is GOGC. Little memory is live, and most garbage is buffers without pointers.
	collectAt = 25
	// collectFloor is the size of an allocation that is never touched: it counts as live heap
	// but uses no memory. Without it, the first megabytes of a crawl are collected thirty
	// times, a sixth of its processor time.
	collectFloor = 32 << 20
)
