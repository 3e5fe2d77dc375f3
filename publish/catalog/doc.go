// Package catalog finds the captures of a URL and their places in the archive. It keeps
// index.db, an SQLite file beside crawl.db that is derived from it: captures by SURT and time,
// and the tables of publish/search.
//
//	place.go    finds index.db, and decides whether it can be trusted
//	build.go    builds it as index.db.new and renames it
//	refresh.go  updates it by comparing its ids with the visits of the archive
//	query.go    queries captures: of a URL, the nearest to a time, all
//
// index.db is a cache: it can be deleted at any time and is rebuilt. It may also come with an
// archive from somebody else, so nothing in it decides what may be shown: outlets read the
// visit from the archive and ask package publish. A file that is a symbolic link, or is not
// signed by this account for these tables, is replaced without being opened by SQLite.
package catalog
