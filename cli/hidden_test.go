package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"curtsy/internal/legible"
	"curtsy/internal/testkit/sitetest"
)

// marks has every kind of control and bidi character that terminals and readers act on.
const marks = "\x1b]0;t\a\x7f\u0085\u009b2J\u061c\u200e\u200f\u202a\u202e\u2066\u2069"

var numbered = regexp.MustCompile(`‹U\+202E›|\\u202e`)

// No command prints or writes bidi or cursor controls, whatever a title, a text or a robots.txt
// contains.
func TestNoOutputHoldsHiddenCharacters(t *testing.T) {
	t.Parallel()
	site, err := sitetest.Parse([]byte("-- / --\n<title>" + marks + "title</title><p>wombat " + marks +
		"</p><a href='/x" + marks + "' title='" + marks + "'>x" + marks + "</a>\n"))
	if err == nil {
		err = site.Start("127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer site.Close()
	dir := t.TempDir()
	at := filepath.Join(dir, "site")
	file := filepath.Join(dir, "page.html")
	if err := os.WriteFile(file, []byte("<title>"+marks+"</title><a href='"+marks+"'>"), 0o600); err != nil {
		t.Fatal(err)
	}
	commands := [][]string{{"crawl", site.Origin + "/", "--archive", at, "--delay", "0"}}
	for _, c := range []string{"list AT", "list AT --json", "list AT --versions --json", "search AT wombat",
		"search AT wombat --json", "links AT --json", "links AT --format junit",
		"explain AT URL", "explain AT URL --json", "status AT --json", "inspect FILE", "inspect FILE --json",
		"inspect FILE --select title --json",
		"export AT DIR/table.jsonl", "export AT DIR/table.csv", "export AT DIR/index.cdxj",
		"mirror AT DIR/mirror --json", "report AT -o DIR/report.html", "NEW",
		"update AT --delay 0", "changes AT --json", "changes AT --html", "changes AT --atom", "diff AT URL --json",
		"diff AT URL"} {
		commands = append(commands, strings.Fields(strings.NewReplacer("AT", at, "URL", site.Origin+"/", "FILE", file,
			"DIR", dir).Replace(c)))
	}
	shown := map[string]bool{"search": false, "list": false, "inspect": false, "diff": false, "changes": false}
	for _, c := range commands {
		if c[0] == "NEW" {
			if err := site.Set("/", "<title>"+marks+"title</title><p>quokka "+marks+" came</p>\n"); err != nil {
				t.Fatal(err)
			}
			continue
		}
		_, said := crawled(t, c...)
		if i := strings.IndexFunc(said, legible.Hidden); i >= 0 {
			t.Errorf("%q prints %q", c, said[max(0, i-40):min(len(said), i+40)])
		}
		if numbered.MatchString(said) {
			shown[c[0]] = true
		}
	}
	for command, found := range shown {
		if !found {
			t.Errorf("%s showed no title: nothing was tried", command)
		}
	}
	for _, name := range []string{"table.jsonl", "table.csv", "index.cdxj", "report.html", "mirror/mirror-report.html",
		"mirror/mirror-map.json", "site/status.json", "site/report.html"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		}
		if i := strings.IndexFunc(strings.ReplaceAll(string(b), "\r\n", "\n"), legible.Hidden); i >= 0 {
			t.Errorf("%s holds %q", name, b[max(0, i-40):min(len(b), i+40)])
		}
	}
}
