package changes

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"curtsy/storage"
)

// seen are visits a day apart.
func seen(visits ...storage.Visit) (list []*storage.Visit) {
	for i := range visits {
		visits[i].At = time.Unix(int64(i)*86400, 0)
		list = append(list, &visits[i])
	}
	return list
}

func TestKind(t *testing.T) {
	good, other := storage.Visit{Status: 200, Digest: "a"}, storage.Visit{Status: 200, Digest: "b"}
	with := func(change func(*storage.Visit)) storage.Visit { v := other; change(&v); return v }
	for _, c := range []struct {
		says   string
		before []storage.Visit
		after  []storage.Visit
		want   Kind
		reason string
	}{
		{"unchanged", []storage.Visit{good}, []storage.Visit{{Status: 304}}, "", ""},
		{"the same again", []storage.Visit{good}, []storage.Visit{good}, "", ""},
		{"another text", []storage.Visit{good}, []storage.Visit{other}, Changed, ""},
		{"not there before", nil, []storage.Visit{good}, New, ""},
		{"never there", nil, []storage.Visit{{Status: 404}}, "", ""},
		{"gone", []storage.Visit{good}, []storage.Visit{{Status: 410}}, Gone, ""},
		{"gone since before", []storage.Visit{good, {Status: 410}}, []storage.Visit{{Status: 410}}, "", ""},
		{"gone after two rounds", []storage.Visit{good, {Status: 404}}, []storage.Visit{{Status: 404}}, Gone, ""},
		{"missing once", []storage.Visit{good}, []storage.Visit{{Status: 404}}, Suspect, "404, once"},
		{"back", []storage.Visit{good, {Status: 410}}, []storage.Visit{good}, Back, ""},
		{"moved", []storage.Visit{good}, []storage.Visit{{Status: 301, Location: "http://a/new"}}, Moved, "http://a/new"},
		{"down", []storage.Visit{good}, []storage.Visit{{Status: 503}}, Unreachable, "HTTP 503"},
		{"no answer", []storage.Visit{good}, []storage.Visit{{Error: "refused"}}, Unreachable, "refused"},
		{"cut off", []storage.Visit{good}, []storage.Visit{with(func(v *storage.Visit) { v.Truncated = "disconnect" })}, Unreachable, "cut off by the server"},
		{"a challenge", []storage.Visit{good}, []storage.Visit{with(func(v *storage.Visit) { v.Blocked = "challenge" })}, Unreachable, "challenge"},
		{"suspect", []storage.Visit{good}, []storage.Visit{with(func(v *storage.Visit) { v.Suspect = "empty" })}, Suspect, "empty"},
		{"suspect, and the page after it", []storage.Visit{good}, []storage.Visit{with(func(v *storage.Visit) { v.Suspect = "empty" }), good}, "", ""},
	} {
		all := slices.Concat(c.before, c.after)
		for i := range all {
			all[i].Class = "page"
		}
		visits := seen(all...)
		r := round{noise: newNoise()}
		r.opts.Since = time.Unix(int64(len(c.before))*86400-1, 0)
		var kind Kind
		var reason string
		if got := r.compare(visits); got != nil {
			kind, reason = got.Kind, got.Reason
		}
		if kind != c.want || reason != c.reason {
			t.Errorf("%s: %q (%s), want %q (%s)", c.says, kind, reason, c.want, c.reason)
		}
	}
}

func TestNoise(t *testing.T) {
	n := newNoise()
	n.pages = 100
	for i := range 100 {
		was := []string{"Generated on 3 May 2026.", "A text that stays.", fmt.Sprintf("visitor %d", i)}
		now := []string{"Generated on 4 June 2026.", "A text that stays.", fmt.Sprintf("visitor %d", i*7)}
		if i < 4 {
			now = append(now, fmt.Sprintf("News of page %c.", 'a'+i))
		}
		n.add(compareBlocks(was, now))
	}
	d := compareBlocks([]string{"Generated on 5 May 2026.", "Old words here."}, []string{"Generated on 6 May 2026.", "Old words there.", "News of page a."})
	var left []string
	for _, p := range d.passages {
		was, now := n.left(p)
		left = append(append(left, was...), now...)
	}
	if want := []string{"Old words here.", "Old words there.", "News of page a."}; !slices.Equal(left, want) {
		t.Errorf("got %q, want %q", left, want)
	}
}

func TestFewPages(t *testing.T) {
	n := newNoise()
	n.pages = 3
	if was, now := n.left(passage{[]string{"12 visitors"}, []string{"13 visitors"}}); len(was)+len(now) > 0 {
		t.Error("on few pages digits are noise")
	}
	if _, now := n.left(passage{[]string{"12 visitors"}, []string{"13 guests"}}); len(now) != 1 {
		t.Error("other words are none")
	}
}

func TestPassage(t *testing.T) {
	p := passageOf([]string{"the quick brown fox"}, []string{"the slow brown fox jumps"})
	want := []Word{{"=", "the"}, {"-", "quick"}, {"+", "slow"}, {"=", "brown fox"}, {"+", "jumps"}}
	if !slices.Equal(p.Words, want) {
		t.Errorf("got %v, want %v", p.Words, want)
	}
}

func TestLastPair(t *testing.T) {
	of := func(digest string) storage.Visit {
		return storage.Visit{Status: 200, Digest: digest, Kept: storage.KeptResponse}
	}
	failed := storage.Visit{Status: 503, Digest: "e", Kept: storage.KeptResponse}
	withheld := storage.Visit{Status: 200, Digest: "w", Kept: storage.KeptWithheld}
	for _, c := range []struct {
		says     string
		visits   []storage.Visit
		was, now int // -1: none
	}{
		{"no visit", nil, -1, -1},
		{"one copy", []storage.Visit{of("a")}, -1, -1},
		{"the same twice", []storage.Visit{of("a"), of("a")}, -1, -1},
		{"an error is no copy", []storage.Visit{of("a"), failed}, -1, -1},
		{"what was withheld is none", []storage.Visit{of("a"), withheld}, -1, -1},
		{"two", []storage.Visit{of("a"), of("b")}, 0, 1},
		{"the last two that differ", []storage.Visit{of("a"), of("b"), failed, of("c"), of("c")}, 1, 3},
	} {
		visits := seen(c.visits...)
		was, now := LastPair(visits)
		if slices.Index(visits, was) != c.was || slices.Index(visits, now) != c.now {
			t.Errorf("%s: got %v, %v", c.says, was, now)
		}
	}
}
