package export

import "testing"

func TestZimPage(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`<p>as it is <a href="x">`:                         `<p>as it is <a href="x">`,
		`<p>&lt;a href="x"&gt; and <img src='y'>`:          `<p>&lt;a href=&#34;x"&gt; and <img src='y'>`,
		`<!-- <a href="x"> --><b>`:                         `<b>`,
		`<!-- plain --><a href=""><img alt src="">`:        `<!-- plain --><a href="own.html"><img alt>`,
		`<script>s = '<a href="x">'</script><i a="` + `">`: `<script>s = '<a href="x">'</script><i a="">`,
		`<style>/* src="x" */</style> href="x"`:            `<style>/* src="x" */</style> href=&#34;x"`,
		`<a href="x" <b`:                                   `<a href="x" <b`,
	} {
		if got := string(zimPage([]byte(in), "own.html")); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
}
