package crawler

// trend follows how many URLs are discovered for each that is done.
type trend struct {
	samples [60]sample // one a second
	n       int
}

type sample struct{ discovered, done int }

// leastDone is how many URLs must be done before a trend shows.
const leastDone = 20

func (t *trend) add(discovered, queued int) {
	t.samples[t.n%len(t.samples)] = sample{discovered, discovered - queued}
	t.n++
}

// growth is how many URLs were discovered of late for each that was done; 0
// where too few were done to say so.
func (t *trend) growth() float64 {
	if t.n < 2 {
		return 0
	}
	last := t.samples[(t.n-1)%len(t.samples)]
	first := t.samples[max(t.n-len(t.samples), 0)%len(t.samples)]
	if last.done-first.done < leastDone {
		return 0
	}
	return float64(last.discovered-first.discovered) / float64(last.done-first.done)
}
