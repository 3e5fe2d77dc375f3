package htmlmeta

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"curtsy/internal/weburl"
)

// The fragment targets of a page, and the fragments that its links use, with their URLs.
func TestFragments(t *testing.T) {
	for body, want := range map[string]string{
		`<p ID=a><p id="a"><a name="b&amp;c"></a><img name=no><P id='ж'>`:                "a b&c ж |",
		`<a href="#x">1</a><a href="/p#y ">2</a><a href="./p">3</a><a href="/p#z">4</a>`: "| /d#x /p /p#y /p#z",
		`<a href="/p#y">1</a><a href="/p#y">2</a><area href="/q?a&amp;b#z">`:             "| /p#y /q?a&b#z",
		`<a href="mailto:a@b#c">1</a><a href="&#x2F;p">2</a><a href="/p&#35;x">3</a>`:    "| /p /p#x",
		`<base href="/base/"><a href="#x">1</a><iframe srcdoc="<p id=in>"></iframe>`:     "| /base/#x",
		`<!-- <p id=no> --><script>"<p id=no>"</script><template><p id=yes></template>`:  "yes |",
	} {
		doc := Read(Page{URL: weburl.MustParse("http://h/d"), Body: []byte(body),
			Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}}, Options{})
		got := append(slices.Clone(doc.IDs), "|")
		for _, f := range doc.Fragments {
			got = append(got, strings.TrimSuffix(strings.TrimPrefix(doc.Links[f.Link].URL.String(), "http://h")+"#"+f.Text, "#"))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: got %q, want %q", body, s, want)
		}
	}
}

// Ids that occur more than once are noted once each, in the order of the page.
func TestIDsThatOccurTwice(t *testing.T) {
	t.Parallel()
	d := Read(Page{Body: []byte(`<p id=a><p id=b><p id=c><a name=c></a><p id="&amp;"><p id=""><p id="">` +
		`<p id=b><p id=a><p id=b><p id="&amp;">`),
		Header: htmlHeader}, Options{})
	var got []string
	for _, n := range d.Notes {
		if n.Name == NoteIDTwice {
			got = append(got, n.Text)
		}
	}
	if want := []string{"b", "a", "&"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
