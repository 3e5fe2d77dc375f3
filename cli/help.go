package cli

import (
	"github.com/spf13/cobra"
)

// helpCmd is "curtsy help COMMAND", and "curtsy help exit-codes".
func helpCmd(u *ui) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | exit-codes]",
		Short: "help about a command, or the exit codes",
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			names := []string{"exit-codes"}
			for _, sub := range c.Root().Commands() {
				if !sub.Hidden {
					names = append(names, sub.Name())
				}
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
