// Package inventory answers: which URLs does the archive know, what became of
// each, and what links to what? It is the table behind the commands list and
// links and behind the report.
//
// Nothing is stored for it: the frontier and the visits say what became of a URL, and the links
// of a page are among its facts. Memory grows by some 60 octets per URL, and not with the
// number of links.
package inventory
