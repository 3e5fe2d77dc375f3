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

// ui is how curtsy talks: data on out, words for people on err. Everything
// that came from the network passes through clean before it is shown.
type ui struct {
	in  io.Reader
	out *dataWriter
	err io.Writer

	quiet   bool // print nothing but errors
	utc     bool // times for people are in UTC, not local
	profile profile
	host    *app.Hooks // of the page that the command runs for; nil in a terminal

	mu   sync.Mutex
	live *live // lines that are drawn on err; nil for none
}

// say tells people something, on a line of its own.
func (u *ui) say(format string, args ...any) {
	if !u.quiet {
		u.tell(format, args...)
	}
}

// tell says what is said to who wants quiet, too. An error may have several
// lines; those that follow are indented, so that no text from the network or from
// an archive begins a line as this program does.
func (u *ui) tell(format string, args ...any) {
	text := strings.TrimRight(clean(fmt.Sprintf(format, args...)), "\n")
	fmt.Fprintln(u.lines(), strings.ReplaceAll(text, "\n", "\n    "))
}

// lines is where whole lines for people go: above those that are drawn.
func (u *ui) lines() io.Writer { return lineWriter{u} }

type lineWriter struct{ u *ui }

func (l lineWriter) Write(b []byte) (int, error) {
	l.u.mu.Lock()
	defer l.u.mu.Unlock()
	if l.u.live != nil {
		return len(b), l.u.live.draw(b)
	}
	return l.u.err.Write(b)
}

// print writes a line of data: no value in it begins another. That it could not
// be written is met at the end.
func (u *ui) print(format string, args ...any) {
	fmt.Fprintln(u.out, oneLine(fmt.Sprintf(format, args...)))
}

// json writes one JSON object on a line of data, with all that is hidden escaped.
func (u *ui) json(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, _ = u.out.Write(legible.JSON(b.Bytes()))
	return nil
}

// dataWriter is stdout. It remembers the first error: a command whose output
// is lost has failed, whatever it did.
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

// failure is an error if data was lost. A reader that has seen enough, as head
// does, loses nothing.
func (d *dataWriter) failure() error {
	if d.err == nil || errors.Is(d.err, syscall.EPIPE) {
		return nil
	}
	return exitWith(exitFailed, fmt.Errorf("the output cannot be written: %w", d.err),
		"another destination, then the same command again")
}

// fail says what went wrong, and what to try.
func (u *ui) fail(err error) {
	u.tell("curtsy: %v", err)
	if e, ok := errors.AsType[*exitError](err); ok && e.try != "" {
		u.tell("  try: %s", e.try)
	}
}

// zone is that of all times for people; data has UTC.
func (u *ui) zone() *time.Location {
	if u.utc {
		return time.UTC
	}
	return time.Local
}

// time is a moment for people, with its zone.
func (u *ui) time(t time.Time) string { return timeIn(t, u.zone()) }

func timeIn(t time.Time, zone *time.Location) string {
	return t.In(zone).Format("2006-01-02 15:04:05 MST")
}

// stateWord is a state for people: what a rule held back was skipped.
func stateWord(state string) string {
	if state == frontier.StateDisregarded.String() {
		return "skipped"
	}
	return state
}

// orEmpty is the list for JSON, where none is [] and not null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// byCount lists texts by how often they came, the most frequent first.
func byCount(m map[string]int) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(m[b]-m[a], strings.Compare(a, b))
	})
}

// none is a number in a sentence.
func none(n int) string {
	if n == 0 {
		return "none"
	}
	return strconv.Itoa(n)
}

// open opens a file that was named; - is stdin.
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

// isTerminal says whether people look at w while it is written.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && escapes(f)
}

// clean makes text harmless for a terminal: controls, escape sequences and
// marks that change the direction of writing are shown as ‹U+001B›. Line
// ends and tabs stay.
func clean(s string) string {
	return legible.Marked(s, func(r rune) bool { return legible.Hidden(r) || r == unicode.ReplacementChar })
}

// oneLine is clean for a name or a text that must not begin a line of its own.
func oneLine(s string) string { return strings.ReplaceAll(clean(s), "\n", "‹U+000A›") }

// peopleHandler writes what is logged as a line for people: "what happened:
// key value, key value".
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

// WithAttrs and WithGroup are not used by the crawl: what they add is left out.
func (h peopleHandler) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h peopleHandler) WithGroup(string) slog.Handler      { return h }
