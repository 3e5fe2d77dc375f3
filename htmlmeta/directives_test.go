package htmlmeta

import (
	"bufio"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"curtsy/internal/weburl"
)

// fact is one line of testdata/page.jsonl: the headers and metas of a page, and the directives
// that they give an agent.
type fact struct {
	ID, Agent, Source, Note string
	Headers                 [][2]string
	Meta                    []struct{ Name, Content string }
	HTML                    string
	Index, Follow, Archive  bool
	Snippet                 bool
	MaxSnippet              *int       `json:"max_snippet"`
	ImageIndex              bool       `json:"image_index"`
	Translate               bool       `json:"translate"`
	UnavailableAfter        *time.Time `json:"unavailable_after"`
}

func (f fact) page() Page {
	h := http.Header{"Content-Type": {"text/html"}}
	for _, line := range f.Headers {
		h.Add(line[0], line[1])
	}
	doc := f.HTML
	for _, m := range f.Meta {
		doc += fmt.Sprintf("<meta name=\"%s\" content=\"%s\">\n", html.EscapeString(m.Name),
			html.EscapeString(m.Content))
	}
	return Page{URL: weburl.MustParse("http://example.com/"), Header: h, Body: []byte(doc)}
}

func TestFacts(t *testing.T) {
	file, err := os.Open("testdata/page.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var f fact
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			t.Fatal(err)
		}
		t.Run(f.ID+" "+f.Source, func(t *testing.T) {
			check(t, Read(f.page(), Options{Agents: []string{f.Agent}}).Directives, f)
		})
	}
}

func check(t *testing.T, d Directives, f fact) {
	t.Helper()
	want := Directives{}
	for name, flag := range want.Words() {
		*flag = !map[string]bool{"noindex": f.Index, "nofollow": f.Follow, "noarchive": f.Archive,
			"noimageindex": f.ImageIndex, "notranslate": f.Translate}[name]
	}
	want.MaxSnippet, want.UnavailableAfter = f.MaxSnippet, f.UnavailableAfter
	got := d
	got.Sources = nil
	if brief(got) != brief(want) || f.Snippet != (d.MaxSnippet == nil || *d.MaxSnippet != 0) {
		t.Errorf("%s\n got %+v\nwant %+v", f.Note, got, want)
	}
}

// brief formats directives as "noindex nofollow max-snippet=5".
func brief(d Directives) string {
	var b []string
	add := func(no bool, s string) {
		if no {
			b = append(b, s)
		}
	}
	for name, flag := range d.Words() {
		add(*flag, name)
	}
	if d.MaxSnippet != nil {
		add(true, fmt.Sprintf("max-snippet=%d", *d.MaxSnippet))
	}
	if d.UnavailableAfter != nil {
		add(true, "until="+d.UnavailableAfter.Format(time.RFC3339))
	}
	return strings.Join(b, " ")
}

func TestHeaderLines(t *testing.T) {
	for _, c := range []struct{ lines, want string }{
		{"noindex", "noindex"},
		{"NoIndex , NOFOLLOW", "noindex nofollow"},
		{"noindex nofollow", "noindex nofollow"},
		{"noindex;nofollow", "noindex nofollow"},
		{"noindex\tnofollow;;,noarchive", "noindex nofollow noarchive"},
		{"nocache", "noarchive"},
		{"none", "noindex nofollow"},
		{"noindex, index, follow, all", "noindex"},
		{"indexifembedded", ""},
		{"noindex, indexifembedded", "noindex"},
		{"", ""},
		{",,,", ""},
		{"foo, bar: , noindexx", ""},

		// values
		{"max-snippet:20", "max-snippet=20"},
		{"max-snippet: 20, max-snippet:5", "max-snippet=5"},
		{"max-snippet : 20", "max-snippet=20"},
		{"max-snippet:-1", ""},
		{"max-snippet:-1, nosnippet", "max-snippet=0"},
		{"nosnippet, max-snippet:50", "max-snippet=0"},
		{"max-snippet:x", ""},
		{"max-snippet:", ""},
		{"max-snippet:99999999999999999999", ""},
		{"max-image-preview:none", ""},
		{"max-image-preview: none, noarchive", "noarchive"},
		{"max-video-preview:0, nofollow", "nofollow"},
		{"max-snippet:20 noindex", "noindex max-snippet=20"},
		{"noindex max-snippet:20", "noindex max-snippet=20"},

		// agents
		{"curtsy: noindex", "noindex"},
		{"CURTSY:noindex,nofollow", "noindex nofollow"},
		{"otherbot: noindex", ""},
		{"otherbot: noindex, nofollow", ""},
		{"noarchive, otherbot: noindex, nofollow", "noarchive"},
		{"otherbot: noindex, curtsy: nofollow, noarchive", "nofollow noarchive"},
		{"otherbot: noindex, *: nofollow", "nofollow"},
		{"otherbot: noindex, robots: nofollow", "nofollow"},
		{"otherbot: noindex, : nofollow", "nofollow"},
		{"curtsybot: noindex", ""},
		{"curt: noindex", ""},
		{"curtsy : noindex", "noindex"},
		{"otherbot: max-snippet:5", ""},
		{"otherbot: unavailable_after: 25 Jun 2010 15:00:00 PST", ""},
		{"curtsy: unavailable_after: 25 Jun 2010 15:00:00 PST", "until=2010-06-25T23:00:00Z"},
		{"curtsy: max-snippet:5, otherbot: noindex", "max-snippet=5"},
		{"noindex otherbot: nofollow", "noindex"},
		{"otherbot: noindex\nnofollow", "nofollow"}, // an agent's name applies to its own line only

		// agents after an unknown rule: the stricter reading wins
		{"noindex noodp googlebot: nofollow", "noindex"},
		{"noindex noodp googlebot: nofollow, noarchive", "noindex noarchive"},
		{"noai curtsy: noindex", "noindex"},
		{"noai CURTSY : noindex, nofollow", "noindex nofollow"},
		{"noai *: noindex", "noindex"},
		{"noai robots: noindex", "noindex"},
		{"noai otherbot: noindex", ""},
		{"otherbot: noindex, noai curtsy: nofollow, noarchive", "nofollow noarchive"},
		{"otherbot: noindex, noodp otherbot: nofollow, noarchive", ""},
		{"otherbot: noarchive noai nofollow curtsy: noindex", "noindex"},
		{"curtsy: noarchive, noodp otherbot: noindex, nofollow", "nofollow noarchive"},
		{"curtsy: noarchive, noai noindex otherbot: nofollow", "noindex noarchive"},
		{"noodp curtsy: otherbot: noindex, nofollow", "nofollow"},
		{"noodp otherbot: nofollow curtsy: noindex, noarchive", "noindex noarchive"},
		{"noai curtsy: max-snippet:5", "max-snippet=5"},
		{"noai curtsy: unavailable_after: Friday, 25-Jun-10 15:00:00 PST, noarchive",
			"noarchive until=2010-06-25T23:00:00Z"},
		{"foo: noindex, nofollow", ""},

		// a broken date does not hide the rules after it
		{"unavailable_after: Friday, 25-Foo-10 15:00:00 PST, noindex", "noindex"},
		{"unavailable_after: Friday, 25 Foo 2010 15:00 curtsy: noindex, nofollow", "noindex nofollow"},
		{"unavailable after: 27 Jun 2015 15:00 otherbot: noindex, nofollow", "nofollow"},
		{"noindex unavailable after: 27 Jun 2015 15:00 PST, nofollow", "noindex nofollow"},
		{"15:00 PST, noindex", "noindex"},
		{"unavailable_after: never noindex", "noindex"},
		{"unavailable_after: 25 Foo 2010 15:00:00 PST noindex, nofollow", "noindex nofollow"},
		{"unavailable_after: never otherbot: noindex", ""},
		{"unavailable_after: never curtsy: noindex", "noindex"},
		{"unavailable_after: none", ""},
		{"unavailable_after: 25 Jun 2010" + strings.Repeat(" noindex", 50) + " nofollow",
			"noindex nofollow until=2010-06-25T00:00:00Z"},
		{"noodp otherbot: unavailable_after: Fri, 25 Jun 2010 noindex", "noindex"},

		// dates in lists
		{"unavailable_after: 25 Jun 2010 15:00:00 PST, noindex", "noindex until=2010-06-25T23:00:00Z"},
		{"unavailable_after: Friday, 25-Jun-10 15:00:00 PST, noindex", "noindex until=2010-06-25T23:00:00Z"},
		{"noarchive, unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT", "noarchive until=2010-06-25T15:00:00Z"},
		{"unavailable_after: 2010-06-25T15:00:00+02:00, nofollow", "nofollow until=2010-06-25T13:00:00Z"},
		{"unavailable_after: June 25, 2010, nofollow", "nofollow until=2010-06-25T00:00:00Z"},
		{"unavailable_after: never, noindex", "noindex"},
		{"unavailable_after: , noindex", "noindex"},
		{"unavailable_after: 25 Jun 2012\nunavailable_after: 2010-06-25\nunavailable_after: 25 Jun 2011",
			"until=2010-06-25T00:00:00Z"},
		{"unavailable_after: 25 Jun 2010 15:00:00 PST noindex", "noindex until=2010-06-25T23:00:00Z"},
		{"otherbot: unavailable_after: Friday, 25-Jun-10 15:00:00 PST, noindex", ""},
		{"UNAVAILABLE_AFTER: 2010-06-25", "until=2010-06-25T00:00:00Z"},
		{"unavailable after: 27 Jun 2015 15:00 PST, noindex", "noindex"},
	} {
		h := http.Header{"X-Robots-Tag": strings.Split(c.lines, "\n")}
		if got := brief(ReadDirectives(h, Options{Agents: []string{"curtsy"}})); got != c.want {
			t.Errorf("%q: got %q, want %q", c.lines, got, c.want)
		}
	}
}

func TestMetaPlaces(t *testing.T) {
	const robots = `<meta name="robots" content="noindex">`
	for _, c := range []struct{ name, html, want string }{
		{"in the head", "<head>" + robots, "noindex"},
		{"in the body", "<body><div>" + robots, "noindex"},
		{"before what nobody knows", `<meta name=robots content="noindex og:x">`, "noindex"},
		{"a piece that nobody knows", `<meta name=robots content="nofollow og:title noindex, noarchive">`,
			"nofollow noarchive"},
		{"a meta names nobody in its content", `<meta name=robots content="noarchive curtsy: noindex">`, "noarchive"},
		{"in noscript", "<noscript>" + robots + "</noscript>", "noindex"},
		{"behind the end", "</body></html>" + robots, "noindex"},
		{"in a comment", "<!-- " + robots + " -->", ""},
		{"behind an empty comment", "<!-->" + robots + " -->", "noindex"},
		{"in a comment that never ends", "<!-- " + robots, ""},
		{"in a script", "<script>'" + robots + "'</script>", ""},
		{"in a script's comment", "<script><!-- <script></script>" + robots + "--></script>", ""},
		{"in a style", "<style>" + robots + "</style>", ""},
		{"in a textarea", "<textarea>" + robots + "</textarea>", ""},
		{"in a title", "<title>" + robots + "</title>", ""},
		{"in a title in svg", "<svg><title>" + robots + "</title></svg>", "noindex"},
		{"in xmp", "<xmp>" + robots + "</xmp>", ""},
		{"in an iframe", "<iframe>" + robots + "</iframe>", ""},
		{"in a template", "<template>" + robots + "</template>", ""},
		{"behind a template", "<template></template>" + robots, "noindex"},
		{"in CDATA, which HTML has not", "<![CDATA[>" + robots + "]]>", "noindex"},
		{"in CDATA in svg", "<svg><![CDATA[>" + robots + "]]></svg>", ""},
		{"behind plaintext", "<plaintext>" + robots, ""},
		{"in an attribute", "<p title='" + robots + "'>", ""},
		{"behind a self-closing script in svg", "<svg><script href=x /></svg>" + robots, "noindex"},
		{"in a srcdoc", "<iframe srcdoc='" + robots + "'></iframe>", ""},

		{"no quotes, any case", "<META CONTENT=NoIndex NAME=ROBOTS>", "noindex"},
		{"blanks round the name", `<meta name=" robots&#10;" content=noindex>`, "noindex"},
		{"entities", `<meta name="&#114;obots" content="no&#x69;ndex">`, "noindex"},
		{"our name", `<meta name=Curtsy content=noindex>`, "noindex"},
		{"another's name", `<meta name=googlebot content=noindex>`, ""},
		{"part of our name", `<meta name=curtsybot content=noindex>`, ""},
		{"no name", `<meta content=noindex>`, ""},
		{"no content", `<meta name=robots>`, ""},
		{"property is no name", `<meta property=robots content=noindex>`, ""},
		{"first of duplicates", `<meta name=robots name=x content=noindex content=nofollow>`, "noindex"},
		{"second of duplicates", `<meta name=x name=robots content=noindex>`, ""},
		{"slash between attributes", `<meta/name='robots'/content='noindex'/>`, "noindex"},
		{"metas add up", `<meta name=robots content=nofollow><meta name=curtsy content=noarchive><meta name=robots content="index,follow">`, "nofollow noarchive"},
		{"a cut tag", `<meta name=robots content="noindex`, ""},
	} {
		p := Page{Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(c.html)}
		if got := brief(Read(p, Options{Agents: []string{"curtsy"}}).Directives); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSources(t *testing.T) {
	p := Page{
		Header: http.Header{"X-Robots-Tag": {"noindex, otherbot: nofollow", "curtsy: max-snippet:20"}},
		Body:   []byte(`<meta name="robots" content="none, noodp">`),
	}
	got := Read(p, Options{Agents: []string{"curtsy"}}).Directives.Sources
	want := []Source{
		{Directive: "noindex", From: FromHeader, Text: "noindex, otherbot: nofollow"},
		{Directive: "max-snippet:20", From: FromHeader, Agent: "curtsy", Text: "curtsy: max-snippet:20"},
		{Directive: "none", From: FromMeta, Text: "none, noodp"},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
