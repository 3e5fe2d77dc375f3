//go:build !windows

package cli

// byDoubleClick is never known here: Linux has an entry of its menu for the page.
func byDoubleClick() bool { return false }
