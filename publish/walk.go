package publish

import (
	"iter"

	"curtsy/storage"
)

// Histories gives the visits of each URL, as storage.Archive.Histories does.
func Histories(a *storage.Archive) iter.Seq2[[]*storage.Visit, error] { return a.Histories() }
