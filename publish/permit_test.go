package publish

import (
	"testing"
	"time"

	"curtsy/storage"
)

func TestDecide(t *testing.T) {
	now := time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)
	past, soon := now.Add(-time.Second), now.Add(time.Second)
	twenty, zero := 20, 0
	for _, c := range []struct {
		says string
		v    storage.Visit
		want Permit
		why  string
	}{
		{"a page that asks for nothing is shown", storage.Visit{Kept: storage.KeptResponse}, Permit{Show: true, List: true, Snippet: NoLimit, Images: true, Translate: true}, ""},
		{"noindex is shown, and not listed", storage.Visit{Directives: &storage.Directives{NoIndex: true, Sources: []storage.Source{{Directive: "none", From: "meta", Text: "none"}}}},
			Permit{Show: true, Snippet: NoLimit, Images: true, Translate: true}, "none (meta: none)"},
		{"noarchive is not shown, but listed", storage.Visit{Directives: &storage.Directives{NoArchive: true}}, Permit{List: true, Snippet: NoLimit, Images: true, Translate: true}, "noarchive"},
		{"a body that was withheld is not shown", storage.Visit{Kept: storage.KeptWithheld}, Permit{List: true, Snippet: NoLimit, Images: true, Translate: true}, "noarchive"},
		{"unavailable_after in the past hides", storage.Visit{Directives: &storage.Directives{UnavailableAfter: &past, Sources: []storage.Source{{Directive: "unavailable_after:1 Jun", From: "X-Robots-Tag", Text: "unavailable_after: 1 Jun"}}}},
			Permit{Snippet: NoLimit, Images: true, Translate: true}, "unavailable_after:1 Jun (X-Robots-Tag: unavailable_after: 1 Jun)"},
		{"unavailable_after hides from its very moment", storage.Visit{Directives: &storage.Directives{UnavailableAfter: &now}}, Permit{Snippet: NoLimit, Images: true, Translate: true}, "unavailable_after"},
		{"unavailable_after in the future is no rule yet", storage.Visit{Directives: &storage.Directives{UnavailableAfter: &soon}}, Permit{Show: true, List: true, Snippet: NoLimit, Images: true, Translate: true}, ""},
		{"max-snippet limits", storage.Visit{Directives: &storage.Directives{MaxSnippet: &twenty}}, Permit{Show: true, List: true, Snippet: 20, Images: true, Translate: true}, "nosnippet"},
		{"nosnippet and the rest", storage.Visit{Directives: &storage.Directives{MaxSnippet: &zero, NoImageIndex: true, NoTranslate: true}}, Permit{Show: true, List: true}, "nosnippet; noimageindex; notranslate"},
		{"nofollow is nothing to publishing", storage.Visit{Directives: &storage.Directives{NoFollow: true}}, Permit{Show: true, List: true, Snippet: NoLimit, Images: true, Translate: true}, ""},
	} {
		got := Decide(&c.v, now)
		why := got.Why()
		got.Reasons = nil
		if got.Show != c.want.Show || got.List != c.want.List || got.Snippet != c.want.Snippet || got.Images != c.want.Images || got.Translate != c.want.Translate || why != c.why {
			t.Errorf("%s: got %+v because %q, want %+v because %q", c.says, got, why, c.want, c.why)
		}
	}
}
