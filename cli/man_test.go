package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestTheManualHasEveryFlagOfEveryCommand(t *testing.T) {
	root := newRoot(&ui{out: &dataWriter{}})
	page := strings.ReplaceAll(string(manual(root)), `\-`, "-")
	for _, c := range visibleCommands(root) {
		_, part, ok := strings.Cut(page, "\n.Ss "+c.CommandPath())
		if !ok {
			t.Errorf("no section on %s", c.CommandPath())
			continue
		}
		part, _, _ = strings.Cut(part, "\n.Ss ")
		c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" && !strings.Contains(part, "-"+f.Name) {
				t.Errorf("%s: no --%s", c.Name(), f.Name)
			}
		})
	}
	if strings.Contains(page, "@") && strings.Contains(page, "\n@") {
		t.Error("a marker is left in the page")
	}
}

func TestTheManualIsGoodMdoc(t *testing.T) {
	if _, err := exec.LookPath("mandoc"); err != nil {
		t.Skip("mandoc is not installed")
	}
	path := filepath.Join(t.TempDir(), "curtsy.1")
	if err := os.WriteFile(path, manual(newRoot(&ui{out: &dataWriter{}})), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mandoc", "-Tlint", path).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestCompletionOffersArchives(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"example.org/warc", "example.net", "other/site"} {
		if err := os.MkdirAll(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"example.org/crawl.db", "other/site/crawl.db"} {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		typed string
		want  []string
	}{
		{"", []string{"example.org"}},
		{"ex", []string{"example.org"}},
		{"o", []string{"other/"}},
		{"other/", []string{"other/site"}},
		{"nothing/", nil},
	} {
		got, _ := completeArchive(nil, nil, c.typed)
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.typed, got, c.want)
		}
	}
	if got, d := completeArchive(nil, []string{"example.org"}, ""); got != nil || d != cobra.ShellCompDirectiveDefault {
		t.Errorf("the second argument: %q %v", got, d)
	}
}

// Every command and every flag has an entry in help.txtar, and help.txtar has no other entries.
func TestHelpHasWordsForAllThatThereIs(t *testing.T) {
	known := map[string]map[string]bool{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		name := strings.TrimPrefix(c.CommandPath(), "curtsy ")
		known[name] = map[string]bool{}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			known[name][f.Name] = true
			if f.Usage == "" {
				t.Errorf("%s: nothing says what --%s is for", name, f.Name)
			}
		})
		if c.Short == "" {
			t.Errorf("%s has no description", name)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(&ui{out: &dataWriter{}}))
	for name, w := range helpWords() {
		for flag := range w.flags {
			if name != "any command" && !known[name][flag] {
				t.Errorf("help.txtar explains --%s of %s, which there is not", flag, name)
			}
		}
		if name != "any command" && known[name] == nil {
			t.Errorf("help.txtar explains %s, which there is not", name)
		}
	}
}
