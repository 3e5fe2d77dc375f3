package revisit

import (
	"slices"
	"time"

	"curtsy/storage"
)

// Answers finds, in one round, answers that take the place of several pages:
// by digest, the visits that changed to it.
type Answers map[string][]storage.Ref

// maxAnswers bounds the digests that are remembered.
const maxAnswers = 1 << 17

// Add takes in a visit and the last good one before it, and gives those visits
// that are suspect now.
func (s Answers) Add(v, good *storage.Visit) (suspect []storage.Ref) {
	if good == nil || !mayCompare(v) || v.Digest == good.Digest {
		return nil
	}
	list := s[v.Digest]
	if list == nil && len(s) >= maxAnswers || slices.ContainsFunc(list, func(r storage.Ref) bool { return r.URLID == v.URLID }) {
		return nil
	}
	if len(list) > MaxSame {
		return []storage.Ref{v.Ref()}
	}
	list = append(list, v.Ref())
	s[v.Digest] = list
	if len(list) > MaxSame {
		return list
	}
	return nil
}

// mayCompare says whether a visit brought a page that can be compared with others.
func mayCompare(v *storage.Visit) bool {
	return v.HasBody() && v.Status >= 200 && v.Status <= 299 && v.Suspect == "" && v.Truncated == "" && v.Length > 0
}

// Recall takes in what a round that was stopped has brought since it began.
func (s Answers) Recall(a *storage.Archive, began time.Time) error {
	for visits, err := range a.Histories() {
		if err != nil {
			return err
		}
		for i, v := range visits {
			if !v.At.Before(began) {
				s.Add(v, Good(visits[:i]))
			}
		}
	}
	return nil
}
