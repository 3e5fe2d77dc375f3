package crawler

import (
	"cmp"
	"slices"
	"sync"

	"curtsy/crawler/status"
	"curtsy/frontier"
	"curtsy/storage"
)

// flight counts what is on its way from the loop to the disk, and answers
// from the counts the three questions of the goroutines: may another visit
// start, may the run end, may the committer write what it has. It is for any
// goroutine.
//
//	launch     the loop starts a visit         asking, making, open
//	answered   its download has ended          asking
//	handed     its outcome waits for commit    making
//	committed  it is on the disk               open, held
//
// A URL that is dismissed without a visit is only open, from dismiss on.
type flight struct {
	most  int // requests at a time, over all hosts
	pages int // in the life of the archive; 0 is no limit

	mu        sync.Mutex
	visits    map[*job]struct{} // launched and not yet committed or dropped
	asking    int
	making    int
	open      int
	openPages int   // of the open ones, visits to pages
	tabs      int   // pages that are rendered, or wait to be
	held      int64 // octets of bodies and records
	brought   int64 // octets of bodies that came and are not yet counted as committed
	largest   int64 // body so far, in octets
	patient   bool  // see Options.CommitEvery
	starved   bool  // the loop knows nothing to start: what waits for commit may change that
	news      news

	kick  chan struct{} // something was committed or dropped
	idled chan struct{} // nothing is being made
}

// news are what commits have changed for the schedule.
type news struct {
	jobs    []*job          // committed or dropped
	origins map[string]bool // that have new URLs
}

// maxHeld is how many octets of bodies may wait to be read, and of records to
// be committed, before nothing new is fetched: processor and disk may be slower
// than a site with large pictures.
const maxHeld = 32 << 20

func newFlight(o *Options) *flight {
	return &flight{most: o.Pace.Concurrency, pages: o.Limits.Pages, patient: o.CommitEvery > 0,
		visits: map[*job]struct{}{},
		kick:   make(chan struct{}, 1), idled: make(chan struct{}, 1)}
}

// mayStart says whether another visit may begin: not more than most requests
// at a time over all hosts together, and not more visits and octets between
// server and disk than a kill may cost.
//
// left is how many octets are left of the limit on them: what is on its way may take
// them, where each body that is being asked for is as large as the largest before.
func (f *flight) mayStart(left int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open > 0 && f.brought+int64(f.asking+1)*f.largest > left {
		return false
	}
	return f.asking < f.most && f.open < storage.MaxGroup+f.most && f.held < maxHeld
}

// mayStartPage says whether one more page may begin when so many are
// committed: those on their way may reach the limit.
func (f *flight) mayStartPage(committed int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pages <= 0 || committed+f.openPages < f.pages
}

// mayEnd says whether nothing is on its way, and no news of what was.
func (f *flight) mayEnd() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open == 0 && len(f.news.jobs) == 0 && len(f.news.origins) == 0
}

// mayCommit says whether the committer need not wait for more: no visit is
// being made, and it is not to wait for later ones.
func (f *flight) mayCommit() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.making == 0 && (!f.patient || f.starved)
}

// starve says whether the loop knows nothing to start, now or later, unless what
// is being asked for brings it.
func (f *flight) starve(is bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.starved = is && f.asking == 0; f.starved {
		signal(f.idled)
	}
}

// busy says whether the next visit to be handed over is one of several.
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

// dismiss counts an outcome without a visit.
func (f *flight) dismiss() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open++
}

// rendering counts pages that are rendered, or wait to be.
func (f *flight) rendering(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tabs += n
}

// isRendering says whether as many pages are being rendered as there may be.
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

// committed ends what a group was of, and says which origins have new URLs.
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

// take gives the news since it was last called.
func (f *flight) take() news {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.news
	f.news = news{}
	return n
}

// inProcess counts what is open, and lists the oldest visits with their steps.
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

// signal wakes whoever waits on ch, once.
func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
