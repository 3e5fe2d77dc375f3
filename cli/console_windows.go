package cli

import (
	"os"

	"github.com/inconshreveable/mousetrap"
	"github.com/spf13/cobra"
	"golang.org/x/sys/windows"
)

// byDoubleClick reports whether the program was started from the Explorer. Then there is no
// command line, and the page is shown.
func byDoubleClick() bool {
	if !mousetrap.StartedByExplorer() {
		return false
	}
	cobra.MousetrapHelpText = "" // its text would tell the user to use a command line
	return true
}

// escapes enables escape sequences in a console, and reports whether that worked.
func escapes(f *os.File) bool {
	var mode uint32
	console := windows.Handle(f.Fd())
	return windows.GetConsoleMode(console, &mode) == nil &&
		windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
