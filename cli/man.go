package cli

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

//go:embed curtsy.1.in
var manPage string

func manCmd(u *ui) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "write the manual page, curtsy.1, into a directory",
		Args:  wants("DIR"),
		RunE: func(c *cobra.Command, a []string) error {
			path := filepath.Join(a[0], "curtsy.1")
			err := os.MkdirAll(a[0], 0o755)
			if err == nil {
				err = os.WriteFile(path, manual(c.Root()), 0o644)
			}
			if err != nil {
				return exitWith(exitFailed, err, "a writable directory")
			}
			u.say("%s: read it with man -l %s", path, quoted(path))
			return nil
		},
	}
}

// manual is the manual page with the options of all commands, as they are.
func manual(root *cobra.Command) []byte {
	var b bytes.Buffer
	for line := range strings.Lines(manPage) {
		switch strings.TrimSpace(line) {
		case ".Dd @DATE":
			fmt.Fprintf(&b, ".Dd %s\n", manDate(readVersion().Date))
		case "@COMMANDS":
			manCommands(&b, root)
		case "@OPTIONS":
			for _, c := range visibleCommands(root) {
				manCommand(&b, c)
			}
		case "@EXIT":
			for code, meaning := range exitMeanings {
				fmt.Fprintf(&b, ".It %d\n%s\n", code, roff(meaning))
			}
		default:
			b.WriteString(line)
		}
	}
	return b.Bytes()
}

// manDate is a date as mdoc has it: that of the commit, so that the page is the
// same wherever it is made.
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

func manCommands(b *bytes.Buffer, root *cobra.Command) {
	b.WriteString(".Bl -tag -width explain\n")
	for _, c := range visibleCommands(root) {
		fmt.Fprintf(b, ".It Cm %s\n%s\n", roff(c.Name()), roff(c.Short))
	}
	b.WriteString(".El\n")
}

// manCommand writes what a command's help says.
func manCommand(b *bytes.Buffer, c *cobra.Command) {
	fmt.Fprintf(b, ".Ss %s\n.Dl %s\n.Pp\n", macroLine(c.CommandPath()),
		macroLine(strings.Replace(c.UseLine(), "[flags]", "[options]", 1)))
	text := c.Long
	text = cmp.Or(text, c.Short)
	for i, part := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			b.WriteString(".Pp\n")
		}
		manText(b, part)
	}
	begun := false
	c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		if !begun {
			b.WriteString(".Bl -tag -width Ds\n")
			begun = true
		}
		manFlag(b, f)
	})
	if begun {
		b.WriteString(".El\n")
	}
}

// manText writes a paragraph; lines that are set in are shown as they are.
func manText(b *bytes.Buffer, part string) {
	for line := range strings.Lines(part) {
		if strings.HasPrefix(line, "  ") {
			fmt.Fprintf(b, ".Dl %s\n", macroLine(strings.TrimSpace(line)))
			continue
		}
		fmt.Fprintf(b, "%s\n", roff(strings.TrimSpace(line)))
	}
}

func manFlag(b *bytes.Buffer, f *pflag.Flag) {
	value, usage := pflag.UnquoteUsage(f)
	name := "\\-\\-" + roff(f.Name)
	if f.Shorthand != "" {
		name = "\\-" + f.Shorthand + " , " + name
	}
	fmt.Fprintf(b, ".It Fl %s", strings.ReplaceAll(strings.TrimPrefix(name, "\\-"), " , \\-", " , Fl "))
	if value != "" {
		fmt.Fprintf(b, " Ar %s", roff(value))
	}
	fmt.Fprintf(b, "\n%s\n", roff(usage))
}

// roff writes text so that nothing in it is a request: no line begins with a
// dot, and backslashes are themselves. A sentence ends its line, as mdoc wants.
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

// macroLine is text for the line of a macro.
func macroLine(s string) string { return strings.ReplaceAll(roff(s), "\n", " ") + `\&` }

// manWidth is the longest line that mandoc does not complain about, less what
// roff may put before it.
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
