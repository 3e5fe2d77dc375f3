// Package follow has scripts that make links of a copied page work, and keep scripts from
// removing its text. Mirror and replay insert them into pages that run scripts.
package follow

import (
	_ "embed"
	"strings"
)

//go:embed follow.js
var followScript string

//go:embed keep.js
var keepScript string

// With returns a script that runs code, which can call follow(where) of follow.js and keep(),
// storage() and sources(of) of keep.js. The script has no comments and defines no global names.
func With(code string) string {
	return "(() => {\n" + bare(followScript) + bare(keepScript) + bare(code) + "})();\n"
}

// bare removes comments and indentation.
func bare(js string) string {
	var b strings.Builder
	for line := range strings.Lines(js) {
		line = strings.TrimSpace(line)
		if i := strings.Index(line, " // "); i >= 0 {
			line = line[:i]
		}
		if line != "" && !strings.HasPrefix(line, "//") {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
