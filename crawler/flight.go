package crawler

import (
	"cmp"
	"slices"
	"sync"

	"curtsy/crawler/status"
	"curtsy/frontier"
	"curtsy/storage"
)

// flight counts the visits between the loop and the disk. From the counts it decides whether another
// visit may start, the run may end, and the committer may write what it has. It is safe for
// concurrent use.
//
//	launch     the loop starts a visit         asking, making, open
//	answered   its download has ended          asking
//	handed     its outcome waits for commit    making
//	committed  it is on the disk               open, held
//
// A URL that is dismissed without a visit counts as open from dismiss on.
type flight struct {
	most  int // limit on concurrent requests, over all hosts
	pages int // limit on pages in the life of the archive; 0 is none

	mu        sync.Mutex
	visits    map[*job]struct{} // launched and not yet committed or dropped
	asking    int
	making    int
	open      int
	openPages int   // visits to pages among open
	tabs      int   // pages being rendered or waiting for it
	held      int64 // octets of bodies and records in memory
	brought   int64 // octets of downloaded bodies not yet counted as committed
	largest   int64 // largest body so far, in octets
	patient   bool  // see Options.CommitEvery
	starved   bool  // the loop has nothing to start until more is committed
	news      news

	kick  chan struct{} // something was committed or dropped
	idled chan struct{} // making is 0, or the loop is starved
}

// news is what commits have changed for the schedule.
type news struct {
	jobs    []*job          // committed or dropped
	origins map[string]bool // that have new URLs
}

// maxHeld is how many octets of bodies waiting to be parsed and of records waiting for commit may
// accumulate before no new visit starts: parsing and disk may be slower than the download.
const maxHeld = 32 << 20

func newFlight(o *Options) *flight {
	return &flight{most: o.Pace.Concurrency, pages: o.Limits.Pages, patient: o.CommitEvery > 0,
		visits: map[*job]struct{}{},
		kick:   make(chan struct{}, 1), idled: make(chan struct{}, 1)}
}

// mayStart reports whether another visit may begin: there are fewer than most requests over all
// hosts, and the visits and octets not yet committed, which a kill would lose, are bounded.
//
// left is how many octets of the crawl's limit remain. It must cover the bodies not yet committed
// and as many bodies of the largest size so far as there would be requests.
func (f *flight) mayStart(left int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open > 0 && f.brought+int64(f.asking+1)*f.largest > left {
		return false
	}
	return f.asking < f.most && f.open < storage.MaxGroup+f.most && f.held < maxHeld
}

// mayStartPage reports whether one more page may begin when committed pages are committed: those in
// flight count toward the limit.
func (f *flight) mayStartPage(committed int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pages <= 0 || committed+f.openPages < f.pages
}

// mayEnd reports whether nothing is in flight and the loop has taken all news.
func (f *flight) mayEnd() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open == 0 && len(f.news.jobs) == 0 && len(f.news.origins) == 0
}

// mayCommit reports whether the committer should write now: no visit is being made, and it is not
// patient or the loop is starved.
func (f *flight) mayCommit() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.making == 0 && (!f.patient || f.starved)
}

// starve records whether the loop has nothing to start, now or later, unless a request in flight
// brings new URLs.
func (f *flight) starve(is bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.starved = is && f.asking == 0; f.starved {
		signal(f.idled)
	}
}

// busy reports whether more than one visit is being made.
func (f *flight) busy() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.making > 1
}

func (f *flight) launch(j *job) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.visits[j] = struct{}{}
	f.asking++
	f.making++
	f.add(j, 1)
}

func (f *flight) add(j *job, n int) {
	f.open += n
	if j != nil && j.Entry.Class == frontier.Page {
		f.openPages += n
	}
}

// dismiss counts an outcome without a visit as open.
func (f *flight) dismiss() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open++
}

// rendering adds n to the pages being rendered or waiting for it.
func (f *flight) rendering(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tabs += n
}

// isRendering reports whether maxTabs pages are being rendered or waiting for it.
func (f *flight) isRendering() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tabs >= maxTabs
}

func (f *flight) answered() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asking--
}

func (f *flight) hold(octets int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held += int64(octets)
}

// came counts the octets of a body until its visit is committed or dropped.
func (f *flight) came(octets int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.brought += octets
	f.largest = max(f.largest, octets)
}

func (f *flight) handed() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.making--; f.making == 0 {
		signal(f.idled)
	}
}

// dropped ends a visit that leaves nothing to commit.
func (f *flight) dropped(j *job) {
	f.handed()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.land(j)
	signal(f.kick)
}

func (f *flight) land(j *job) {
	f.add(j, -1)
	if j != nil {
		delete(f.visits, j)
		f.news.jobs = append(f.news.jobs, j)
	}
}

// committed ends the visits of a group; origins are those with new URLs.
func (f *flight) committed(group []*outcome, origins map[string]bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range group {
		f.held -= int64(o.held)
		f.brought -= o.brought
		f.land(o.job)
	}
	if f.news.origins == nil {
		f.news.origins = origins
	} else {
		for origin := range origins {
			f.news.origins[origin] = true
		}
	}
	signal(f.kick)
}

// take returns the news since the last call.
func (f *flight) take() news {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.news
	f.news = news{}
	return n
}

// inProcess returns how many URLs are open, and the oldest visits with their steps, at most most.
func (f *flight) inProcess(most int) (open int, list []status.InFlight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for j := range f.visits {
		list = append(list, j.inFlight())
	}
	slices.SortFunc(list, func(a, b status.InFlight) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.URL, b.URL))
	})
	return f.open, list[:min(len(list), most)]
}

// signal wakes a goroutine waiting on ch. The channel has room for one signal.
func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
