package cli

import (
	"io"
	"os"
)

// look is how text may be set off: in colours where the terminal has them and
// nobody asks for none (https://no-color.org).
type look struct{ colours bool }

func lookOf(w io.Writer) look {
	return look{isTerminal(w) && os.Getenv("NO_COLOR") == "" && !isDumb()}
}

// isDumb says whether the terminal can move no cursor.
func isDumb() bool { return os.Getenv("TERM") == "dumb" }

// drawsBars says whether lines that change are drawn.
func (u *ui) drawsBars() bool { return isTerminal(u.err) && !u.quiet && !isDumb() }

// paint sets a line of the progress off: the first is bold, counts with errors
// are red, what is going on is dim.
func (l look) paint(line int, text string, failed bool) string {
	if !l.colours || text == "" {
		return text
	}
	switch {
	case line == 0:
		return "\x1b[1m" + text + "\x1b[0m"
	case line == 1 && failed:
		return "\x1b[31m" + text + "\x1b[0m"
	case line == 2:
		return "\x1b[2m" + text + "\x1b[0m"
	}
	return text
}
