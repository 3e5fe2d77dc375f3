// Package htmlmeta reads HTML documents: the directives for crawlers (meta robots,
// X-Robots-Tag), links, base, canonical URL, title, language and charset.
//
// Steps of Read for a page:
//
//	scan      scanner.go finds the relevant tags, as offsets, in one pass
//	charset   charset.go: BOM, header, meta, UTF-8, or detection
//	tree      tree.go makes a small html.Node tree of these tags only
//	select    select.go: goquery selects base, metas, canonical, title, lang and links in it
//	resolve   links.go resolves references to URLs, each once
//
// The result is what goquery finds in the full tree of html.Parse without scripting (tests
// compare the two), with these exceptions: tags that the tree builder drops or moves (within
// select and frameset, a second body) count where they are; metas, base and title in a template
// are ignored, since they are not part of the page, but links in it are read; a tag cut off by
// the end of the page is ignored.
//
// One table (places.go) says where links are. The scanner keeps the offsets of attribute values
// in the source, so that a rewriter can replace just these bytes. Nothing here does I/O, returns
// errors or panics on bad input; work and memory are linear in the document, and the number of
// links is limited by MaxLinks.
package htmlmeta
