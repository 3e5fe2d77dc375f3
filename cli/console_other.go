//go:build !windows

package cli

import "os"

// byDoubleClick is never known here: Linux has an entry of its menu for the page.
func byDoubleClick() bool { return false }

// escapes says that terminals understand escape sequences.
func escapes(*os.File) bool { return true }
