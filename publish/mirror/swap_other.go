//go:build !linux

package mirror

func exchange(a, b string) error { return exchangeByRename(a, b) }

func syncDir(string) error { return nil }
