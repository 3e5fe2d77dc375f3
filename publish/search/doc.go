// Package search is the full-text search of one archive, in a derived file (publish/catalog).
// SQLite's FTS5 stores the postings; tokenizing, ranking and snippets are done here.
//
//	token.go, stem.go, bulgarian.go, language.go   the words of a text
//	index.go, page.go                              indexing of the current pages
//	query.go, expr.go, relax.go                    parsing of queries
//	rank.go, search.go                             candidates by bm25, ranked again
//	snippet.go                                     the part of the page to show, read from the archive
//
// No text is stored. Whether a page may be found and shown is checked with publish.CurrentPermit
// twice: when it is indexed, and at each query, with the visits and the time as they are then.
package search
