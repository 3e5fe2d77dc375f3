package publish

import (
	"testing"
	"time"

	"curtsy/internal/robotsmeta"
	"curtsy/storage/crawllog"
)

func TestDecide(t *testing.T) {
	now := time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)
	past, soon := now.Add(-time.Second), now.Add(time.Second)
	twenty, zero := 20, 0
	for _, c := range []struct {
		says string
		v    crawllog.Visit
		want Permit
		why  string
	}{
		{"a page that asks for nothing is shown", crawllog.Visit{Stored: crawllog.Stored{Kept: crawllog.KeptResponse}},
			Permit{Show: true, List: true, Snippet: NoLimit, Images: true, Translate: true}, ""},
		{"noindex is shown, and not listed", crawllog.Visit{Directives: &crawllog.Directives{NoIndex: true,
			Sources: []robotsmeta.Source{{Directive: "none", From: "meta", Text: "none"}}}},
			Permit{Show: true, Snippet: NoLimit, Images: true, Translate: true}, "none (meta: none)"},
		{"noarchive is not shown, but listed", crawllog.Visit{Directives: &crawllog.Directives{NoArchive: true}},
			Permit{List: true, Snippet: NoLimit, Images: true, Translate: true}, "noarchive"},
		{"a body that was withheld is not shown", crawllog.Visit{Stored: crawllog.Stored{Kept: crawllog.KeptWithheld}},
			Permit{List: true, Snippet: NoLimit, Images: true, Translate: true}, "noarchive"},
		{"unavailable_after in the past hides",
			crawllog.Visit{Directives: &crawllog.Directives{UnavailableAfter: &past,
				Sources: []robotsmeta.Source{{Directive: "unavailable_after:1 Jun", From: "X-Robots-Tag",
					Text: "unavailable_after: 1 Jun"}}}},
			Permit{Snippet: NoLimit, Images: true, Translate: true},
			"unavailable_after:1 Jun (X-Robots-Tag: unavailable_after: 1 Jun)"},
		{"unavailable_after hides from its very moment",
			crawllog.Visit{Directives: &crawllog.Directives{UnavailableAfter: &now}},
			Permit{Snippet: NoLimit, Images: true, Translate: true}, "unavailable_after"},
		{"unavailable_after in the future is no rule yet",
			crawllog.Visit{Directives: &crawllog.Directives{UnavailableAfter: &soon}},
			Permit{Show: true, List: true, Snippet: NoLimit, Images: true, Translate: true}, ""},
		{"max-snippet limits", crawllog.Visit{Directives: &crawllog.Directives{MaxSnippet: &twenty}},
			Permit{Show: true, List: true, Snippet: 20, Images: true, Translate: true}, "nosnippet"},
		{"nosnippet and the rest", crawllog.Visit{Directives: &crawllog.Directives{MaxSnippet: &zero,
			NoImageIndex: true, NoTranslate: true}}, Permit{Show: true, List: true},
			"nosnippet; noimageindex; notranslate"},
		{"nofollow is nothing to publishing", crawllog.Visit{Directives: &crawllog.Directives{NoFollow: true}},
			Permit{Show: true, List: true, Snippet: NoLimit, Images: true, Translate: true}, ""},
	} {
		got := Decide(&c.v, now)
		why := got.Why()
		got.Reasons = nil
		if got.Show != c.want.Show || got.List != c.want.List || got.Snippet != c.want.Snippet ||
			got.Images != c.want.Images || got.Translate != c.want.Translate || why != c.why {
			t.Errorf("%s: got %+v because %q, want %+v because %q", c.says, got, why, c.want, c.why)
		}
	}
}
