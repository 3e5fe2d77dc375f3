package cli

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// transcriptScript is "transcript FILE": runs each line "$ COMMAND" of the file and writes the
// output to FILE.got: stdout as it is, stderr after "! ", an exit code other than 0 as "[exit
// 2]". A command may end in "| head -5". UPDATE_SCRIPTS=1 go test ./cli -run Scripts/newcomer
// updates the expected output.
func transcriptScript(ts *testscript.TestScript, neg bool, args []string) {
	var got strings.Builder
	for _, line := range strings.Split(ts.ReadFile(args[0]), "\n") {
		switch {
		case strings.HasPrefix(line, "## "):
			fmt.Fprintf(&got, "%s\n", line)
		case strings.HasPrefix(line, "$ "):
			fmt.Fprintf(&got, "%s\n%s", line, ranIn(ts, strings.TrimPrefix(line, "$ ")))
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".got"), []byte(got.String()), 0o644))
}

// ranIn runs a command as a person types it, and returns its output.
func ranIn(ts *testscript.TestScript, line string) string {
	command, head, cut := strings.Cut(line, " | head -")
	args := typedWords(strings.ReplaceAll(command, "SITE", ts.Getenv("SITE")))
	r := runCurtsy(ts, args)
	out := r.Stdout
	if cut {
		n, err := strconv.Atoi(head)
		ts.Check(err)
		lines := strings.SplitAfter(out, "\n")
		out = strings.Join(lines[:min(n, len(lines))], "")
	}
	said := r.Stderr
	if said != "" {
		said = "! " + strings.ReplaceAll(strings.TrimSuffix(said, "\n"), "\n", "\n! ") + "\n"
	}
	text := out + said
	if site := ts.Getenv("SITE"); site != "" {
		text = strings.ReplaceAll(text, site, "SITE")
		text = strings.ReplaceAll(text, strings.TrimPrefix(site, "http://"), "HOST")
	}
	text = strings.ReplaceAll(text, ts.Getenv("WORK")+"/", "")
	text = steady(text)
	if r.Code != 0 {
		text += fmt.Sprintf("[exit %d]\n", r.Code)
	}
	return text
}

// typedWords splits a command line at spaces outside '…'.
func typedWords(line string) (words []string) {
	for _, w := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line, -1) {
		words = append(words, strings.Trim(w, "'"))
	}
	return words
}

// unsteady lists what differs between runs, and its replacements.
var unsteady = []struct {
	what *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`(?m)[ \t]+$`), ""},
	{regexp.MustCompile(`(?m)^! (round \d+: )?\d+ done, \d+ queued, .*\n`), ""}, // printed from time to time
	{regexp.MustCompile(`curtsy-\d+-\d+\.warc\.gz at \d+, \d+ bytes`), "RECORD"},
	{regexp.MustCompile(`"(bytes|elapsed_ns|elapsed_seconds|score)":[0-9.e+-]+`), `"$1":…`},
	{regexp.MustCompile(`20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| [A-Z]{3,5}| [+-]\d{2,4})?`), "DATE"},
	{regexp.MustCompile(`\b(in|waited|elapsed)( +)[0-9.]+(ms|µs|s)\b`), "$1${2}TIME"},
	{regexp.MustCompile(`\b[0-9.]+ kB\b`), "SIZE"},
	{regexp.MustCompile(`go1\.[0-9.a-z-]+`), "GO"},
	{regexp.MustCompile(`"(commit|date|os|arch)":"[^"]*"`), `"$1":"…"`},
	{regexp.MustCompile(`"modified":(true|false)`), `"modified":…`},
}

// steady replaces what differs between runs.
func steady(text string) string {
	for _, u := range unsteady {
		text = u.what.ReplaceAllString(text, u.by)
	}
	return text
}
