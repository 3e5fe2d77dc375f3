// Package follow has the scripts that make links of a copied page lead where they
// say, and keep its text. Both the mirror and the replay put them into pages that run scripts.
package follow

import (
	_ "embed"
	"strings"
)

//go:embed follow.js
var followScript string

//go:embed keep.js
var keepScript string

// With is a script that calls the functions follow(where) of follow.js, keep(), storage()
// and sources(of) of keep.js in this code. It has no comments, and no names of its own beyond it.
func With(code string) string {
	return "(() => {\n" + bare(followScript) + bare(keepScript) + bare(code) + "})();\n"
}

// bare leaves out the lines that are comments and the blanks at the beginning of lines.
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
