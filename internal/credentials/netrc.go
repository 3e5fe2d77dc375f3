package credentials

import (
	"errors"
	"io"
	"strings"
)

// ErrNoEntry means that a .netrc has no login for a host.
var ErrNoEntry = errors.New("no login for this host")

// Netrc reads the login for a host from a .netrc like ftp, curl and git: the first entry for
// the machine, or the default entry.
func Netrc(r io.Reader, host string) (name, password string, err error) {
	b, err := io.ReadAll(io.LimitReader(r, 1<<20))
	if err != nil {
		return "", "", err
	}
	words := netrcWords(string(b))
	for i := 0; i < len(words); {
		key := words[i]
		i++
		mine := key == "default"
		if key == "machine" && i < len(words) {
			mine = strings.EqualFold(words[i], host)
			i++
		}
		name, password = "", ""
		for ; i+1 < len(words) && words[i] != "machine" && words[i] != "default"; i += 2 {
			switch words[i] {
			case "login":
				name = words[i+1]
			case "password":
				password = words[i+1]
			}
		}
		if mine && name != "" {
			return name, password, nil
		}
		if i+1 == len(words) {
			break
		}
	}
	return "", "", ErrNoEntry
}

// netrcWords returns the words of a .netrc without comments and macro bodies, which end at an
// empty line.
func netrcWords(text string) (words []string) {
	macro := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if macro = macro && line != ""; macro || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Fields(line)
		if len(f) > 0 && f[0] == "macdef" {
			macro = true
			continue
		}
		words = append(words, f...)
	}
	return words
}
