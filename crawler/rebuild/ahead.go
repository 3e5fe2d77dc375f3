package rebuild

import (
	"runtime"

	"curtsy/crawler/fetch"
	"curtsy/crawler/visit"
	"curtsy/frontier"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// ahead is what was read for a visit before its turn: neither its records nor its document depend
// on earlier visits.
type ahead struct {
	x    *fetch.Exchange
	cut  bool // the payload is longer than what was read
	read *visit.Reading
}

// visitAll replays visits in order, while it reads the following ones ahead, GOMAXPROCS at a time.
func (b *rebuilder) visitAll(visits []*crawllog.Visit) (err error) {
	queue := make(chan chan *ahead, runtime.GOMAXPROCS(0))
	go func() {
		defer close(queue)
		for _, v := range visits {
			c := make(chan *ahead, 1)
			queue <- c
			go func() { c <- b.ahead(v) }()
		}
	}()
	next := 0
	for c := range queue {
		read := <-c
		if err == nil {
			err = b.visitGuarded(visits[next], read)
			next++
		}
		if read != nil {
			read.x.Release()
		}
	}
	return err
}

// visitGuarded replays one visit and returns a panic caused by a damaged crawl.db as an error, so that
// visitAll can wait for the readers.
func (b *rebuilder) visitGuarded(v *crawllog.Visit, read *ahead) (err error) {
	defer storage.Guard(&err)()
	return b.visit(v, read)
}

// ahead reads a visit; nil if that must be done in its turn.
func (b *rebuilder) ahead(v *crawllog.Visit) (a *ahead) {
	var err error
	defer func() {
		if err != nil { // the visit's own turn meets the error again
			if a != nil && a.x != nil {
				a.x.Release()
			}
			a = nil
		}
	}()
	defer storage.Guard(&err)()
	found, ok := b.frontier.Get(v.URLID)
	if !ok || found.Class == frontier.Prerequisite || found.Class == frontier.Sitemap {
		return nil
	}
	a = &ahead{}
	if a.x, a.cut, err = b.exchange(&found.Entry, v); err == nil {
		a.read = b.reader.Ahead(&visit.Attempt{Entry: &found.Entry, URL: a.x.URL, Kept: b.kept(v)}, a.x)
	}
	return a
}
