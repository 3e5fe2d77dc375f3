package revisit

import (
	"maps"
	"slices"
	"strings"
	"time"

	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// Answers finds, in one round, responses that take the place of several pages: for each digest, the
// visits whose page changed to it.
type Answers map[string]*shared

// shared is one response that several URLs have now.
type shared struct {
	by  map[uint64]crawllog.Ref // the visits that returned it, by URL id
	was []string                // digests of the pages it replaced, at most MaxSame+1
}

// maxAnswers bounds the number of digests remembered.
const maxAnswers = 1 << 17

// Add adds a visit and the last good one before it, and returns the visits that became suspect. URLs that
// had the same page before count once: that page has changed.
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

// mayCompare reports whether a visit returned a page that can be compared with others.
func mayCompare(v *crawllog.Visit) bool {
	return v.HasBody() && v.Rendered == nil && v.Status >= 200 && v.Status <= 299 &&
		(v.Suspect == "" || v.Suspect == SameBody) && v.Truncated == "" && v.Length > 0
}

// differ reports whether two payloads are known to differ: digests of different algorithms, as older
// versions used, cannot be compared.
func differ(a, b string) bool {
	of, _, _ := strings.Cut(a, ":")
	return a != b && strings.HasPrefix(b, of+":")
}

// Recall adds the visits of a round from began to ended (zero: now) and returns the suspect ones.
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
