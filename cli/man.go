package cli

import (
	"bytes"
	"cmp"
	_ "embed"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

//go:embed curtsy.1.in
var manPage string

func manCmd(u *ui) *cobra.Command {
	return newCommand("man DIR", nil, func(c *cobra.Command, a []string) error {
		path := filepath.Join(a[0], "curtsy.1")
		err := os.MkdirAll(a[0], 0o755)
		if err == nil {
			err = writeWhole(path, func(w io.Writer) error { _, err := w.Write(manual(c.Root())); return err })
		}
		if err != nil {
			return exitWith(exitFailed, err, "a writable directory")
		}
		u.say("%s: read it with man -l %s", path, quoted(path))
		return nil
	})
}

// manual returns the manual page with the options of all commands.
func manual(root *cobra.Command) []byte {
	page := template.Must(template.New("curtsy.1").Funcs(template.FuncMap{"roff": roff, "line": macroLine,
		"text": manText, "options": manOptions, "usage": manUsage}).Parse(manPage))
	var b bytes.Buffer
	err := page.Execute(&b, map[string]any{"Date": manDate(readVersion().Date), "Commands": visibleCommands(root),
		"Exit": exitMeanings})
	if err != nil {
		panic(err) // an error in the template
	}
	return b.Bytes()
}

// manDate formats the date of the commit for mdoc, so that the page is the same wherever it is
// built.
func manDate(commit string) string {
	t, err := time.Parse(time.RFC3339, commit)
	if err != nil {
		t = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return t.UTC().Format("January 2, 2006")
}

func visibleCommands(root *cobra.Command) (list []*cobra.Command) {
	for _, c := range root.Commands() {
		if !c.Hidden {
			list = append(list, c)
		}
	}
	return list
}

func manUsage(c *cobra.Command) string {
	return macroLine(strings.Replace(c.UseLine(), "[flags]", "[options]", 1))
}

// manText converts the help text of a command; indented lines are kept as they are.
func manText(c *cobra.Command) string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSpace(cmp.Or(c.Long, c.Short)), "\n") {
		switch text := strings.TrimSpace(line); {
		case text == "":
			lines = append(lines, ".Pp")
		case strings.HasPrefix(line, "  "):
			lines = append(lines, ".Dl "+macroLine(text))
		default:
			lines = append(lines, roff(text))
		}
	}
	return strings.Join(lines, "\n")
}

// manOption is a flag with its help text.
type manOption struct {
	*pflag.Flag
	Value, Says string
}

func manOptions(c *cobra.Command) (list []manOption) {
	c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			value, says := pflag.UnquoteUsage(f)
			list = append(list, manOption{f, value, says})
		}
	})
	return list
}

// roff escapes text for roff: no line begins with a dot, and backslashes are literal. Each
// sentence ends a line, as mdoc requires.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\t", " ", "…", "...").Replace(s)
	s = strings.ReplaceAll(s, ". ", ".\n")
	var lines []string
	for line := range strings.Lines(s) {
		lines = append(lines, wrap(line)...)
	}
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// macroLine escapes text for a macro's line.
func macroLine(s string) string { return strings.ReplaceAll(roff(s), "\n", " ") + `\&` }

// manWidth is the longest line accepted by mandoc, less what roff may prepend.
const manWidth = 76

// wrap breaks a line between words.
func wrap(line string) (lines []string) {
	var b strings.Builder
	for word := range strings.FieldsSeq(line) {
		if b.Len() > 0 && b.Len()+1+len(word) > manWidth {
			lines = append(lines, b.String())
			b.Reset()
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	return append(lines, b.String())
}
