// Package app answers: how does a person without a terminal archive, watch, read
// and keep sites? It is one local page over the archives of a folder.
//
// Whatever the page does, a command does: it is given a function that runs a command
// line (Options.Command), shows what that says and how far it is, and has the same
// command to be copied. By itself it only reads.
//
//	server.go    who may ask, and which address leads where   guard.go    the checks of a request
//	shelf.go     the archives of the folder                   card.go     what is known of one
//	look.go      what a crawl of an address would be let do   plan.go     the settings of a new crawl
//	activity.go  one command that runs                        archive.go  what may be done with an archive
//	viewer.go    archives in the pages of serve               files.go    what was exported, to be saved
//	memory.go    what outlives the program                    page.go     the views, in the reader's language
//
// No octet of an archive is served on the page's origin: archived pages are shown by
// serve, on ports of their own, and files are handed out by a server that only does that.
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
	Folder      string // with the archives
	Page, Files string // addresses of the two listeners: "127.0.0.1:8610"
	Version     string
	Formats     []string // of exports, the extensions of their files
	// Command runs a command line of this program to its end.
	Command func(args []string, h Hooks) Outcome
	Quote   func(string) string // makes a word one of a shell
	Now     func() time.Time    // nil is time.Now
	Logger  *slog.Logger        // nil is none
}

// Hooks are what a command that runs for the page has in place of a terminal; all
// but the contexts may be nil.
type Hooks struct {
	Ctx   context.Context // when it is done, the command drops what it does
	Stop  context.Context // when it is done, a crawl finishes what is in flight
	Steer <-chan crawler.Steering
	Began func(delay time.Duration) // a crawl begins, with this pause between requests
	Watch func(status.Status)       // told about every second how a crawl goes
	Visit func(url string)          // a visit is in the archive
	Step  func(text string, done, total int64)
	Err   io.Writer // lines for people
	Out   io.Writer // data
}

// Outcome is how a command ended.
type Outcome struct {
	Code int    // the exit code
	Err  string // what went wrong; "" is nothing
	Try  string // what may help
}
