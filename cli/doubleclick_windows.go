package cli

import (
	"github.com/inconshreveable/mousetrap"
	"github.com/spf13/cobra"
)

// byDoubleClick says whether somebody opened the program in the Explorer: then there is
// no command line, and the page is what they want.
func byDoubleClick() bool {
	if !mousetrap.StartedByExplorer() {
		return false
	}
	cobra.MousetrapHelpText = "" // which would send them away
	return true
}
