// Package mirror exports an archive as a tree of files: what may be shown (publish.Permits), so
// that it opens in any browser, from disk or from any web server.
//
//	1 gather    entries.go   the current capture of each URL, and whether it may be shown
//	2 name      names.go     a file name for each, all decided before anything is written
//	3 write     write.go     decode bodies, rewrite references
//	4 report    map.go, report.go   mirror-map.json and mirror-report.html
//	5 swap      tree.go      replace the old tree by the new one
//
// Until step 5 everything is written to a temporary directory beside OUT, so that a failure
// leaves the old mirror as it was. The same archive gives the same octets, and unchanged files
// are hard links to those of the old mirror. check.go verifies a finished mirror.
package mirror
