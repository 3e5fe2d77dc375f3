// Package cli answers: what did the person ask for? Each subcommand is one
// file; ui.go is how we talk, exit.go what the exit codes mean, config.go
// what can be set.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// version is stated in the User-Agent and in every warcinfo record.
const version = "0.1.0"

// Main runs one command line and returns the exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	u := &ui{in: stdin, out: &dataWriter{w: stdout}, err: stderr}
	root := newRoot(u)
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	if err != nil {
		u.fail(err)
	}
	if lost := u.out.failure(); lost != nil {
		u.fail(lost)
		err = cmp.Or(err, lost)
	}
	return exitCode(err)
}

func newRoot(u *ui) *cobra.Command {
	root := &cobra.Command{
		Use:           "curtsy",
		Short:         "a polite crawler that archives one site the way its owner asked",
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noUnknownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetIn(u.in)
	root.SetOut(u.out)
	root.SetErr(u.err)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(commands(u)...)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return flagError(c, err)
	})
	for _, c := range append(root.Commands(), root) {
		c.SetUsageTemplate(c.UsageTemplate() + "\n" + exitTable())
	}
	return root
}

func noUnknownCommand(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("curtsy --help", "unknown command %q", args[0])
	}
	return nil
}

// wants makes a wrong number of arguments a usage error that names them.
func wants(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == len(names):
			return nil
		case len(names) == 0:
			return usagef(c.CommandPath()+" --help", "%s accepts no arguments, and %d came", c.CommandPath(), len(args))
		}
		return usagef(c.CommandPath()+" --help", "%s accepts %s, %s, and %s came", c.CommandPath(),
			count(len(names), "argument"), strings.Join(names, " and "), none(len(args)))
	}
}

var flagName = regexp.MustCompile(`--[a-z-]+`)

// flagError says what is wrong with a flag, and with a duration what is right.
func flagError(c *cobra.Command, err error) error {
	var invalid interface{ GetValue() string }
	if !errors.As(err, &invalid) || !strings.Contains(err.Error(), "time: ") {
		return usagef(c.CommandPath()+" --help", "%v", err)
	}
	flag, value := flagName.FindString(err.Error()), invalid.GetValue()
	if _, e := strconv.ParseFloat(value, 64); e == nil {
		return usagef(fmt.Sprintf("%s %ss, or %s %sms", flag, value, flag, value), "invalid argument %q for %s: a duration has a unit; write 5s or 500ms", value, flag)
	}
	return usagef(flag+" 5s", "invalid argument %q for %s: no duration; write 5s, 500ms or 1h30m", value, flag)
}

// commands lists the subcommands in the order of the flow.
func commands(u *ui) []*cobra.Command {
	return []*cobra.Command{
		crawlCmd(u),
		resumeCmd(u),
		statusCmd(u),
		explainCmd(u),
		verifyCmd(u),
		mirrorCmd(u),
		exportCmd(u),
		listCmd(u),
		linksCmd(u),
		demoCmd(u),
		robotsCmd(u),
		inspectCmd(u),
		sitemapCmd(u),
	}
}
