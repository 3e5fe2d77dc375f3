package publish

import (
	"iter"

	"curtsy/storage"
)

// batch is how many visits are read at once: no transaction stays open while
// an outlet works on what it was given.
const batch = 512

// Histories gives the visits of each URL, the oldest first, by URL in the
// order of discovery. An error ends it.
func Histories(a *storage.Archive) iter.Seq2[[]*storage.Visit, error] {
	return func(yield func([]*storage.Visit, error) bool) {
		var open []*storage.Visit // of the URL that is being read
		var at storage.Ref
		for {
			next, err := a.VisitsAfter(at, batch)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, v := range next {
				if len(open) > 0 && open[0].URLID != v.URLID {
					if !yield(open, nil) {
						return
					}
					open = nil
				}
				open = append(open, v)
			}
			if len(next) < batch {
				break
			}
			at = next[len(next)-1].Ref()
		}
		if len(open) > 0 {
			yield(open, nil)
		}
	}
}
