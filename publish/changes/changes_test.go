package changes

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"curtsy/storage/crawllog"
)

// seen sets the visits a day apart.
func seen(visits ...crawllog.Visit) (list []*crawllog.Visit) {
	for i := range visits {
		visits[i].At = time.Unix(int64(i)*86400, 0)
		list = append(list, &visits[i])
	}
	return list
}

func TestKind(t *testing.T) {
	good, other := crawllog.Visit{Answer: crawllog.Answer{Status: 200}, Payload: crawllog.Payload{Digest: "a"}}, crawllog.Visit{Answer: crawllog.Answer{Status: 200}, Payload: crawllog.Payload{Digest: "b"}}
	with := func(change func(*crawllog.Visit)) crawllog.Visit { v := other; change(&v); return v }
	for _, c := range []struct {
		says   string
		before []crawllog.Visit
		after  []crawllog.Visit
		want   Kind
		reason string
	}{
		{"unchanged", []crawllog.Visit{good}, []crawllog.Visit{{Answer: crawllog.Answer{Status: 304}, Stored: crawllog.Stored{Refers: &crawllog.Ref{}}}}, "", ""},
		{"a 304 that nobody asked for", []crawllog.Visit{good}, []crawllog.Visit{{Answer: crawllog.Answer{Status: 304}}}, Suspect, "HTTP 304"},
		{"the same again", []crawllog.Visit{good}, []crawllog.Visit{good}, "", ""},
		{"another text", []crawllog.Visit{good}, []crawllog.Visit{other}, Changed, ""},
		{"not there before", nil, []crawllog.Visit{good}, New, ""},
		{"never there", nil, []crawllog.Visit{{Answer: crawllog.Answer{Status: 404}}}, "", ""},
		{"gone", []crawllog.Visit{good}, []crawllog.Visit{{Answer: crawllog.Answer{Status: 410}}}, Gone, ""},
		{"gone since before", []crawllog.Visit{good, {Answer: crawllog.Answer{Status: 410}}}, []crawllog.Visit{{Answer: crawllog.Answer{Status: 410}}}, "", ""},
		{"gone after two rounds", []crawllog.Visit{good, {Answer: crawllog.Answer{Status: 404}}}, []crawllog.Visit{{Answer: crawllog.Answer{Status: 404}}}, Gone, ""},
		{"missing once", []crawllog.Visit{good}, []crawllog.Visit{{Answer: crawllog.Answer{Status: 404}}}, Suspect, "404, once"},
		{"back", []crawllog.Visit{good, {Answer: crawllog.Answer{Status: 410}}}, []crawllog.Visit{good}, Back, ""},
		{"moved", []crawllog.Visit{good}, []crawllog.Visit{{Answer: crawllog.Answer{Status: 301, Location: "http://a/new"}}}, Moved,
			"http://a/new"},
		{"moved to nowhere", []crawllog.Visit{good}, []crawllog.Visit{{Answer: crawllog.Answer{Status: 301, Location: "http://b/"}}}, Suspect,
			"redirects to http://b/: not in the archive"},
		{"only a part", []crawllog.Visit{good}, []crawllog.Visit{{Answer: crawllog.Answer{Status: 206}}}, Suspect, "HTTP 206"},
		{"down", []crawllog.Visit{good}, []crawllog.Visit{{Answer: crawllog.Answer{Status: 503}}}, Unreachable, "HTTP 503"},
		{"no answer", []crawllog.Visit{good}, []crawllog.Visit{{Answer: crawllog.Answer{Error: "refused"}}}, Unreachable, "refused"},
		{"cut off", []crawllog.Visit{good}, []crawllog.Visit{with(func(v *crawllog.Visit) { v.Truncated = "disconnect" })}, Unreachable, "cut off by the server"},
		{"a challenge", []crawllog.Visit{good},
			[]crawllog.Visit{with(func(v *crawllog.Visit) { v.Blocked = "challenge" })}, Unreachable, "challenge"},
		{"suspect", []crawllog.Visit{good}, []crawllog.Visit{with(func(v *crawllog.Visit) { v.Suspect = "empty" })},
			Suspect, "empty"},
		{"suspect, and the page after it", []crawllog.Visit{good},
			[]crawllog.Visit{with(func(v *crawllog.Visit) { v.Suspect = "empty" }), good}, "", ""},
	} {
		all := slices.Concat(c.before, c.after)
		for i := range all {
			all[i].Class = "page"
		}
		visits := seen(all...)
		r := round{noise: newNoise(), find: func(url string) []*crawllog.Visit {
			if url == "http://a/new" {
				return []*crawllog.Visit{&good}
			}
			return nil
		}}
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
	d := compareBlocks([]string{"Generated on 5 May 2026.", "Old words here."},
		[]string{"Generated on 6 May 2026.", "Old words there.", "News of page a."})
	var left []string
	for _, p := range d {
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
	of := func(digest string) crawllog.Visit {
		return crawllog.Visit{Answer: crawllog.Answer{Status: 200}, Payload: crawllog.Payload{Digest: digest}, Stored: crawllog.Stored{Kept: crawllog.KeptResponse}}
	}
	failed := crawllog.Visit{Answer: crawllog.Answer{Status: 503}, Payload: crawllog.Payload{Digest: "e"}, Stored: crawllog.Stored{Kept: crawllog.KeptResponse}}
	withheld := crawllog.Visit{Answer: crawllog.Answer{Status: 200}, Payload: crawllog.Payload{Digest: "w"}, Stored: crawllog.Stored{Kept: crawllog.KeptWithheld}}
	for _, c := range []struct {
		says     string
		visits   []crawllog.Visit
		was, now int // -1: none
	}{
		{"no visit", nil, -1, -1},
		{"one copy", []crawllog.Visit{of("a")}, -1, -1},
		{"the same twice", []crawllog.Visit{of("a"), of("a")}, -1, -1},
		{"an error is no copy", []crawllog.Visit{of("a"), failed}, -1, -1},
		{"what was withheld is none", []crawllog.Visit{of("a"), withheld}, -1, -1},
		{"two", []crawllog.Visit{of("a"), of("b")}, 0, 1},
		{"the last two that differ", []crawllog.Visit{of("a"), of("b"), failed, of("c"), of("c")}, 1, 3},
	} {
		visits := seen(c.visits...)
		was, now := LastPair(visits)
		if slices.Index(visits, was) != c.was || slices.Index(visits, now) != c.now {
			t.Errorf("%s: got %v, %v", c.says, was, now)
		}
	}
}
