package rebuild

import (
	"runtime"

	"curtsy/crawler/fetch"
	"curtsy/crawler/visit"
	"curtsy/frontier"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// ahead is what was read of a visit before its turn: neither its records nor its document
// depend on the visits before it.
type ahead struct {
	x    *fetch.Exchange
	cut  bool // there is more of the payload
	read *visit.Reading
}

// visitAll replays visits in their order, and meanwhile reads those that follow, as many
// as there are processors.
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

// visitGuarded lets visitAll end those who read ahead before a damaged crawl.db does.
func (b *rebuilder) visitGuarded(v *crawllog.Visit, read *ahead) (err error) {
	defer storage.Guard(&err)()
	return b.visit(v, read)
}

// ahead reads a visit; nil where that is left to its turn.
func (b *rebuilder) ahead(v *crawllog.Visit) (a *ahead) {
	var err error
	defer func() {
		if err != nil { // whatever it is, it is met again
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
