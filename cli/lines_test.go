package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// runLines runs a command line and returns the lines that it printed.
func runLines(t *testing.T, args ...string) (lines []string) {
	t.Helper()
	var out, words bytes.Buffer
	Main(args, strings.NewReader(""), &out, &words)
	for line := range strings.Lines(out.String()) {
		if !json.Valid([]byte(line)) && args[0] != "demo" {
			t.Errorf("curtsy %s: no JSON: %s%s", strings.Join(args, " "), line, words.String())
			continue
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 && words.Len() > 0 {
		t.Log(words.String())
	}
	return lines
}
