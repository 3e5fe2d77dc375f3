package search

import "context"

// Ranked is how many candidates a query has once they are in order: Search
// without permits and snippets, for those who measure.
func (s *Searcher) Ranked(ctx context.Context, q Query) (int, error) {
	q.Limit = 10
	list, _, _, err := s.candidates(ctx, q)
	return len(list), err
}
