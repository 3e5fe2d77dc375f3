package crawllog

import (
	"fmt"
	"strings"
	"testing"
)

// TestStanding is the table in docs/update.md: which visit stands for a URL.
func TestStanding(t *testing.T) {
	whole := func(v Visit) *Visit { v.Status, v.Body, v.Length, v.Kept = 200, BodyWhole, 9, KeptResponse; return &v }
	to := func(url string) *Visit {
		return &Visit{Asked: Asked{URL: "http://a/"}, Answer: Answer{Status: 302, Location: url}}
	}
	of := func(status int) *Visit {
		return &Visit{Answer: Answer{Status: status}, Payload: Payload{Body: BodyWhole, Length: 9}, Stored: Stored{Kept: KeptResponse}}
	}
	in := func(round int, v *Visit) *Visit { w := *v; w.Round = round; return &w }
	known := map[string][]*Visit{
		"http://a/good":      {whole(Visit{})},
		"http://a/unchanged": {whole(Visit{}), {Answer: Answer{Status: 304}, Stored: Stored{Refers: &Ref{}}}},
		"http://a/404":       {of(404)}, "http://a/403": {of(403)}, "http://a/500": {of(500)},
		"http://a/206":     {of(206)},
		"http://a/down":    {{Answer: Answer{Error: "connection refused"}}},
		"http://a/empty":   {whole(Visit{Payload: Payload{Body: "", Suspect: ""}}), {Answer: Answer{Status: 200}, Payload: Payload{Body: BodyEmpty}, Stored: Stored{Kept: KeptResponse}}},
		"http://a/old":     {{Answer: Answer{Status: 200}, Stored: Stored{Kept: KeptResponse}, Payload: Payload{Length: 9}}}, // by an earlier curtsy
		"http://a/broken":  {{Answer: Answer{Status: 200}, Payload: Payload{Body: "checksum"}, Stored: Stored{Kept: KeptResponse}}},
		"http://a/hop":     {{Asked: Asked{URL: "http://a/hop"}, Answer: Answer{Status: 301, Location: "http://a/good"}}},
		"http://a/worse":   {{Asked: Asked{URL: "http://a/worse"}, Answer: Answer{Status: 301, Location: "http://a/404"}}},
		"http://a/back":    {{Asked: Asked{URL: "http://a/back"}, Answer: Answer{Status: 301, Location: "http://a/"}}},
		"http://a/self":    {{Asked: Asked{URL: "http://a/self"}, Answer: Answer{Status: 301, Location: "http://a/self"}}},
		"http://a/was":     {whole(Visit{}), in(2, of(404))},
		"http://a/later":   {whole(Visit{}), in(2, of(404)), in(3, whole(Visit{}))},
		"http://a/earlier": {whole(Visit{}), in(1, of(404))},
	}
	known["http://a/empty"] = known["http://a/empty"][1:]
	for i := range 30 {
		known[fmt.Sprint("http://a/", i)] = []*Visit{{Asked: Asked{URL: fmt.Sprint("http://a/", i)}, Answer: Answer{Status: 301,
			Location: fmt.Sprint("http://a/", i+1)}}}
	}
	find := func(url string) []*Visit { return known[url] }
	for _, c := range []struct {
		says string
		v    *Visit
		rank Rank
		why  string // a part of the reason
	}{
		{"a page", whole(Visit{}), Whole, ""},
		{"203", of(203), Whole, ""},
		{"an empty page, where nothing is known of an earlier one", &Visit{Answer: Answer{Status: 200}, Payload: Payload{Body: BodyEmpty}}, Whole, ""},
		{"a page of an earlier curtsy", &Visit{Answer: Answer{Status: 200}}, Whole, ""},
		{"what asks to be withheld is read no further", &Visit{Answer: Answer{Status: 200}, Stored: Stored{Kept: KeptWithheld}, Payload: Payload{Truncated: "length"}},
			Whole, ""},
		{"a coding that ends badly", &Visit{Answer: Answer{Status: 200}, Payload: Payload{Body: "content coding gzip: checksum"}}, Partial,
			"gzip: checksum"},
		{"cut off", &Visit{Answer: Answer{Status: 200}, Payload: Payload{Truncated: "disconnect"}}, Partial, "cut off"},
		{"stalled", &Visit{Answer: Answer{Status: 200}, Payload: Payload{Truncated: "time"}}, Partial, "timed out"},
		{"longer than our limit", &Visit{Answer: Answer{Status: 200}, Payload: Payload{Truncated: "length"}}, Limited, "longer"},
		{"suspect", &Visit{Answer: Answer{Status: 200}, Payload: Payload{Suspect: "same-answer"}}, Refused, "same-answer"},
		{"a challenge", &Visit{Answer: Answer{Status: 200}, Payload: Payload{Blocked: "challenge"}}, Refused, "challenge"},
		{"no answer", &Visit{Answer: Answer{Error: "refused"}}, NoAnswer, "refused"},
		{"unchanged", &Visit{Answer: Answer{Status: 304}, Stored: Stored{Refers: &Ref{}}}, Without, "unchanged"},
		{"304 that nobody asked for", of(304), Without, "HTTP 304"},
		{"300 without a Location", of(300), Without, "HTTP 300"},
		{"300 with one", &Visit{Asked: Asked{URL: "http://a/"}, Answer: Answer{Status: 300, Location: "http://a/good"}}, Whole, ""},
		{"305 with a Location", &Visit{Answer: Answer{Status: 305, Location: "http://a/good"}}, Without, "HTTP 305"},
		{"306 with a Location", &Visit{Answer: Answer{Status: 306, Location: "http://a/good"}}, Without, "HTTP 306"},
		{"399 with a Location", &Visit{Answer: Answer{Status: 399, Location: "http://a/good"}}, Without, "HTTP 399"},
		{"a redirect without a Location", of(302), Without, "HTTP 302"},
		{"to a page", to("http://a/good"), Whole, ""},
		{"to a page of an earlier curtsy", to("http://a/old"), Whole, ""},
		{"to a page that is unchanged", to("http://a/unchanged"), Whole, ""},
		{"in two hops", to("http://a/hop"), Whole, ""},
		{"in twenty", to("http://a/11"), Partial, "not in the archive"},
		{"to itself", to("http://a/"), Partial, "circle"},
		{"in a circle", to("http://a/back"), Partial, "circle"},
		{"into a circle", to("http://a/self"), Partial, "circle"},
		{"to 404", to("http://a/404"), Partial, "HTTP 404"},
		{"to 404 in two hops", to("http://a/worse"), Partial, "HTTP 404"},
		{"to 403", to("http://a/403"), Partial, "HTTP 403"},
		{"to 500", to("http://a/500"), Partial, "HTTP 500"},
		{"to 206", to("http://a/206"), Partial, "HTTP 206"},
		{"to a host that does not answer", to("http://a/down"), Partial, "connection refused"},
		{"to an empty page", to("http://a/empty"), Partial, "an empty page"},
		{"to what cannot be decoded", to("http://a/broken"), Partial, "checksum"},
		{"to what the archive does not have", to("http://b/"), Partial, "not in the archive"},
		{"to what was good, and is not in the round of the redirect", in(2, to("http://a/was")), Partial, "HTTP 404"},
		{"to what was good in its round, and is gone since", to("http://a/was"), Whole, ""},
		{"to what is good again later", in(2, to("http://a/later")), Whole, ""},
		{"to what was bad when it was last asked, in an earlier round", in(2, to("http://a/earlier")),
			Partial, "HTTP 404"},
		{"with a URL that Clean-param makes another", &Visit{Asked: Asked{URL: "http://a/"}, Answer: Answer{Status: 301, Location: "http://a/?s=1",
			Target: "http://a/good"}}, Whole, ""},
	} {
		got := StandingOf(c.v, find)
		if got.Rank != c.rank || !strings.Contains(got.Why, c.why) || (got.Why == "") != got.Stands() {
			t.Errorf("%s: %d (%s), want %d (%s)", c.says, got.Rank, got.Why, c.rank, c.why)
		}
	}
	for status := 100; status < 1000; status++ {
		v := of(status)
		v.Location = "http://b/"
		want := status == 200 || status == 203
		if got := StandingOf(v, find); got.Stands() != want {
			t.Errorf("status %d: stands %v (%s)", status, got.Stands(), got.Why)
		}
	}
}

// Copies that a browser rendered differ if what it made of them does; without it in one of them, only the
// payloads tell.
func TestDiffers(t *testing.T) {
	made := func(digest, sum string) *Visit {
		v := &Visit{Payload: Payload{Digest: digest}}
		if sum != "" {
			v.Rendered = &Rendered{SHA256: sum}
		}
		return v
	}
	for _, c := range []struct {
		a, b *Visit
		want bool
	}{
		{made("x", ""), made("x", ""), false}, {made("x", ""), made("y", ""), true},
		{made("x", "1"), made("x", "1"), false}, {made("x", "1"), made("x", "2"), true}, {made("x", "1"), made("x", ""), false},
	} {
		if got := c.a.Differs(c.b); got != c.want {
			t.Errorf("%+v and %+v: %t", c.a.Payload, c.b.Payload, got)
		}
	}
}
