// Package mirror answers: how does the archive look as a tree of files? It
// exports what may be shown (publish.Decide) so that it opens in any browser,
// from a disk or behind any web server.
//
//	1 gather    entries.go   the latest capture of each URL, and what may be shown of it
//	2 name      names.go     a file name for each, all decided before anything is written
//	3 write     write.go     bodies decoded, references rewritten through the names only
//	4 tell      map.go, report.go   mirror-map.json and mirror-report.html
//	5 check     check.go     every name is there once, and is one that all systems take
//	6 swap      tree.go      the new tree takes the place of the old one, whole
//
// Nothing is written outside of a temporary directory beside OUT before step
// 6; a failure anywhere leaves the old mirror as it was. The same archive
// gives the same octets, and files that did not change are the same files.
package mirror
