//go:build !windows

package cli

import "os"

// byDoubleClick returns false: Linux has a menu entry for the page instead.
func byDoubleClick() bool { return false }

// escapes reports whether the terminal supports escape sequences.
func escapes(*os.File) bool { return true }
