package cli

import "github.com/spf13/cobra"

// groups are what the list of commands is divided into, in order.
var groups = []struct {
	title    string
	commands []string
}{
	{"Archive a site:", []string{"crawl", "resume", "update", "status", "import", "prune", "verify", "fleet", "app"}},
	{"Read an archive:", []string{"mirror", "serve", "search", "list", "explain", "changes", "diff", "export", "mcp"}},
	{"Check your own site:", []string{"links", "audit", "report", "robots", "inspect", "sitemap"}},
}

// group puts commands into the groups of the help.
func group(root *cobra.Command) {
	of := map[string]string{}
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, name := range g.commands {
			of[name] = g.title
		}
	}
	for _, c := range root.Commands() {
		c.GroupID = of[c.Name()]
	}
}
