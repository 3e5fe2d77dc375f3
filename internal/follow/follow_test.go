package follow_test

import (
	"strings"
	"testing"

	"curtsy/internal/follow"
)

// The script that is put into pages has each of the functions, the code that calls them, and no
// comments. .ci/e2e/88-render.sh (follow.mjs) tests it in a browser.
func TestTheScriptIsWhole(t *testing.T) {
	got := follow.With("// Why.\n{\n  keep(); // now\n  go(\"http://h/\");\n}\n")
	for _, want := range []string{"(() => {\n", "\nfunction follow(where) {\n", "\nfunction keep() {\n",
		"\nfunction storage() {\n", "\nfunction sources(of) {\n",
		"\n{\nkeep();\ngo(\"http://h/\");\n}\n})();\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing", want)
		}
	}
	for line := range strings.Lines(got) {
		if strings.HasPrefix(line, "//") || strings.Contains(line, " // ") || strings.TrimSpace(line) == "" ||
			strings.Contains(line, "</") {
			t.Errorf("a line that no page needs, or that ends its script: %q", line)
		}
	}
	if strings.Count(got, "{") != strings.Count(got, "}") {
		t.Error("its braces are not even")
	}
}
