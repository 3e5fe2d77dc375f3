package judge

import (
	"path"

	"curtsy/internal/weburl"
)

// Guess excludes a URL guessed from a script literal if fewer than half of the similar ones existed.
const Guess = "guess"

// Guessed is the reason's text for a guessed URL that does not exist.
const Guessed = "guessed from a text in a script"

// enoughGuesses is how many responses suffice to judge a shape, vainGuesses how many if no URL existed.
const (
	enoughGuesses = 8
	vainGuesses   = 4
)

func guess(l *Link, f *Facts) Verdict {
	if l.Class != Speculative || f.Guessed == nil {
		return Verdict{}
	}
	asked, there := f.Guessed(GuessShape(l.URL))
	vain := asked >= vainGuesses && there == 0 || asked >= enoughGuesses && 2*there < asked
	return excludesIf(vain, Guess, Params{}).softIf(true) // a page may link to it
}

// guessedBefore keeps excluded guesses excluded: the earlier results are not known any more, and no
// setting changes them.
func guessedBefore(Reason, *Settings) bool { return true }

// GuessShape returns the shape of a guessed URL: its directory and file extension.
func GuessShape(u weburl.URL) string {
	return u.Origin() + path.Dir(u.Path()) + "/*" + path.Ext(u.Path())
}

// Alternate excludes other forms of a page and data for programs, if the settings ask for that.
const Alternate = "alternate"

func alternate(l *Link, f *Facts) Verdict {
	return excludesIf(l.Alternate && f.SkipAlternates, Alternate, Params{}).softIf(true)
}

func alternatesOff(_ Reason, s *Settings) bool { return s.SkipAlternates }
