package cli

import (
	"cmp"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versionInfo is the output of version.
type versionInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"` // "" if the build does not have it
	Date     string `json:"date"`   // of the commit, RFC 3339
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func versionCmd(u *ui) *cobra.Command {
	var asJSON bool
	return newCommand("version", vars{"json": &asJSON}, func(*cobra.Command, []string) error {
		v := readVersion()
		if asJSON {
			u.json(v)
			return nil
		}
		commit := cmp.Or(v.Commit, "unknown")
		if v.Modified {
			commit += " (modified)"
		}
		u.print("curtsy %s", v.Version)
		u.print("commit %s %s", commit, v.Date)
		u.print("%s %s/%s", v.Go, v.OS, v.Arch)
		return nil
	})
}

// readVersion reads the build information of the program.
func readVersion() versionInfo {
	v := versionInfo{Version: version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.time":
			v.Date = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}
