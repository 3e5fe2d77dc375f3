package cli

import (
	"cmp"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/tools/txtar"

	"curtsy/publish/export"
)

//go:embed help.txtar
var helpFile []byte

// vars maps flag names to variables; "verbose,v" also has a short form.
type vars map[string]any

// flags defines a flag for each variable, with its value as default. The usage texts are in
// help.txtar.
func flags(fl *pflag.FlagSet, list vars) {
	for name, p := range list {
		name, letter, _ := strings.Cut(name, ",")
		switch p := p.(type) {
		case *string:
			fl.StringVarP(p, name, letter, *p, "")
		case *[]string:
			fl.StringArrayVarP(p, name, letter, *p, "")
		case *bool:
			fl.BoolVarP(p, name, letter, *p, "")
		case *int:
			fl.IntVarP(p, name, letter, *p, "")
		case *time.Duration:
			fl.DurationVarP(p, name, letter, *p, "")
		case pflag.Value:
			fl.VarP(p, name, letter, "")
		default:
			panic(fmt.Sprintf("--%s: no flag sets a %T", name, p))
		}
	}
}

// words are the help texts of a command.
type words struct {
	short, long, examples string
	flags                 map[string]string
}

// helpWords are the texts of help.txtar, by command.
var helpWords = sync.OnceValue(func() map[string]words {
	fill := strings.NewReplacer("{formats}\n", export.About(), "{extensions}", strings.Join(export.Formats(), ", "),
		"{tables}", strings.Join(export.Tables, ", "))
	all := map[string]words{}
	for _, section := range txtar.Parse(helpFile).Files {
		text, flags, _ := strings.Cut("\n"+fill.Replace(string(section.Data)), "\nFlags:\n")
		text, examples, _ := strings.Cut(text, "\nExamples:\n")
		short, long, _ := strings.Cut(strings.TrimSpace(text), "\n")
		for name := range strings.SplitSeq(section.Name, ", ") {
			w := words{short, strings.TrimSpace(long), strings.TrimRight(examples, "\n"), all[name].flags}
			if w.flags == nil {
				w.flags = map[string]string{}
			}
			for line := range strings.Lines(flags) {
				if flag, usage, ok := strings.Cut(strings.TrimSpace(line), "  "); ok {
					w.flags[strings.TrimPrefix(flag, "--")] = usage
				}
			}
			all[name] = w
		}
	}
	return all
})

// putWords sets the help texts of a command and its subcommands.
func putWords(c *cobra.Command) {
	w := helpWords()[strings.TrimPrefix(c.CommandPath(), "curtsy ")]
	c.Short, c.Long, c.Example = cmp.Or(c.Short, w.short), cmp.Or(c.Long, w.long), cmp.Or(c.Example, w.examples)
	for _, flags := range []*pflag.FlagSet{c.Flags(), c.PersistentFlags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			f.Usage = cmp.Or(f.Usage, w.flags[f.Name], helpWords()["any command"].flags[f.Name])
		})
	}
	for _, sub := range c.Commands() {
		putWords(sub)
	}
}

// newCommand makes a command with flags. use names its arguments; the help texts are in
// help.txtar.
func newCommand(use string, list vars, run func(*cobra.Command, []string) error) *cobra.Command {
	c := &cobra.Command{Use: use, Args: arguments(use), RunE: run}
	flags(c.Flags(), list)
	return c
}

// helpCmd implements "curtsy help COMMAND" and "curtsy help exit-codes".
func helpCmd(u *ui) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | exit-codes]",
		Short: "help about a command, or the exit codes",
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			names := []string{"exit-codes"}
			for _, sub := range visibleCommands(c.Root()) {
				names = append(names, sub.Name())
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "exit-codes" {
				_, err := u.out.Write([]byte(exitTable()))
				return err
			}
			sub, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(c.Root(), args[0])
			}
			sub.InitDefaultHelpFlag()
			return sub.Help()
		},
	}
}

// completeArguments completes archives where a command expects one; elsewhere the shell
// completes files.
func completeArguments(root *cobra.Command) {
	for _, c := range root.Commands() {
		if fields := strings.Fields(c.Use); len(fields) > 1 && strings.HasPrefix(fields[1], "DIR") &&
			c.Name() != "man" {
			c.ValidArgsFunction = completeArchive
		}
	}
}

// completeArchive lists archives, and directories that may contain some, that begin with what
// was typed.
func completeArchive(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	dir, begin := filepath.Split(typed)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
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
