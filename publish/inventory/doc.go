// Package inventory lists the URLs that an archive knows, what became of each, and the links
// between them. The commands list and links and the report are based on it.
//
// Nothing is stored for it: the frontier and the visits say what became of a URL, and the links
// of a page are among its facts. Memory grows by some 60 octets per URL, and not with the
// number of links.
package inventory
