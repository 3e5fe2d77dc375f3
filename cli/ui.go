package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"golang.org/x/term"

	"curtsy/app"
	"curtsy/frontier"
	"curtsy/internal/legible"
)

// ui is the input and output of a command: data on out, messages for people on err. Text from
// the network passes through clean.
type ui struct {
	in  io.Reader
	out *dataWriter
	err io.Writer

	quiet   bool // print only errors
	utc     bool // times for people are in UTC instead of local time
	profile profile
	host    *app.Hooks // of the page that runs the command; nil in a terminal

	mu   sync.Mutex
	live *live // lines drawn on err; may be nil
}

// say prints a message for people on a line of its own, unless quiet.
func (u *ui) say(format string, args ...any) {
	if !u.quiet {
		u.tell(format, args...)
	}
}

// tell prints a message even if quiet. Further lines of a message are indented, so that text
// from the network or an archive cannot look like a message of this program.
func (u *ui) tell(format string, args ...any) {
	text := strings.TrimRight(clean(fmt.Sprintf(format, args...)), "\n")
	fmt.Fprintln(lineWriter{u}, strings.ReplaceAll(text, "\n", "\n    "))
}

// lineWriter writes complete lines of messages above the drawn lines, made safe for a terminal.
type lineWriter struct{ u *ui }

func (l lineWriter) Write(b []byte) (n int, err error) {
	text := clean(strings.ToValidUTF8(string(b), "\ufffd"))
	l.u.mu.Lock()
	defer l.u.mu.Unlock()
	if l.u.live != nil {
		return len(b), l.u.live.draw(text)
	}
	_, err = io.WriteString(l.u.err, text)
	return len(b), err
}

// print prints a line of data; line breaks in values are escaped. Write errors are reported at
// the end.
func (u *ui) print(format string, args ...any) {
	fmt.Fprintln(u.out, oneLine(fmt.Sprintf(format, args...)))
}

// json prints v as JSON on a line of data. Errors are reported at the end.
func (u *ui) json(v any) { _ = u.out.json(v) }

// dataWriter is stdout. It remembers the first error, because a command whose output is lost
// has failed.
type dataWriter struct {
	w   io.Writer
	err error
}

func (d *dataWriter) Write(b []byte) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	n, err := d.w.Write(b)
	d.err = err
	return n, err
}

func (d *dataWriter) json(v any) error {
	line, err := jsonLine(v)
	if err != nil {
		d.err = cmp.Or(d.err, exitWith(exitFailed, err, ""))
		return d.err
	}
	_, err = d.Write(line)
	return err
}

// jsonLine returns v as JSON on a line, with hidden characters escaped.
func jsonLine(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return legible.JSON(b.Bytes()), err
}

// failure returns an error if data was lost. A reader that closes the pipe early, such as head,
// is not an error.
func (d *dataWriter) failure() error {
	switch {
	case d.err == nil || errors.Is(d.err, syscall.EPIPE):
		return nil
	case isA[*exitError](d.err): // a value that cannot be written as JSON
		return d.err
	}
	return exitWith(exitFailed, fmt.Errorf("the output cannot be written: %w", d.err),
		"another destination, then the same command again")
}

// fail prints an error and its hint.
func (u *ui) fail(err error) {
	u.tell("curtsy: %v", err)
	if e, ok := errors.AsType[*exitError](err); ok && e.try != "" {
		u.tell("  try: %s", e.try)
	}
}

// zone is the time zone of times for people; data is in UTC.
func (u *ui) zone() *time.Location {
	if u.utc {
		return time.UTC
	}
	return time.Local
}

// time formats a time for people, with its zone.
func (u *ui) time(t time.Time) string { return t.In(u.zone()).Format("2006-01-02 15:04:05 MST") }

// Escape sequences for the look of text (ECMA-48 §8.3.117).
const (
	plain = "\x1b[0m"
	bold  = "\x1b[1m"
	dim   = "\x1b[2m"
	red   = "\x1b[31m"
	green = "\x1b[32m"
)

// stateWord returns the word for a state in messages: disregarded is "skipped".
func stateWord(state string) string {
	if state == frontier.StateDisregarded.String() {
		return "skipped"
	}
	return state
}

// orEmpty returns the list for JSON: [] instead of null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// byCount lists texts by frequency, most frequent first.
func byCount(m map[string]int) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(m[b]-m[a], strings.Compare(a, b))
	})
}

// counted is a number of things.
type counted struct {
	n    int
	what string
}

// some formats the numbers that are not zero.
func some(list []counted) (texts []string) {
	for _, c := range list {
		if c.n > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	return texts
}

// plural formats a number of things: one, or "n many".
func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// none formats a number in a sentence.
func none(n int) string {
	if n == 0 {
		return "none"
	}
	return strconv.Itoa(n)
}

// open opens a file argument; - is stdin.
func (u *ui) open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(u.in), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fileError(err)
	}
	return f, nil
}

// isTerminal reports whether w is a terminal that supports escape sequences.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && escapes(f)
}

// clean makes text safe for a terminal: control characters, escape sequences and bidirectional
// controls are shown as ‹U+001B›. Line ends and tabs are kept.
func clean(s string) string {
	return legible.Marked(s, func(r rune) bool { return legible.Hidden(r) || r == unicode.ReplacementChar })
}

// oneLine is clean for text that must stay on one line.
func oneLine(s string) string { return strings.ReplaceAll(clean(s), "\n", "‹U+000A›") }

// peopleHandler writes log records as lines for people: "what happened: key value, key value".
type peopleHandler struct {
	u     *ui
	level slog.Level
}

func (h peopleHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

func (h peopleHandler) Handle(_ context.Context, r slog.Record) error {
	var parts []string
	r.Attrs(func(a slog.Attr) bool {
		parts = append(parts, fmt.Sprintf("%s %v", a.Key, a.Value))
		return true
	})
	text := r.Message
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	h.u.tell("%s", text)
	return nil
}

// WithAttrs and WithGroup are not used by the crawl, so attributes are dropped.
func (h peopleHandler) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h peopleHandler) WithGroup(string) slog.Handler      { return h }
