// Package app is a local web page on which people who do not use a terminal archive, watch,
// read and keep sites, in a folder.
//
// Everything that the page does is done by a command. The page is given a function that runs a
// command line (Options.Command), shows its output and progress, and offers the same command to
// be copied. The page itself only reads.
//
//	server.go    access and routes             guard.go    checks of a request
//	shelf.go     the archives of the folder    card.go     the summary of an archive
//	look.go      preview of a crawl            plan.go     settings of a new crawl
//	activity.go  a running command             archive.go  actions on an archive
//	viewer.go    archives shown by serve       files.go    download of exports
//	memory.go    stored settings               page.go     the views, in the reader's language
//
// No octet of an archive is served on the page's origin: archived pages are served by the serve
// command on ports of its own, and exported files by a separate server.
package app

import (
	"context"
	"io"
	"log/slog"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/status"
)

// Options of the page.
type Options struct {
	Folder      string // directory of the archives
	Page, Files string // addresses of the two listeners: "127.0.0.1:8610"
	Version     string
	Formats     []string // of exports; also their file extensions
	// Command runs a command line of this program to its end.
	Command func(args []string, h Hooks) Outcome
	Quote   func(string) string // quotes a word for the shell
	Logger  *slog.Logger        // nil: no logging
}

// Hooks replace the terminal for a command run by the page. The contexts are always set; the
// rest may be nil, unless the command is a crawl.
type Hooks struct {
	Ctx   context.Context // when done, the command aborts
	Stop  context.Context // when done, a crawl finishes requests in flight and stops
	Steer <-chan crawler.Steering
	Began func(delay time.Duration) // a crawl starts, with this delay between requests
	Watch func(status.Status)       // called about every second with the status of a crawl
	Visit func(url string)          // a visit was archived
	Step  func(text string, done, total int64)
	Err   io.Writer // messages for people
	Out   io.Writer // data
}

// Outcome is the result of a command.
type Outcome struct {
	Code int    // the exit code
	Err  string // the error; "": none
	Try  string // a suggestion
}
