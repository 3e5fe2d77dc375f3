package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
)

// ui is how curtsy talks: data on out, words for people on err. Everything
// that came from the network passes through clean before it is shown.
type ui struct {
	in       io.Reader
	out, err io.Writer
}

// say tells people something, on a line of its own.
func (u *ui) say(format string, args ...any) {
	fmt.Fprintln(u.err, clean(fmt.Sprintf(format, args...)))
}

// print writes a line of data.
func (u *ui) print(format string, args ...any) {
	fmt.Fprintln(u.out, clean(fmt.Sprintf(format, args...)))
}

// json writes one JSON object on a line of data. JSON escapes controls itself.
func (u *ui) json(v any) error {
	e := json.NewEncoder(u.out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// fail says what went wrong, and what to try.
func (u *ui) fail(err error) {
	u.say("curtsy: %v", err)
	var e *exitError
	if errors.As(err, &e) && e.try != "" {
		u.say("  try: %s", e.try)
	}
}

// isTerminal says whether people look at w while it is written.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}

// clean makes text harmless for a terminal: controls, escape sequences and
// marks that change the direction of writing are shown as ‹U+001B›. Line
// ends and tabs stay.
func clean(s string) string {
	if strings.IndexFunc(s, unsafeRune) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unsafeRune(r) {
			fmt.Fprintf(&b, "‹%U›", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func unsafeRune(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar)
}
