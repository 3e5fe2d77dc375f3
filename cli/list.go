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
		run, columns, keys := list, listColumns, []string{"state", "reason", "status", "type", "depth", "url"}
		if f.versions { // their filters apply to visits
			run, columns, keys = listVersions, versionColumns, []string{"url", "status", "type"}
		}
		if f.json {
			f.format = "json"
		}
		keep, err := f.filters(keys)
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

// filters parses the flags; keys are the allowed filter keys.
func (f *listFlags) filters(keys []string) (list []filter, err error) {
	given := slices.Clone(f.where)
	for _, flag := range [][2]string{{"state", f.state}, {"reason", f.reason}, {"status", f.status}} {
		if flag[1] != "" && !slices.Contains(keys, flag[0]) {
			return nil, usagef("--where url=/news/",
				"--%s applies to URLs: list --versions is filtered by url, status and type", flag[0])
		}
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
		if !ok || !slices.Contains(keys, key) {
			return nil, usagef("--where status=404", "--where %q: want KEY=VALUE with a key of %s", text,
				strings.Join(keys, ", "))
		}
		pass, err := filterOn(key, value)
		if err != nil {
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

// filterOn selects by a column. It rejects values that no URL can have.
func filterOn(key, value string) (filter, error) {
	switch key {
	case "state": // what is not part of the crawl does not count as skipped
		if value == stateWord("disregarded") {
			value = "disregarded"
		}
		if !slices.Contains([]string{"queued", "fetched", "failed", "disregarded"}, value) {
			return nil, usagef("--state fetched", "no state %q: states are queued, fetched, failed and skipped", value)
		}
		return func(r *inventory.Row) bool { return r.State == value && judge.Belongs(r.Rule.Rule) }, nil
	case "reason":
		return func(r *inventory.Row) bool {
			return strings.EqualFold(r.Rule.Rule, value) || hasPrefixFold(r.Reason, value)
		}, nil
	case "type":
		return func(r *inventory.Row) bool { return hasPrefixFold(r.Type, value) }, nil
	case "depth":
		if _, err := strconv.ParseUint(value, 10, 31); err != nil {
			return nil, usagef("--where depth=2", "depth %q: expected a number of links from the seed", value)
		}
		return func(r *inventory.Row) bool { return strconv.Itoa(r.Depth) == value }, nil
	case "status":
		n, err := strconv.Atoi(strings.Replace(value, "xx", "00", 1))
		if err != nil || n != 0 && (n < 100 || n > 999) {
			return nil, usagef("--status 404, or --status 4xx", "status %q: expected a number or a class such as 4xx",
				value)
		}
		class := strings.TrimSuffix(value, "xx")
		return func(r *inventory.Row) bool {
			return strconv.Itoa(r.Status) == value || class != value && strconv.Itoa(r.Status/100) == class
		}, nil
	}
	value = strings.ToLower(value)
	return func(r *inventory.Row) bool { return strings.Contains(strings.ToLower(r.URL), value) }, nil
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
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
