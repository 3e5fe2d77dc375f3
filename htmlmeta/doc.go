// Package htmlmeta answers: what does this document say? It reads the
// directives its owner gave to crawlers (meta robots, X-Robots-Tag), the
// links it holds, its base, canonical URL, title, language and charset.
//
// The way of a page through Read:
//
//	scan      scanner.go finds the tags that matter, by offsets, in one pass
//	charset   charset.go: BOM, header, meta, UTF-8, else detected
//	tree      tree.go makes a small html.Node tree of those tags only
//	select    select.go: goquery selects base, metas, canonical, title, lang and links in it
//	resolve   links.go makes URLs of the references, each once
//
// What it finds is what goquery finds in the whole tree of html.Parse with
// scripts off, tests compare the two; but for these: tags
// that the tree builder drops or moves (within select and frameset, a second
// body) count where they stand; metas, base and title in a template do not
// count, since they are not part of the page, while links in it do; a page
// that ends within a tag has not that tag.
//
// Where links are is one table (places.go); the scanner keeps the offsets of
// every attribute value in the source, so that a rewriter may replace just
// these bytes. Nothing here does I/O, fails or panics; work and memory are
// linear in the document and its links are bounded by MaxLinks.
package htmlmeta
