package search

import "context"

// Ranked returns the number of ranked candidates for a query, for measurements: Search without
// permits and snippets.
func (s *Searcher) Ranked(ctx context.Context, q Query) (int, error) {
	q.Limit = 10
	list, _, _, err := s.candidates(ctx, q)
	return len(list), err
}
