// Package export writes archives in formats for other programs: WACZ 1.1.1, WARC, CDXJ, ZIM,
// BagIt, tables of URLs and the text of pages. A file gets its name once it is complete and
// synced.
//
//	select.go   chooses the captures that may be shown, sorted by segment and offset
//	copy.go     copies their records octet by octet, after the warcinfo record of the segment
//	wacz.go     zips records, index and pages; pack.go writes the zip entries
//	table.go    writes tables as Apache Parquet (parquet.go) or JSON Lines; columns.go defines them
//	cdxj.go     writes one index line per capture, sorted on disk
//	text.go     writes the text of pages
//	out.go      creates the file, and decides what may be replaced
//
// Memory does not grow with the archive.
package export
