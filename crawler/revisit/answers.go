package revisit

import (
	"maps"
	"slices"
	"strings"
	"time"

	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// Answers finds, in one round, answers that take the place of several pages: by digest,
// what changed to it.
type Answers map[string]*shared

// shared is one of them.
type shared struct {
	by  map[uint64]crawllog.Ref // the visits that it came in, by URL
	was []string                // digests of the pages before it, MaxSame+1 at most
}

// maxAnswers bounds the digests that are remembered.
const maxAnswers = 1 << 17

// Add takes in a visit and the last good one before it, and gives those visits
// that are suspect now. URLs that had one page in common before count once: it is their
// page that has changed.
func (s Answers) Add(v, good *crawllog.Visit) (suspect []crawllog.Ref) {
	if good == nil || !mayCompare(v) || !differ(v.Digest, good.Digest) {
		return nil
	}
	a := s[v.Digest]
	if a == nil {
		if len(s) >= maxAnswers {
			return nil
		}
		a = &shared{by: map[uint64]crawllog.Ref{}}
		s[v.Digest] = a
	}
	if _, again := a.by[v.URLID]; again {
		return nil
	}
	if len(a.was) > MaxSame {
		return []crawllog.Ref{v.Ref()}
	}
	a.by[v.URLID] = v.Ref()
	if !slices.Contains(a.was, good.Digest) {
		a.was = append(a.was, good.Digest)
	}
	if len(a.was) <= MaxSame {
		return nil
	}
	return slices.Collect(maps.Values(a.by))
}

// mayCompare says whether a visit brought a page that can be compared with others.
func mayCompare(v *crawllog.Visit) bool {
	return v.HasBody() && v.Rendered == nil && v.Status >= 200 && v.Status <= 299 &&
		(v.Suspect == "" || v.Suspect == SameBody) && v.Truncated == "" && v.Length > 0
}

// differ says whether two payloads are known to be two: the digests of an earlier
// curtsy are of another function.
func differ(a, b string) bool {
	of, _, _ := strings.Cut(a, ":")
	return a != b && strings.HasPrefix(b, of+":")
}

// Recall takes in what a round has brought from its beginning to its end, the zero
// time being now, and gives the visits that are suspect.
func (s Answers) Recall(a *storage.Archive, began, ended time.Time) (suspect []crawllog.Ref, err error) {
	for visits, err := range a.Histories() {
		if err != nil {
			return suspect, err
		}
		for i, v := range visits {
			if !v.At.Before(began) && (ended.IsZero() || v.At.Before(ended)) {
				suspect = append(suspect, s.Add(v, Good(visits[:i]))...)
			}
		}
	}
	return suspect, nil
}
