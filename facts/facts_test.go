package facts_test

import (
	"bytes"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"curtsy/facts"
	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
)

func read(body string) htmlmeta.Document {
	return htmlmeta.Read(htmlmeta.Page{URL: weburl.MustParse("http://h/d/p"), Body: []byte(body),
		Header: http.Header{"Content-Type": {"text/html"}, "Link": {`</x>; rel=stylesheet`}}}, htmlmeta.Options{})
}

func TestFactsSayWhatTheDocumentSays(t *testing.T) {
	var f facts.Facts // reused from page to page
	for _, body := range []string{
		"", `<p id=a><p id=ab><a name=ab href="#ab">1</a><a href="/x#c&amp;d">2</a><a href="/x">3</a><a href="?a&amp;b#e">4</a>`, `<a href="/x">1</a><a href="/y" rel="nofollow prev">2</a><img src=i.png srcset="a 1x, b 2x"><link rel=alternate type="application/rss+xml" href=feed>`,
		`<base href="https://other.example/q?ä=ö"><a href="ß">1</a><form action="/f?x"></form><script>x("/api/a.json")</script><iframe srcdoc="<a href=deep>"></iframe>`,
		strings.Repeat(`<a href="/p">p</a>`, 3) + `<a href="` + strings.Repeat("x/", 3000) + `">long</a><a href="/p?` +
			strings.Repeat("y", 9000) + `">too long</a>`,
	} {
		doc := read(body)
		for i := range doc.Links {
			doc.Links[i].NoFollow = false
		}
		if err := f.Read(facts.Of(weburl.MustParse("http://h/d/p"), &doc, len(body))); err != nil {
			t.Errorf("%.60s: %v", body, err)
		}
		if f.URL.String() != "http://h/d/p" || f.Kind != doc.Kind || f.Length != len(body) ||
			!slices.Equal(f.Tags, doc.Tags) || !slices.Equal(f.IDs, doc.IDs) || !slices.Equal(f.Fragments, doc.Fragments) || !slices.Equal(f.Notes, doc.Notes) || !reflect.DeepEqual(append([]htmlmeta.Link{}, f.Links...),
			append([]htmlmeta.Link{}, doc.Links...)) {
			t.Errorf("%.60s: got %+v, want %+v", body, f, doc)
		}
	}
}

func TestWhatAreNoFacts(t *testing.T) {
	doc := read(`<a href="/x"><a href="/y">`)
	whole := facts.Of(weburl.MustParse("http://h/"), &doc, 3)
	var f facts.Facts
	for n := range whole {
		if f.Read(whole[:n]) == nil {
			t.Errorf("cut off after %d octets, it reads", n)
		}
	}
	later := append([]byte{whole[0] + 1}, whole[1:]...)
	if f.Read(later) == nil || f.Read(append(bytes.Clone(whole), 0)) == nil {
		t.Error("of another version, or longer, it reads")
	}
}

// FuzzRead checks that any input either gives an error, or facts that survive writing and
// reading again.
func FuzzRead(f *testing.F) {
	doc := read(`<a href="/x"><img src=y><a href="http://o/z" rel=next>`)
	whole := facts.Of(weburl.MustParse("http://h/d/"), &doc, 70)
	f.Add(whole)
	places := read(`<p id=a><p id=ab><a href="#ab">1</a><a href="/x#c">2</a><a href="/x">3</a>`)
	f.Add(facts.Of(weburl.MustParse("http://h/d/"), &places, 70))
	f.Add(whole[:len(whole)/2])
	f.Add([]byte{3, 0, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, b []byte) {
		var said, again facts.Facts
		if said.Read(b) != nil {
			return
		}
		doc := htmlmeta.Document{Kind: said.Kind, Tags: said.Tags, Links: said.Links, Odd: said.Odd,
			Capped: said.Capped, IDs: said.IDs, Fragments: said.Fragments, Notes: said.Notes}
		if err := again.Read(facts.Of(said.URL, &doc, said.Length)); err != nil || !reflect.DeepEqual(again.Links,
			said.Links) || !slices.Equal(again.Tags, said.Tags) || !slices.Equal(again.IDs, said.IDs) ||
			!slices.Equal(again.Fragments, said.Fragments) || !slices.Equal(again.Notes, said.Notes) || len(again.Odd) != len(said.Odd) {
			t.Errorf("%q: %+v, again %+v, %v", b, said.Links, again.Links, err)
		}
	})
}
