package status

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"curtsy/storage/crawllog"
)

func TestNamesBeginWithThatOfThePages(t *testing.T) {
	for _, c := range []struct {
		origins []string
		primary string
		want    []string
	}{
		{[]string{"http://a"}, "", []string{"http://a"}},
		{[]string{"http://a", "https://a"}, "", []string{"http://a", "https://a"}},
		{[]string{"http://a", "https://a"}, "https://a", []string{"https://a", "http://a"}},
		{[]string{"http://a", "https://a"}, "http://other", []string{"http://a", "https://a"}},
	} {
		s := State{Scope: Scope{Origins: c.origins, Primary: c.primary}}
		if got := s.Names(); !slices.Equal(got, c.want) {
			t.Errorf("%q of %q: %q, want %q", c.primary, c.origins, got, c.want)
		}
	}
}

func TestCount(t *testing.T) {
	for says, c := range map[string]struct {
		v    crawllog.Visit
		page bool
		want State
	}{
		"a page": {crawllog.Visit{Payload: crawllog.Payload{Length: 7}, Stored: crawllog.Stored{Kept: crawllog.KeptResponse}}, true,
			State{Pages: 1, Kept: 1, Totals: Totals{Visits: 1, Bytes: 7}}},
		"a picture": {crawllog.Visit{Payload: crawllog.Payload{Length: 7}, Stored: crawllog.Stored{Kept: crawllog.KeptResponse}}, false,
			State{Kept: 1, Totals: Totals{Visits: 1, Bytes: 7}}},
		"the same payload": {crawllog.Visit{Payload: crawllog.Payload{Length: 7}, Stored: crawllog.Stored{Kept: crawllog.KeptRevisit}}, true,
			State{Pages: 1, Totals: Totals{Visits: 1, Bytes: 7, Revisits: 1}}},
		"a page with noarchive": {crawllog.Visit{Payload: crawllog.Payload{Length: 7}, Stored: crawllog.Stored{Kept: crawllog.KeptWithheld}}, true,
			State{Pages: 1, Withheld: 1, Totals: Totals{Visits: 1, Bytes: 7}}},
		"a shell": {crawllog.Visit{Bare: true}, true,
			State{Pages: 1, Bare: 1, Totals: Totals{Visits: 1}}},
		"a rendered shell": {crawllog.Visit{Bare: true, Rendered: &crawllog.Rendered{}}, true,
			State{Pages: 1, Totals: Totals{Visits: 1}}},
	} {
		var got State
		got.Count(&c.v, c.page)
		if a, b := text(t, got), text(t, c.want); a != b {
			t.Errorf("%s: %s, want %s", says, a, b)
		}
	}
}

func TestOtherHostsAreAskedForSitemapsUpToABound(t *testing.T) {
	var s State
	var got []bool
	for _, host := range []string{"a", "b", "c", "a"} {
		got = append(got, s.Admit(host, 2))
	}
	if want := []bool{true, true, false, true}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestWhatIsSaidOfSessions(t *testing.T) {
	for want, s := range map[string]Session{
		"9 links carried a session id, 0 when the cookie was sent back: so cookies are kept": {Before: 9,
			Kept: true},
		"9 links carried a session id, 9 when the cookie was sent back: so cookies stay off": {Before: 9,
			After: 9},
		"it redirected to itself until its cookie was sent back: so cookies are kept": {Wall: true,
			Kept: true},
		"0 links carried a session id, 0 when the cookie was sent back: so cookies stay off": {},
		"10 links carried a session id, 1 when the cookie was sent back: so cookies are kept": {Before: 10,
			After: 1, Kept: true},
		"1000 links carried a session id, 1000 when the cookie was sent back: so cookies stay off": {Before: 1000,
			After: 1000},
	} {
		if got := s.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The part of the state written at each commit and the part written once a run together are the whole.
func TestPartsAreTheWhole(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := State{Seed: "http://a/", Settings: map[string]any{"x": "y"}, Rounds: []time.Time{now},
		Totals: Totals{Visits: 3}, Round: &Round{N: 1, Pages: 2, Bytes: 5}}
	often, lasting := s.Parts()
	whole := fields(t, lasting)
	maps.Copy(whole, fields(t, often))
	if a, b := text(t, whole), text(t, fields(t, s)); a != b {
		t.Errorf("%s, want %s", a, b)
	}
	s.Pages, s.Bytes = 3, 9
	if got, want := s.OfRound(), (RoundCount{N: 1, Pages: 1, Bytes: 4}); got != want {
		t.Errorf("of the round: %+v, want %+v", got, want)
	}
	if s.Round = nil; s.OfRound() != (RoundCount{Pages: 3, Bytes: 9}) {
		t.Errorf("without a round: %+v", s.OfRound())
	}
}

func TestGrowing(t *testing.T) {
	for growth, want := range map[float64]bool{0: false, 0.89: false, 0.9: true, 2: true} {
		if s := (Status{Pace: Pace{Growth: growth}}); s.Growing() != want {
			t.Errorf("%v: %v", growth, !want)
		}
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func fields(t *testing.T, v any) (m map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text(t, v)), &m); err != nil {
		t.Fatal(err)
	}
	return m
}
