package mirror_test

import (
	"strings"
	"testing"
)

// Pages of one directory with the same references are rewritten the same: the first by
// resolving its references, the others from the cache.
func TestReferencesThatWereMetBefore(t *testing.T) {
	t.Parallel()
	const content = `<!DOCTYPE html><title>x</title><link rel=stylesheet href=s.css><link rel=canonical href=c><link rel=icon href="p.png"><img src=p.png>
<a href=c>1</a> <a href="c#part">2</a> <a href=" c#part ">3</a> <a href="c#a b">4</a> <a href="c#\"q">5</a> <a href="c#ä">6</a> <a href="c#&amp;x">7</a>
<a href="c?q=1#f">8</a> <a href="c#!route">9</a> <a href="c#">10</a> <a href="/d/c">11</a> <a href="../d/c">12</a> <a href="../d/c#x">13</a>
<a href=r>14</a> <a href="r#own">15</a> <a href=gone>16</a> <a href="gone#x">17</a> <a href="http://other.example/x">18</a>
<a href="d%20e">19</a> <a href="d%20e#f">20</a> <form action=c></form> <iframe src="c#part"></iframe> <a href="c
">21</a> <meta http-equiv=refresh content="9; url=c#part">`
	s := serve(t, `
-- / --
<title>start</title><a href=/d/1>1</a><a href=/d/2>2</a><a href=/d/3>3</a><a href=/e/1>4</a>
-- /d/1 --
`+content+`
-- /d/2 --
`+content+`
-- /d/3 --
<base href="/e/">`+content+`
-- /e/1 --
`+strings.ReplaceAll(content, "=c>", "=/d/c>")+`
-- /e/c --
<title>other</title>
-- /d/c --
<title>c</title><a href="c#self">1</a><a href="/d/c#self">2</a><a href="c">3</a><a href="../d/c#self">4</a>
-- /d/d%20e --
<title>blank</title>
-- /d/c?q=1 --
<title>q</title>
-- /d/r --
HTTP 302
Location: /d/c#there

-- /d/s.css --
HTTP 200
Content-Type: text/css

a { background: url(p.png) }
-- /d/p.png --
HTTP 200
Content-Type: image/png

PNG
`)
	dir := crawl(t, s)
	files := exported(t, s, dir)
	if files["d/1.html"] != files["d/2.html"] {
		t.Errorf("1: %s\n2: %s", files["d/1.html"], files["d/2.html"])
	}
	for _, want := range []string{`href="c.html#there"`, `href="c.html#own"`, `href="c.html#a%20b"`,
		`href="c@q=1.html#f"`, `href="d%20e.html#f"`, `action="c.html"`, `src="c.html#part"`} {
		if !strings.Contains(files["d/2.html"], want) {
			t.Errorf("%s is not in %s", want, files["d/2.html"])
		}
	}
	if got := files["d/c.html"]; !strings.Contains(got, `"#self">1`) || !strings.Contains(got, `"#self">2`) ||
		!strings.Contains(got, `"#self">4`) || !strings.Contains(got, `"c.html">3`) {
		t.Errorf("d/c.html: %s", got)
	}
	if got := files["d/3.html"]; !strings.Contains(got, `"../e/c.html">1<`) {
		t.Errorf("d/3.html: %s", got)
	}
}
