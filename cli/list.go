package cli

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"curtsy/frontier/judge"
	"curtsy/internal/legible"
	"curtsy/publish/inventory"
	"curtsy/usage"
)

// listFlags are the flags of list.
type listFlags struct {
	state, reason, format string
	status                string
	where                 []string
	usage                 []string
	versions, json        bool
}

func listCmd(u *ui) *cobra.Command {
	f := &listFlags{format: "table"}
	flags := vars{"state": &f.state, "reason": &f.reason, "status": &f.status, "where": &f.where,
		"usage": &f.usage, "versions": &f.versions, "format": &f.format, "json": &f.json}
	c := newCommand("list DIR", flags, func(_ *cobra.Command, a []string) error {
		run, columns, filters := list, listColumns, f.urlFilters
		if f.versions {
			run, columns, filters = listVersions, versionColumns, f.versionFilters
		}
		if f.json {
			f.format = "json"
		}
		keep, err := filters()
		if err != nil {
			return err
		}
		w, err := newRows(u, f.format, columns)
		if err != nil {
			return err
		}
		passed := false
		keep = append(keep, func(*inventory.Row) bool { passed = true; return true })
		if err := run(u, a[0], keep, w); err != nil || passed {
			return err
		}
		return f.checkReason()
	})
	c.MarkFlagsMutuallyExclusive("json", "format")
	return c
}

// checkReason rejects a reason that matches no rule.
func (f *listFlags) checkReason() error {
	known := append(judge.RuleNames(), "scope", "trap", "redirect")
	near := func(name string) bool { return hasPrefixFold(name, f.reason) || hasPrefixFold(f.reason, name) }
	if f.reason == "" || slices.ContainsFunc(known, near) {
		return nil
	}
	slices.Sort(known)
	return usagef("--reason robots.txt", "--reason %q: no such rule; there are %s", f.reason, strings.Join(known, ", "))
}

// list prints the URLs of an archive that match all filters.
func list(u *ui, dir string, keep []filter, w rowWriter) error {
	a, err := openBoth(dir)
	if err != nil {
		return err
	}
	defer a.Close()
	err = inventory.Rows(a.Archive, a.known, time.Now(), func(r *inventory.Row) error {
		if !passes(keep, r) {
			return nil
		}
		return w.write(r, listCells(r))
	})
	if err = cmp.Or(err, w.close()); err != nil {
		return archiveError(err, dir)
	}
	a.sayIncomplete(u)
	return nil
}

var listColumns = []column{{"url", 0}, {"state", -11}, {"reason", 0}, {"status", 6}, {"type", -24},
	{"bytes", 10}, {"digest", 0},
	{"first", 0}, {"last", 0}, {"depth", 5}, {"via", 0}, {"title", 0}, {"usage", 0}}

func listCells(r *inventory.Row) []string {
	return []string{r.URL, r.State, r.Reason, number(r.Status), r.Type, strconv.FormatInt(r.Bytes, 10), r.Digest,
		instant(r.First), instant(r.Last), strconv.Itoa(r.Depth), r.Via, r.Title, r.Usage.String()}
}

// filter reports whether a row is selected.
type filter func(*inventory.Row) bool

func passes(keep []filter, r *inventory.Row) bool {
	return !slices.ContainsFunc(keep, func(pass filter) bool { return !pass(r) })
}

// urlFilters returns the filters without --versions.
func (f *listFlags) urlFilters() ([]filter, error) {
	return f.filters("state", "reason", "status", "type", "depth", "url")
}

// filters parses the flags; keys are the allowed filter keys.
func (f *listFlags) filters(keys ...string) ([]filter, error) {
	var list []filter
	given := slices.Clone(f.where)
	for _, flag := range [][2]string{{"state", f.state}, {"reason", f.reason}, {"status", f.status}} {
		if flag[1] != "" {
			given = append(given, flag[0]+"="+flag[1])
		}
	}
	for _, text := range f.usage {
		pass, err := usageFilter(text)
		if err != nil {
			return nil, err
		}
		list = append(list, pass)
	}
	for _, text := range given {
		key, value, ok := strings.Cut(text, "=")
		if key == "state" && stateWord("disregarded") == value {
			value = "disregarded"
		}
		pass := filterOn(key, strings.ToLower(value))
		if !ok || pass == nil || !slices.Contains(keys, key) {
			return nil, usagef("--where status=404", "--where %q: want KEY=VALUE with a key of %s", text,
				strings.Join(keys, ", "))
		}
		if err := checkFilter(key, value); err != nil {
			return nil, err
		}
		list = append(list, pass)
	}
	return list, nil
}

// usageFilter selects by a usage preference.
func usageFilter(text string) (filter, error) {
	name, value, _ := strings.Cut(text, "=")
	category, err := usage.Parse(name)
	if err != nil {
		return nil, usagef("--usage train-ai=n", "%v", err)
	}
	want := usage.Value(value)
	switch value {
	case "unknown":
		want = usage.Unknown
	case "y", "n":
	default:
		return nil, usagef("--usage train-ai=n", "--usage %q: want y, n or unknown after the category", text)
	}
	return func(r *inventory.Row) bool { return r.Usage[category] == want }, nil
}

func filterOn(key, value string) filter {
	switch key {
	case "state": // what is not part of the crawl does not count as skipped
		return func(r *inventory.Row) bool { return r.State == value && judge.Belongs(r.Rule.Rule) }
	case "reason":
		return func(r *inventory.Row) bool {
			return strings.EqualFold(r.Rule.Rule, value) || hasPrefixFold(r.Reason, value)
		}
	case "type":
		return func(r *inventory.Row) bool { return hasPrefixFold(r.Type, value) }
	case "url":
		return func(r *inventory.Row) bool { return strings.Contains(strings.ToLower(r.URL), value) }
	case "depth":
		return func(r *inventory.Row) bool { return strconv.Itoa(r.Depth) == value }
	case "status":
		class := strings.TrimSuffix(value, "xx")
		return func(r *inventory.Row) bool {
			return strconv.Itoa(r.Status) == value || class != value && strconv.Itoa(r.Status/100) == class
		}
	}
	return nil
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// checkFilter rejects values that no URL can have.
func checkFilter(key, value string) error {
	switch key {
	case "state":
		if !slices.Contains([]string{"queued", "fetched", "failed", "disregarded"}, value) {
			return usagef("--state fetched", "no state %q: states are queued, fetched, failed and skipped", value)
		}
	case "status":
		n, err := strconv.Atoi(strings.Replace(value, "xx", "00", 1))
		if err != nil || n != 0 && (n < 100 || n > 999) {
			return usagef("--status 404, or --status 4xx", "status %q: expected a number or a class such as 4xx", value)
		}
	case "depth":
		if _, err := strconv.ParseUint(value, 10, 31); err != nil {
			return usagef("--where depth=2", "depth %q: expected a number of links from the seed", value)
		}
	}
	return nil
}

// number formats a number for a cell; "" for 0.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// instant formats a time for a cell; "" for none.
func instant(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// firstLine shortens text for a table.
func firstLine(s string, n int) string {
	s = cmp.Or(strings.Join(strings.Fields(s), " "), "-")
	return legible.Cut(s, n)
}

// The columns of list --versions.
var versionColumns = []column{{"url", 0}, {"captured", -20}, {"status", 6}, {"type", -24}, {"bytes", 10}, {"digest", 0},
	{"kept", -8}, {"shown", -5}, {"note", 0}, {"title", 0}, {"usage", 0}}

// versionFilters returns the filters with --versions, which apply to visits.
func (f *listFlags) versionFilters() ([]filter, error) {
	for _, flag := range [][2]string{{"state", f.state}, {"reason", f.reason}} {
		if flag[1] != "" {
			return nil, usagef("--where url=/news/",
				"--%s applies to URLs: list --versions is filtered by url, status and type", flag[0])
		}
	}
	return f.filters("url", "status", "type")
}

// listVersions prints the visits that match all filters.
func listVersions(_ *ui, dir string, keep []filter, w rowWriter) error {
	a, err := openShown(dir)
	if err != nil {
		return err
	}
	defer a.Close()
	err = inventory.Versions(a.Archive, time.Now(), func(v *inventory.Version) error {
		if !passes(keep, &inventory.Row{URL: v.URL, Status: v.Status, Type: v.Type, Usage: v.Usage}) {
			return nil
		}
		return w.write(v, versionCells(v))
	})
	return archiveError(cmp.Or(err, w.close()), dir)
}

func versionCells(v *inventory.Version) []string {
	shown := ""
	if v.Shown {
		shown = "shown"
	}
	return []string{v.URL, instant(&v.Captured), number(v.Status), v.Type, strconv.FormatInt(v.Bytes, 10), v.Digest,
		v.Kept, shown, v.Note, v.Title, v.Usage.String()}
}
