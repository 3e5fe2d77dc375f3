// Package catalog answers: which captures of a URL are there, and where do they
// lie? It keeps index.db, an SQLite file beside crawl.db that is derived from it:
// captures by SURT and time, and the tables of publish/search.
//
//	place.go    where index.db is, and whether it is ours to trust
//	build.go    made whole as index.db.new, then renamed
//	refresh.go  brought up to date by a walk over the names of visits
//	query.go    captures of a URL, the nearest to a time, all of them
//
// index.db can be deleted at any time, and is built again. It may also come with
// an archive that somebody sends. So nothing in it decides what may be shown:
// whoever shows a capture reads its visit from the archive and asks
// publish.Decide. And a file that is a symbolic link, or is not signed by this
// account for these very tables, is replaced and never opened.
package catalog
