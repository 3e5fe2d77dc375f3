package revisit

import (
	"slices"
	"strings"
	"time"

	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// Answers finds, in one round, answers that take the place of several pages:
// by digest, the visits that changed to it.
type Answers map[string][]crawllog.Ref

// maxAnswers bounds the digests that are remembered.
const maxAnswers = 1 << 17

// Add takes in a visit and the last good one before it, and gives those visits
// that are suspect now.
func (s Answers) Add(v, good *crawllog.Visit) (suspect []crawllog.Ref) {
	if good == nil || !mayCompare(v) || !differ(v.Digest, good.Digest) {
		return nil
	}
	list := s[v.Digest]
	if list == nil && len(s) >= maxAnswers ||
		slices.ContainsFunc(list, func(r crawllog.Ref) bool { return r.URLID == v.URLID }) {
		return nil
	}
	if len(list) > MaxSame {
		return []crawllog.Ref{v.Ref()}
	}
	list = append(list, v.Ref())
	s[v.Digest] = list
	if len(list) > MaxSame {
		return list
	}
	return nil
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
