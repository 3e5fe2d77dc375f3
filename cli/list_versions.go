package cli

import (
	"strconv"
	"time"

	"curtsy/publish/inventory"
	"curtsy/storage"
)

// The columns of list --versions.
var versionColumns = []column{{"url", 0}, {"captured", -20}, {"status", 6}, {"type", -24}, {"bytes", 10}, {"digest", 0},
	{"kept", -8}, {"shown", -5}, {"note", 0}, {"title", 0}, {"usage", 0}}

// versionFilters are the filters that tell of a visit, not of its URL.
func (f *listFlags) versionFilters() ([]filter, error) {
	for _, flag := range [][2]string{{"state", f.state}, {"reason", f.reason}} {
		if flag[1] != "" {
			return nil, usagef("--where url=/news/",
				"--%s applies to URLs: list --versions is filtered by url, status and type", flag[0])
		}
	}
	return f.filters("url", "status", "type")
}

// listVersions prints all visits that pass all filters.
func listVersions(u *ui, dir string, keep []filter, w rowWriter) (err error) {
	defer storage.Guard(&err)()
	a, err := openShown(dir)
	if err != nil {
		return err
	}
	defer a.Close()
	err = inventory.Versions(a.Archive, time.Now(), func(v *inventory.Version) error {
		r := inventory.Row{URL: v.URL, Status: v.Status, Type: v.Type, Usage: v.Usage}
		for _, pass := range keep {
			if !pass(&r) {
				return nil
			}
		}
		return w.write(v, versionCells(v))
	})
	if err == nil {
		err = w.close()
	}
	if err != nil {
		return archiveError(err, dir)
	}
	return nil
}

func versionCells(v *inventory.Version) []string {
	shown := ""
	if v.Shown {
		shown = "shown"
	}
	return []string{v.URL, instant(&v.Captured), number(v.Status), v.Type, strconv.FormatInt(v.Bytes, 10), v.Digest,
		v.Kept, shown, v.Note, v.Title, v.Usage.String()}
}
