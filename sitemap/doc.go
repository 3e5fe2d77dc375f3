// Package sitemap reads sitemaps and sitemap indexes (sitemaps.org protocol), text sitemaps,
// RSS and Atom, in constant memory. It reads from an io.Reader only.
package sitemap
