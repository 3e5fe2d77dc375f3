package frontier

import (
	"math/bits"

	"curtsy/frontier/judge"
)

// Judge sets the settings that Add judges links with. It is called before the
// first Add.
func (f *Frontier) Judge(s *judge.Settings) { f.settings = s }

// judge asks the rules that depend on the URLs that came before. It counts
// the link.
func (f *Frontier) judge(l *Link) judge.Verdict {
	if l.Class <= Sitemap || l.Class == Disregarded {
		return judge.Verdict{}
	}
	return judge.Decide(judge.Added, l, &judge.Facts{Settings: f.settings, Memory: memory{f}})
}

// memory is what rules may know of the URLs that came before.
type memory struct{ f *Frontier }

// Count counts a URL of a shape, and says how many that makes.
func (m memory) Count(shape string) int {
	h := m.f.fingerprint(shape)
	n := m.f.tally.add(h)
	if isKept(n) {
		m.f.tallied[h] = n
	}
	return n
}

// maxShortest bounds the names that Shortest remembers; it is of use while a
// site is discovered, and a restart begins anew.
const maxShortest = 1 << 16

// Shortest keeps the shortest length for a name.
func (m memory) Shortest(name string, length int) bool {
	h := m.f.fingerprint(name)
	had, known := m.f.shortest[h]
	if known && int(had) <= length || !known && len(m.f.shortest) >= maxShortest {
		return false
	}
	m.f.shortest[h] = uint16(min(length, 1<<16-1))
	return true
}

// Discovered is how many URLs there are, with those that are not committed.
func (m memory) Discovered() int { return m.f.seen.size() }

// Counted is how many URLs of a shape there were so far.
func (m memory) Counted(shape string) int { return m.f.tally.count(m.f.fingerprint(shape)) }

// Twin lets one twin of a form through: it is true for all others. The twins
// have a fingerprint of their own, since the form is fetched too where it is
// found: its twins may be denied, or missing, or lead to it. A redirect may
// lead from the form itself to one of its twins.
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

// tallyKept is the count from which on a shape is kept on disk: smaller ones
// begin anew after a restart, at no loss worth the room.
const tallyKept = 64

// isKept says whether a count is one of those that are written: some eight
// between a power of two and the next, so that a restart forgets an eighth of
// a count at most and most URLs cost no write.
func isKept(n int) bool { return n >= tallyKept && n%(1<<(bits.Len(uint(n))-4)) == 0 }

// stillHeld says whether a rule that counts would hold the URL back again. A
// budget that was raised lets through as many as it was raised by.
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
