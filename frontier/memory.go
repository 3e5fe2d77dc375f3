package frontier

import (
	"math/bits"

	"curtsy/frontier/judge"
)

// Judge sets the settings by which Add judges links. It must be called before the first Add.
func (f *Frontier) Judge(s *judge.Settings) { f.settings = s }

// judge applies the rules that depend on earlier URLs, and counts the link.
func (f *Frontier) judge(l *Link) judge.Verdict {
	if l.Class <= Sitemap || l.Class == Disregarded {
		return judge.Verdict{}
	}
	return judge.Decide(judge.Added, l, &judge.Facts{Settings: f.settings, Memory: memory{f}})
}

// memory implements judge.Memory.
type memory struct{ f *Frontier }

// Count adds a URL of a shape and returns their number.
func (m memory) Count(shape string) int {
	h := m.f.fingerprint(shape)
	n := m.f.tally.add(h)
	if isKept(n) {
		m.f.tallied[h] = n
	}
	return n
}

// maxShortest bounds the names that Shortest remembers. They are not stored: after a restart the map is
// empty.
const maxShortest = 1 << 16

// Shortest remembers the shortest length for a name.
func (m memory) Shortest(name string, length int) bool {
	h := m.f.fingerprint(name)
	had, known := m.f.shortest[h]
	if known && int(had) <= length || !known && len(m.f.shortest) >= maxShortest {
		return false
	}
	m.f.shortest[h] = uint16(min(length, 1<<16-1))
	return true
}

// Discovered returns the number of URLs, uncommitted ones included.
func (m memory) Discovered() int { return m.f.seen.size() }

// Counted returns the number of URLs of a shape so far.
func (m memory) Counted(shape string) int { return m.f.tally.count(m.f.fingerprint(shape)) }

// Twin admits the first URL of a form and returns true for the others. Forms are recorded with a hash of
// their own, since the form itself is fetched too if it is found: the admitted URL may be denied, be
// missing, or redirect to it. The form may also redirect to the URL.
func (m memory) Twin(l *Link, form string) bool {
	if l.Redirects == 0 && m.f.hard(m.f.fingerprint(form)) {
		return true
	}
	fp := m.f.twinsOf(form)
	added, _ := m.f.seen.add(fp, false)
	if added {
		m.f.twins = append(m.f.twins, fp)
	}
	return !added
}

// tallyKept is the count from which on a shape is stored; smaller counts are lost by a restart.
const tallyKept = 64

// isKept reports whether a count is stored: about eight values between two powers of two, so that a
// restart loses at most an eighth of a count and most URLs cause no write.
func isKept(n int) bool { return n >= tallyKept && n%(1<<(bits.Len(uint(n))-4)) == 0 }

// stillHeld reports whether a rule with a budget would exclude the URL again. A raised budget admits as
// many URLs as it was raised by.
func (f *Frontier) stillHeld(found *Found) bool {
	b, ok := judge.BudgetOf(found.Reason.Rule, &found.Link, f.settings)
	if !ok || b.Limit <= 0 {
		return false
	}
	if found.Reason.Limit+f.passed[b.Shape] >= b.Limit {
		return true
	}
	f.passed[b.Shape]++
	return false
}
