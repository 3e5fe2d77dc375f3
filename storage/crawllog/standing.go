package crawllog

import (
	"cmp"
	"slices"
	"strconv"
)

// What decoding a body found (Visit.Body); any other text is why the body does
// not decode to its end.
const (
	BodyWhole = "whole" // every coding is undone to its end, with its checksums
	BodyEmpty = "empty" // whole, and there is nothing to be seen in it
)

// Rank orders the captures of one URL: the highest is shown, of equals the latest.
type Rank uint8

// Ranks. A capture below Whole does not stand for its URL: it is shown only where
// there is no better one.
const (
	NoAnswer Rank = iota
	Refused       // an error of the server, or what stands in the page's place
	Without       // an answer that holds no copy of the page
	Partial       // a copy that is not whole, or a redirect without a good end
	Limited       // a copy up to a limit of the crawl's own
	Whole
)

// Standing says whether a capture stands for its URL.
type Standing struct {
	Rank Rank
	Why  string // it does not stand; "" where it does
}

// Stands says that it does.
func (s Standing) Stands() bool { return s.Rank == Whole }

// Lookup gives the visits of a URL, the oldest first; none for a URL that the
// archive does not have.
type Lookup func(url string) []*Visit

// StandingOf judges a capture by what is known of it, and a redirect by where it
// leads, which find looks up. This is the one place that decides it: see the table
// in docs/update.md.
func StandingOf(v *Visit, find Lookup) Standing {
	switch {
	case v.Status == 0:
		return Standing{NoAnswer, cmp.Or(v.Error, "no response")}
	case v.Blocked != "":
		return Standing{Refused, v.Blocked}
	case v.Suspect != "":
		return Standing{Refused, v.Suspect}
	case v.Status == 200 || v.Status == 203:
		return v.copied()
	case v.Redirects():
		return v.redirect(find)
	case v.Unchanged():
		return Standing{Without, "unchanged"}
	}
	rank := Without
	if v.Status == 429 || v.Status >= 500 {
		rank = Refused
	}
	return Standing{rank, "HTTP " + strconv.Itoa(v.Status)}
}

// copied judges an answer with a body by whether that is whole.
func (v *Visit) copied() Standing {
	switch {
	case v.Truncated == "disconnect":
		return Standing{Partial, "cut off by the server"}
	case v.Truncated == "time":
		return Standing{Partial, "timed out before the end of the body"}
	case v.Body != "" && v.Body != BodyWhole && v.Body != BodyEmpty:
		return Standing{Partial, "the body cannot be decoded to its end: " + v.Body}
	case v.Truncated != "" && v.Kept != KeptWithheld: // what is withheld is read no further than it is needed
		return Standing{Limited, "longer than what is kept of a body"}
	}
	return Standing{Rank: Whole}
}

// IsCopy says whether the visit holds a copy of the page, whole or not.
func (v *Visit) IsCopy() bool { return (v.Status == 200 || v.Status == 203) && v.HasBody() }

// Unchanged says that the answer to a conditional request was that the copy which
// the visit refers to is still the page.
func (v *Visit) Unchanged() bool { return v.Status == 304 && v.Refers != nil }

// Redirects says whether the answer is a redirect that can be followed (RFC 9110
// §15.4): 305 and 306 are not in use, and 304 is none.
func (v *Visit) Redirects() bool { return IsRedirect(v.Status) && v.Location != "" }

// IsRedirect says whether an answer with this status leads elsewhere, if it says
// where.
func IsRedirect(status int) bool {
	return status >= 300 && status <= 308 && (status < 304 || status > 306)
}

// maxLooks bounds how many visits are looked at to find the end of one redirect,
// more than 20 in a row among them.
const maxLooks = 100

// redirect judges a redirect by its end.
func (v *Visit) redirect(find Lookup) Standing {
	t := &trail{find: find, left: maxLooks}
	if why := t.end(v); why != "" {
		return Standing{Partial, "redirects to " + v.Location + ": " + why}
	}
	return Standing{Rank: Whole}
}

// trail is the way from one redirect to its end.
type trail struct {
	find Lookup
	via  []string
	left int
}

// end says why what a redirect leads to is not good; "" if it is. What counts is
// an answer that came in the round of the redirect or later; where that round did
// not ask, the last answer before.
func (t *trail) end(v *Visit) (why string) {
	to := cmp.Or(v.Target, v.Location)
	if t.via = append(t.via, v.URL); slices.Contains(t.via, to) {
		return "in a circle"
	}
	defer func() { t.via = t.via[:len(t.via)-1] }()
	var visits []*Visit
	if t.find != nil {
		visits = t.find(to)
	}
	why = "not in the archive"
	for i, w := range slices.Backward(visits) {
		isLast := i == len(visits)-1
		if t.left--; t.left < 0 || w.Round < v.Round && !isLast {
			break
		}
		at := t.good(w)
		if at == "" {
			return ""
		}
		if isLast {
			why = at
		}
	}
	return why
}

// good says why an answer is not a good end of a redirect.
func (t *trail) good(w *Visit) (why string) {
	switch s := StandingOf(w, nil); {
	case w.Unchanged():
		return ""
	case w.Redirects() && s.Rank == Partial:
		return t.end(w)
	case w.Body == BodyEmpty || s.Stands() && w.Length == 0 && w.Kept == KeptResponse:
		return "an empty page"
	default:
		return s.Why
	}
}

// Current is what is published of a URL, everywhere: the visit that stands for it
// (StandingOf), or where none does the best that there is; nil if there is none. The
// visits are those of one URL, the oldest first; find looks up where redirects lead.
func Current(visits []*Visit, find Lookup) (best *Visit) {
	var rank Rank
	for _, v := range slices.Backward(visits) {
		s := StandingOf(v, find)
		if s.Stands() {
			return v
		}
		if best == nil || s.Rank > rank {
			best, rank = v, s.Rank
		}
	}
	return best
}

// Answers says whether a visit brought the page, if perhaps not all of it, or that
// it is unchanged, or where it is now: what it asks for binds earlier captures too.
func Answers(v *Visit, find Lookup) bool {
	s := StandingOf(v, find)
	return s.Stands() || v.Unchanged() || s.Rank >= Partial && !v.Redirects()
}

// maxRemembered is how many URLs a Lookup of Remember knows at a time.
const maxRemembered = 1024

// Remember is find for many visits one after another, of which several may lead to
// one URL. It is for one goroutine.
func Remember(find Lookup) Lookup {
	known := map[string][]*Visit{}
	return func(url string) []*Visit {
		visits, ok := known[url]
		if !ok {
			if len(known) >= maxRemembered {
				clear(known)
			}
			visits = find(url)
			known[url] = visits
		}
		return visits
	}
}
