package crawler

// trend follows how many URLs are discovered per URL done.
type trend struct {
	samples [60]sample // one per second
	n       int
}

type sample struct{ discovered, done int }

// leastDone is how many URLs must be done before growth is reported.
const leastDone = 20

func (t *trend) add(discovered, queued int) {
	t.samples[t.n%len(t.samples)] = sample{discovered, discovered - queued}
	t.n++
}

// growth returns the URLs discovered recently per URL done; 0 if fewer than leastDone were done.
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
