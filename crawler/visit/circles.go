package visit

import (
	"cmp"
	"iter"

	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/storage/crawllog"
)

// Circles finds redirects that form or lead into a cycle: each was answered, but none leads to a
// page. The zero value is empty. Only the committer uses it.
type Circles struct{ hops map[string]hop }

// hop is one redirect.
type hop struct {
	id uint64
	to string
}

// maxRedirecting bounds how many redirects are remembered.
const maxRedirecting = 1 << 17

// Note records the last visit to a URL.
func (c *Circles) Note(v *crawllog.Visit) {
	if !v.Redirects() || v.Class == frontier.Prerequisite.String() {
		delete(c.hops, v.URL)
		return
	}
	if c.hops == nil {
		c.hops = map[string]hop{}
	}
	if len(c.hops) < maxRedirecting {
		c.hops[v.URL] = hop{v.URLID, cmp.Or(v.Target, v.Location)}
	}
}

// Recall records the last visits of all URLs, after a run that was killed.
func (c *Circles) Recall(histories iter.Seq2[[]*crawllog.Visit, error]) error {
	for visits, err := range histories {
		if err != nil {
			return err
		}
		c.Note(visits[len(visits)-1])
	}
	return nil
}

// Resolve turns redirects that lead into a cycle into failures. find, if not nil, looks up the redirects of
// earlier runs.
func (c *Circles) Resolve(f *frontier.Frontier, find crawllog.Lookup) {
	nowhere := map[string]bool{} // the URLs examined, and whether they lead into a cycle
	for from := range c.hops {
		var way []string
		on, bad := map[string]bool{}, false
		for at := from; ; {
			known, isKnown := nowhere[at]
			if bad = known || on[at]; isKnown || bad {
				break
			}
			next, ok := c.next(at, find)
			way, on[at] = append(way, at), true
			if !ok {
				break
			}
			at = next.to
		}
		for _, at := range way {
			nowhere[at] = bad
		}
	}
	for at, bad := range nowhere {
		if next, ok := c.next(at, find); bad && ok {
			f.Refute(next.id, judge.Reason{Rule: judge.Location, Params: judge.Params{Text: judge.InCircle}})
		}
	}
}

func (c *Circles) next(at string, find crawllog.Lookup) (hop, bool) {
	next, ok := c.hops[at]
	if ok || find == nil {
		return next, ok
	}
	visits := find(at)
	if len(visits) == 0 || !visits[len(visits)-1].Redirects() {
		return hop{}, false
	}
	v := visits[len(visits)-1]
	return hop{v.URLID, cmp.Or(v.Target, v.Location)}, true
}
