// Package search answers: which pages say this? It is a full-text search of one
// archive, in a derived file (publish/catalog), with words, ranking and snippets
// of its own over SQLite's FTS5, which keeps the postings.
//
//	token.go, stem.go, bulgarian.go, language.go   what the words of a text are
//	index.go, page.go                              texts of the pages that stand for a URL
//	query.go, expr.go                              what was asked for
//	rank.go, search.go                             candidates by bm25, ordered again
//	snippet.go                                     the part of the page to show, read from the archive
//
// No text is stored. What may be found and shown is asked of publish.Decide twice:
// when a page is indexed, and at each query, by the visit as the archive has it
// and the time as it is then.
package search
