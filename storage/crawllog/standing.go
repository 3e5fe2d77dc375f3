package crawllog

import (
	"cmp"
	"slices"
	"strconv"
)

// Values of Visit.Body; any other text says why the body does not decode to its end.
const (
	BodyWhole = "whole" // all codings decoded to their end, with valid checksums
	BodyEmpty = "empty" // whole, but with nothing to show
)

// Rank orders the captures of one URL: the highest is shown, among equals the latest.
type Rank uint8

// Ranks. A capture below Whole does not stand for its URL: it is shown only if there is no better one.
const (
	NoAnswer Rank = iota
	Refused       // a server error, or a challenge in place of the page
	Without       // a response without a copy of the page
	Partial       // an incomplete copy, or a redirect without a good target
	Limited       // a copy truncated by a limit of the crawl
	Whole
)

// Standing says whether a capture stands for its URL, that is, may represent it.
type Standing struct {
	Rank Rank
	Why  string // why it does not; "" if it does
}

// Stands reports whether the capture stands for its URL.
func (s Standing) Stands() bool { return s.Rank == Whole }

// Lookup returns the visits of a URL, oldest first; none if the archive does not have it.
type Lookup func(url string) []*Visit

// StandingOf judges a capture by its visit, and a redirect by its target, which find looks up. All decisions
// on this are made here: see the table in docs/update.md.
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

// copied judges a response with a body by whether the body is complete.
func (v *Visit) copied() Standing {
	switch {
	case v.Truncated == "disconnect":
		return Standing{Partial, "cut off by the server"}
	case v.Truncated == "time":
		return Standing{Partial, "timed out before the end of the body"}
	case v.Body != "" && v.Body != BodyWhole && v.Body != BodyEmpty:
		return Standing{Partial, "the body cannot be decoded to its end: " + v.Body}
	case v.Truncated != "" && v.Kept != KeptWithheld: // a withheld body is read only as far as needed
		return Standing{Limited, "longer than what is kept of a body"}
	}
	return Standing{Rank: Whole}
}

// IsCopy reports whether the visit holds a copy of the page, complete or not.
func (v *Visit) IsCopy() bool { return (v.Status == 200 || v.Status == 203) && v.HasBody() }

// Differs reports whether two copies show something else: their payloads differ or, if a browser rendered
// both, what it made of them.
func (v *Visit) Differs(w *Visit) bool {
	return v.Digest != w.Digest || v.Rendered != nil && w.Rendered != nil && v.Rendered.SHA256 != w.Rendered.SHA256
}

// Unchanged reports whether the response to a conditional request confirmed the copy that the visit refers
// to.
func (v *Visit) Unchanged() bool { return v.Status == 304 && v.Refers != nil }

// Redirects reports whether the response is a redirect that can be followed (RFC 9110 §15.4): 305 and 306 are
// not in use, and 304 is not a redirect.
func (v *Visit) Redirects() bool { return IsRedirect(v.Status) && v.Location != "" }

// IsRedirect reports whether a status is a redirect, given a Location.
func IsRedirect(status int) bool {
	return status >= 300 && status <= 308 && (status < 304 || status > 306)
}

// maxLooks bounds the visits examined to find the end of one redirect; 20 redirects in a row fit.
const maxLooks = 100

// redirect judges a redirect by its final target.
func (v *Visit) redirect(find Lookup) Standing {
	t := &trail{find: find, left: maxLooks}
	if why := t.end(v); why != "" {
		return Standing{Partial, "redirects to " + v.Location + ": " + why}
	}
	return Standing{Rank: Whole}
}

// trail is the path of redirects being followed.
type trail struct {
	find Lookup
	via  []string
	left int
}

// end says why the target of a redirect is not good; "" if it is. What counts are visits of the target in
// the round of the redirect or later; without one, the last visit before.
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

// good says why a visit is not a good end of a redirect; "" if it is.
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

// Current returns the visit of a URL that all outlets show: the latest one that stands for it (StandingOf),
// else the best there is; nil if there is none. The visits are those of one URL, oldest first; find looks
// up the targets of redirects.
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

// Answers reports whether a visit shows a version of the page, complete or not, confirms it, or redirects:
// its directives then apply to earlier captures too.
func Answers(v *Visit, find Lookup) bool {
	s := StandingOf(v, find)
	return s.Stands() || v.Unchanged() || s.Rank >= Partial && !v.Redirects()
}

// maxRemembered is how many URLs the Lookup of Remember caches.
const maxRemembered = 1024

// Remember returns find with a cache, for judging many visits. It is not safe for concurrent use.
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
