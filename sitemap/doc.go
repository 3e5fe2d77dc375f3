// Package sitemap answers: which URLs does a site list? It reads sitemaps and sitemap indexes
// (sitemaps.org protocol), text sitemaps, RSS and Atom, in constant memory. It reads from an
// io.Reader only.
package sitemap
