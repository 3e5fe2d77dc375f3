// Package inventory answers: which URLs does the archive know, what became of
// each, and what links to what? It is the table behind the commands list and
// links and behind the report.
//
// Nothing is stored for it. What became of a URL the frontier and the visits
// say; the links of a page are among its facts. Memory grows
// with the number of URLs (some 60 octets each), not with that of links.
package inventory
