package markdown_test

import (
	"net/http"
	"strings"
	"testing"

	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
	"curtsy/publish/markdown"
)

func page(kind, body string) htmlmeta.Page {
	return htmlmeta.Page{URL: weburl.MustParse("http://h/d/p"), Header: http.Header{"Content-Type": {kind}},
		Body: []byte(body)}
}

func TestMarkdown(t *testing.T) {
	w := markdown.NewWriter(false)
	long := strings.Repeat("words that make the page long enough. ", 5)
	for _, c := range []struct{ says, body, want string }{
		{"links are absolute", `<p>a <a href="../x?q#f">b</a>`, "a [b](http://h/x?q#f)"},
		{"by the base of the page", `<base href="/deep/"><p><a href=x>b</a>`, "[b](http://h/deep/x)"},
		{"queries stay as they are", `<p><a href="/?a=1;b=c:d+e%2F(f)&g">h</a><img src="i?j=k;l" alt=m>`,
			"[h](http://h/?a=1;b=c:d+e%2F%28f%29&g)![m](http://h/d/i?j=k;l)"},
		{"places to link to", `<h2><a id=a></a>b <a name=c>d</a><a href="#e" title="Permalink">¶</a></h2><p><a name=f></a>g <a href=h>→</a> <a href=h><img src=i alt=j></a>`,
			"## b d\n\ng [→](http://h/d/h) [![j](http://h/d/i)](http://h/d/h)"},
		{"scripts are no links", `<p><a href="javascript:x()">b</a> c`, "b c"},
		{"a table", `<table><tr><th>a<th>b<tr><td>1<td>2</table>`, "| a | b |\n|---|---|\n| 1 | 2 |"},
		{"code", "<pre><code class=language-sh>a *b*\n  c</code></pre>", "```sh\na *b*\n  c\n```"},
		{"code of Sphinx", `<div class="highlight-python3 notranslate"><div class="highlight"><pre><span></span>a`,
			"```python3\na\n```"},
		{"of GitHub", `<div class="highlight highlight-source-c++"><pre>a`, "```c++\na\n```"},
		{"of Rouge", `<div class="language-ruby highlighter-rouge"><div class=highlight><pre class=highlight><code>a`,
			"```ruby\na\n```"},
		{"of Hugo", `<div class=highlight><pre><code data-lang=Go>a`, "```go\na\n```"},
		{"of MediaWiki", `<div class="mw-highlight mw-highlight-lang-php"><pre>a`, "```php\na\n```"},
		{"of Org mode", `<pre class="src src-emacs-lisp">a`, "```emacs-lisp\na\n```"},
		{"of SyntaxHighlighter", `<pre class="brush: java; toolbar: false">a`, "```java\na\n```"},
		{"of Google's prettifier", `<pre class="prettyprint lang-config">a`, "```config\na\n```"},
		{"of no language", `<div class="lang-en highlight-default notranslate"><pre>a`, "```\na\n```"},
		{"lists", `<ul><li>a<ul><li>b</ul></ul><ol start=3><li>c</ol>`, "- a\n  \n  - b\n\n<!--THE END-->\n\n3. c"},
		{"text is no markup", `<p># a *b* <code>*</code>`, "\\# a \\*b* `*`"},
		{"the frame is left out", `<nav>n</nav><header>h</header><main><header>in</header>` + long +
			`</main><footer>f</footer>`, "in\n\n" + strings.TrimSpace(long)},
		{"but not where it is all there is", `<form><p>` + long + `</form>`, strings.TrimSpace(long)},
		{"what is kept from results", `<p>a<p data-nosnippet>SECRET<p>b<noindex>SECRET</noindex><!--noindex-->SECRET<b>SECRET</b><!--/noindex-->c<p hidden>SECRET`, "a\n\nbc"},
		{"scripts and styles", `<script>SECRET</script><style>SECRET</style><template>SECRET</template><p>a`, "a"},
	} {
		if got := w.Of(page("text/html", c.body), 1<<20); got != c.want {
			t.Errorf("%s: got %q, want %q", c.says, got, c.want)
		}
	}
	if got := w.Of(page("text/plain", "a\n\n# b"), 100); got != "a\n\n\\# b" {
		t.Errorf("of a text: %q", got)
	}
	if got := w.Of(page("text/html; charset=windows-1251", "<p>\xe0"), 100); got != "а" {
		t.Errorf("its charset: %q", got)
	}
	if got := w.Of(page("text/html", "<p>"+long+"<p>"+long), len(long)+5); got != strings.TrimSpace(long) {
		t.Errorf("cut: %q", got)
	}
	deep := strings.Repeat("<div>", 3000) + "deep"
	if got := w.Of(page("text/html", deep), 100); got != "deep" {
		t.Errorf("a tree that is too deep: %q", got)
	}
}
