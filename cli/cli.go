// Package cli is the command line. Each subcommand is a file; ui.go has the output, exit.go the
// exit codes, config.go the settings.
package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"runtime/pprof"
	"strings"

	"github.com/spf13/cobra"

	"curtsy/publish/pdf"
	"curtsy/storage"
)

// version is part of the User-Agent and of every warcinfo record.
const version = "0.1.0"

// Main runs one command line and returns the exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 && byDoubleClick() {
		args = []string{"app"}
	}
	if len(args) > 0 && args[0] == pdf.Command {
		return pdf.Main(args[1:], stdin, stdout, stderr)
	}
	u := &ui{in: stdin, out: &dataWriter{w: stdout}, err: stderr}
	err := execute(context.Background(), u, args)
	u.profile.end()
	if err != nil && strings.HasPrefix(err.Error(), "if any flags in the group") { // an error of cobra
		err = exitWith(exitUsage, err, "one of these flags")
	}
	lost := u.out.failure()
	if err != nil && (lost == nil || !errors.Is(err, u.out.err)) { // an output error is reported only once
		u.fail(err)
	}
	if lost != nil {
		u.fail(lost)
		err = cmp.Or(err, lost)
	}
	return exitCode(err)
}

// execute runs a command line. Damage of the archive, wherever it is detected, becomes an error.
func execute(ctx context.Context, u *ui, args []string) (err error) {
	defer func() { err = damaged(err) }()
	defer storage.Guard(&err)()
	root := newRoot(u)
	root.SetArgs(searchWords(args))
	return root.ExecuteContext(ctx)
}

// damaged adds a hint to damage that has none.
func damaged(err error) error {
	if !isA[*storage.DamageError](err) || isA[*exitError](err) {
		return err
	}
	return exitWith(exitDamaged, err, "curtsy verify DIR --repair")
}

func newRoot(u *ui) *cobra.Command {
	root := &cobra.Command{
		Use:           "curtsy",
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noUnknownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },

		PersistentPreRunE: func(*cobra.Command, []string) error {
			if err := enoughSpace(); err != nil {
				return err
			}
			return u.profile.start()
		},
	}
	root.SetIn(u.in)
	root.SetOut(u.out)
	root.SetErr(u.err)
	root.CompletionOptions.HiddenDefaultCmd = true
	for _, g := range commands(u) {
		if g.title != "" {
			root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		}
		for _, c := range g.list {
			c.GroupID = g.title
			root.AddCommand(c)
		}
	}
	root.SetFlagErrorFunc(flagError)
	completeArguments(root)
	root.InitDefaultCompletionCmd("completion") // if it had no name, it would print help for any mistake
	if c, _, err := root.Find([]string{"completion"}); err == nil && c != root {
		c.Args, c.RunE = noUnknownCommand, func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	root.SetHelpCommand(helpCmd(u))
	root.SetUsageTemplate(root.UsageTemplate() + "\nExit codes: curtsy help exit-codes\n")
	flags(root.PersistentFlags(), vars{"cpuprofile": &u.profile.path, "quiet,q": &u.quiet, "utc": &u.utc})
	_ = root.PersistentFlags().MarkHidden("cpuprofile")
	putWords(root)
	return root
}

// group is a section in the list of commands.
type group struct {
	title string // "": at the end of the help
	list  []*cobra.Command
}

func commands(u *ui) []group {
	return []group{
		{"Archive a site:", []*cobra.Command{crawlCmd(u), resumeCmd(u), updateCmd(u), statusCmd(u), importCmd(u),
			pruneCmd(u), verifyCmd(u), fleetCmd(u), appCmd(u)}},
		{"Read an archive:", []*cobra.Command{mirrorCmd(u), serveCmd(u), searchCmd(u), listCmd(u), explainCmd(u),
			changesCmd(u), diffCmd(u), exportCmd(u), mcpCmd(u)}},
		{"Check your own site:", []*cobra.Command{linksCmd(u), auditCmd(u), reportCmd(u), robotsCmd(u),
			inspectCmd(u), sitemapCmd(u)}},
		{"", []*cobra.Command{demoCmd(u), identityCmd(u), versionCmd(u), manCmd(u)}},
	}
}

// profile is a CPU profile of a command.
type profile struct {
	path string
	file *os.File
}

func (p *profile) start() (err error) {
	if p.path == "" {
		return nil
	}
	if p.file, err = os.Create(p.path); err != nil {
		return err
	}
	return pprof.StartCPUProfile(p.file)
}

func (p *profile) end() {
	if p.file != nil {
		pprof.StopCPUProfile()
		p.file.Close()
	}
}
