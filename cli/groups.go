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

// examples are those of commands that have none where they are made.
var examples = map[string]string{
	"crawl":    "  curtsy crawl https://example.org/ --contact you@example.org\n  curtsy crawl https://example.org/ --contact you@example.org --dry-run",
	"explain":  "  curtsy explain example.org /private/x",
	"identity": "  curtsy identity new key.pem --site https://you.example",
	"man":      "  curtsy man /usr/local/share/man/man1",
	"mirror":   "  curtsy mirror example.org copy\n  curtsy mirror --check copy",
	"report":   "  curtsy report example.org -o report.html",
	"resume":   "  curtsy resume example.org --max-pages 0",
	"status":   "  curtsy status example.org\n  curtsy status --watch example.org example.net",
	"verify":   "  curtsy verify example.org\n  curtsy verify example.org --repair",
	"demo":     "  curtsy demo",
	"version":  "  curtsy version --json",
	"import":   "  curtsy import example.org old.warc.gz site.wacz",
	"mcp":      "  curtsy mcp example.org",
}

// group puts commands into the groups of the help, and gives those examples that have
// none.
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
		if c.Example == "" {
			c.Example = examples[c.Name()]
		}
	}
}
