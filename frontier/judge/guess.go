package judge

import (
	"path"

	"curtsy/internal/weburl"
)

// Guess excludes what a literal in a script may name, where of the literals
// like it fewer than half named anything.
const Guess = "guess"

// Guessed is said of an answer that shows a literal to name nothing.
const Guessed = "guessed from a text in a script"

// enoughGuesses is how many answers tell what a shape is worth, vainGuesses how many
// where nothing was there.
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

// guessedBefore holds back what was: what became of the guesses then is not known
// any more, and no setting changes what they are worth.
func guessedBefore(Reason, *Settings) bool { return true }

// GuessShape is what literals have in common that name files of one type in
// one directory.
func GuessShape(u weburl.URL) string {
	return u.Origin() + path.Dir(u.Path()) + "/*" + path.Ext(u.Path())
}

// Alternate excludes what is a page again in another form, or is for
// programs, where that was asked for.
const Alternate = "alternate"

func alternate(l *Link, f *Facts) Verdict {
	return excludesIf(l.Alternate && f.SkipAlternates, Alternate, Params{}).softIf(true)
}

func alternatesOff(_ Reason, s *Settings) bool { return s.SkipAlternates }
