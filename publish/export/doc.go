// Package export answers: how does an archive leave, for programs of others?
// It writes WACZ 1.1.1, WARC, CDXJ, tables of URLs and the text of pages, each as one file that
// takes its name when it is whole and synced.
//
//	select.go   which captures may be shown (publish.Permits), sorted by where they lie
//	copy.go     their records, octet by octet, behind the warcinfo of their segment
//	wacz.go     the zip of records, index and pages; pack.go its entries
//	table.go    tables of rows, as Apache Parquet (parquet.go) or lines of JSON; columns.go their columns
//	cdxj.go     a line a capture, sorted outside of memory
//	text.go     what pages say, to be read or searched
//	out.go      the file, its name and what may be replaced
//
// Memory does not grow with the archive.
package export
