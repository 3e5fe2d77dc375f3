package cli

import (
	"os"

	"github.com/inconshreveable/mousetrap"
	"github.com/spf13/cobra"
	"golang.org/x/sys/windows"
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

// escapes has a console understand escape sequences, as terminals of other systems do.
func escapes(f *os.File) bool {
	var mode uint32
	console := windows.Handle(f.Fd())
	return windows.GetConsoleMode(console, &mode) == nil &&
		windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
