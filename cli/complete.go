package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// completeArguments offers archives where a command wants one, and leaves files
// to the shell elsewhere.
func completeArguments(root *cobra.Command) {
	for _, c := range root.Commands() {
		if fields := strings.Fields(c.Use); len(fields) > 1 && strings.HasPrefix(fields[1], "DIR") &&
			c.Name() != "man" && c.ValidArgsFunction == nil {
			c.ValidArgsFunction = completeArchive
		}
	}
}

// completeArchive lists the archives, and the directories on the way to others,
// that begin with what is typed.
func completeArchive(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	dir, begin := filepath.Split(typed)
	entries, err := os.ReadDir(filepath.Clean(dir + "."))
	if dir != "" {
		entries, err = os.ReadDir(dir)
	}
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var archives, others []string
	for _, e := range entries {
		name := e.Name()
		switch {
		case !strings.HasPrefix(name, begin) || strings.HasPrefix(name, ".") && begin == "" || !e.IsDir():
		case isArchive(filepath.Join(dir, name)):
			archives = append(archives, dir+name)
		default:
			others = append(others, dir+name+"/")
		}
	}
	if len(archives) > 0 {
		return archives, cobra.ShellCompDirectiveNoFileComp
	}
	return others, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

func isArchive(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "crawl.db"))
	return err == nil
}
