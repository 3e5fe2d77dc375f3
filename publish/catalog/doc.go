// Package catalog answers: which captures of a URL are there, and where do they
// lie? It keeps index.db, an SQLite file beside crawl.db that is derived from it:
// captures by SURT and time, and the tables of publish/search.
//
//	place.go    where index.db is, and whether it is ours to trust
//	build.go    made whole as index.db.new, then renamed
//	refresh.go  brought up to date by a walk over the names of visits
//	query.go    captures of a URL, the nearest to a time, all of them
//
// index.db is a cache: it can be deleted at any time and is rebuilt. It may also come with an
// archive from somebody else, so nothing in it decides what may be shown: outlets read the
// visit from the archive and ask package publish. A file that is a symbolic link, or is not
// signed by this account for these tables, is replaced without being opened by SQLite.
package catalog
