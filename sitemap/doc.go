// Package sitemap answers: which URLs does a site list of itself? It reads
// sitemaps and their indexes (sitemaps.org protocol), text sitemaps, RSS and
// Atom, in constant memory. It does no I/O of its own.
package sitemap
