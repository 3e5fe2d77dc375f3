package mirror

import (
	"strings"
	"testing"

	"curtsy/internal/weburl"
	"curtsy/storage/crawllog"
)

// namesOf names URLs as one site, all of them HTML except for the types given.
func namesOf(types map[string]string, targets ...string) map[string]string {
	s := &site{o: &Options{}, digest: func(crawllog.Ref) string { return "" }}
	s.o.Seed = weburl.MustParse("http://h/")
	s.o.defaults()
	for _, t := range targets {
		u := weburl.MustParse(t)
		if strings.HasPrefix(t, "http://h/") {
			t = t[len("http://h"):]
		}
		typ := types[t]
		if typ == "" {
			typ = typeHTML
		}
		s.list = append(s.list, entry{url: u, state: kept, kind: wordOf(typ), final: -1})
	}
	s.nameAll()
	got := map[string]string{}
	for _, e := range s.list {
		got[e.url.String()] = e.file
	}
	return got
}

func TestNames(t *testing.T) {
	types := map[string]string{"/a.txt": typeText, "/README.md": typeText, "/t.html": typeText,
		"/doc": "application/pdf", "/real.html": "application/pdf", "/s.php": typeCSS, "/i": "image/png",
		"/i.jpg": "image/png", "/x.bin": typeAny, "/y": typeAny,
		"/main.css?v=1": typeCSS, "/t.tar.gz": "application/gzip", "/f.woff2?": "font/woff2",
		"/x.docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document"}
	for _, c := range []struct{ url, want string }{
		{"/", "index.html"}, {"/dir", "dir.html"}, {"/dir/", "dir/index.html"}, {"/a/b", "a/b.html"},
		{"/a.txt", "a.txt"},
		{"/x.HTM", "x.HTM"}, {"/p.php", "p_php.html"}, {"/p.php?id=1&b=2", "p.php@id=1&b=2.html"}, {"/q?", "q@.html"},
		{"/q%3Fx", "q%3Fx.html"},
		{"/README.md", "README.md"}, {"/t.html", "t.html.txt"}, {"/v1.2", "v1.2.html"}, {"/doc", "doc.pdf"},
		{"/real.html", "real.html.pdf"}, {"/s.php", "s_php.css"}, {"/i", "i.png"}, {"/i.jpg", "i.jpg"},
		{"/x.bin", "x.bin"}, {"/y", "y"},
		{"/main.css?v=1", "main@v=1.css"}, {"/t.tar.gz", "t.tar.gz"}, {"/f.woff2?", "f@.woff2"}, {"/x.docx", "x.docx"},
		{"/%D1%91", "ё.html"}, {"/%D0%B5%CC%88", "ё.html"}, {"/%FF", "%FF.html"}, {"/a%20b", "a b.html"},
		{"/100%25", "100%25.html"},
		{"/sl%2Fash", "sl%2Fash.html"}, {"/b%5Cs", "b%5Cs.html"}, {"/n%00", "n%00.html"},
		{"/..%2F..%2Fetc", "%2E.%2F..%2Fetc.html"}, {"/a//b", "a/%2F/b.html"}, {"/c:d", "c%3Ad.html"},
		{"/con", "%63on.html"}, {"/AUX/x", "%41UX/x.html"}, {"/nul.tar.gz", "%6Eul.tar.gz.html"},
		{"/com1.html", "%63om1.html"}, {"/com%C2%B9", "%63om¹.html"}, {"/console", "console.html"},
		{"/.hid", "%2Ehid.html"}, {"/-x", "%2Dx.html"}, {"/~x/", "%7Ex/index.html"}, {"/d./x", "d%2E/x.html"},
		{"/d%20/x", "d%20/x.html"}, {"/bidi%E2%80%AE", "bidi%E2%80%AE.html"},
		{"/mirror-map.json", "mirror-map.json.html"}, {"/Mirror-Report.html", "%4Dirror-Report.html"},
		{"/_hosts/x", "%5Fhosts/x.html"}, {"/x/_hosts", "x/_hosts.html"},
		{"http://cdn:8080/a.css", "_hosts/cdn%3A8080/a.css.html"}, {"/q?a/b", "q@a%2Fb.html"},
		{"/x.tooooooooooooooooooooooooolong", "x.tooooooooooooooooooooooooolong.html"},
	} {
		u := c.url
		if strings.HasPrefix(u, "/") {
			u = "http://h" + u
		}
		got := namesOf(types, u)
		for _, name := range got {
			if name != c.want {
				t.Errorf("%s is named %q, want %q", c.url, name, c.want)
			}
			if why := badName(name[strings.LastIndexByte(name, '/')+1:]); why != "" {
				t.Errorf("%s is named %q: %s", c.url, name, why)
			}
		}
	}
}

// TestNamesThatAreObeyed checks that no file or directory has a name that a web server executes
// or a desktop acts on, and that the extension fits the type.
func TestNamesThatAreObeyed(t *testing.T) {
	for _, c := range []struct{ typ, url, want string }{
		{typeHTML, "/a.php", "a_php.html"}, {typeAny, "/a.php", "a_php.bin"}, {typeText, "/a.PHP5", "a_PHP5.txt"},
		{typeCSS, "/a.phtml", "a_phtml.css"}, {"image/png", "/a.cgi", "a_cgi.png"},
		{typeHTML, "/a.shtml", "a_shtml.html"}, {typeHTML, "/a.pl", "a_pl.html"}, {typeHTML, "/a.jsp", "a_jsp.html"},
		{typeHTML, "/a.asp", "a_asp.html"}, {typeHTML, "/a.aspx", "a_aspx.html"},
		{"application/x-httpd-php", "/a.php", "a_php.bin"}, {"application/x-foo", "/a.hta", "a_hta.bin"},
		{typeAny, "/a.lnk", "a_lnk.bin"}, {"application/x-desktop", "/a.desktop", "a_desktop.bin"},
		{"application/internet-shortcut", "/a.url", "a_url.bin"},
		{typeText, "/web.config", "web.config.txt"}, {"text/xml", "/Web.Config", "Web.Config.xml"},
		{typeAny, "/desktop.ini", "desktop.ini.bin"}, {typeText, "/autorun.inf", "autorun.inf.txt"},
		{typeAny, "/_redirects", "_redirects.bin"},
		{typeAny, "/.htaccess", "%2Ehtaccess"}, {typeText, "/x.htaccess", "x_htaccess.txt"},
		{typeHTML, "/index.php/a/b", "index_php/a/b.html"}, {typeHTML, "/a.php.html", "a_php.html"},
		{typeHTML, "/x?f=a.php", "x@f=a_php.html"},
		{typeHTML, "/a.php?id=1", "a.php@id=1.html"}, {typeAny, "/a.php?id=1", "a.php@id=1.bin"},
		{typeAny, "/x.tar.gz", "x.tar.gz"}, {typeAny, "/v.mp4", "v.mp4"}, {typeAny, "/README", "README"},
		{typeAny, "/x.html", "x.html.bin"}, {typeSealed, "/README", "README.bin"},
		{typeAny, "/notes.txt", "notes.txt"}, {typeAny, "/a.js", "a.js.bin"},
	} {
		for _, name := range namesOf(map[string]string{c.url: c.typ}, "http://h"+c.url) {
			if name != c.want {
				t.Errorf("%s of %s is named %q, want %q", c.url, c.typ, name, c.want)
			}
			for seg := range strings.SplitSeq(name, "/") {
				if why := badName(seg); why != "" {
					t.Errorf("%s of %s is named %q: %s", c.url, c.typ, name, why)
				}
			}
		}
	}
}

func TestNamesAreDistinct(t *testing.T) {
	for _, c := range []struct {
		says    string
		targets []string
	}{
		{"the start page and its file", []string{"/", "/index.html"}},
		{"a directory without and with its slash", []string{"/dir", "/dir/", "/dir.html"}},
		{"a file and what lies below it", []string{"/a", "/a.html", "/a.html/b", "/a/b"}},
		{"queries and names that look like them", []string{"/q", "/q?x=1", "/q?x=2", "/q%3Fx=1", "/q@x=1", "/q?"}},
		{"case", []string{"/Case", "/case", "/CASE/x", "/case/x", "/CASE/X"}},
		{"forms of a letter", []string{"/%D1%91", "/%D0%B5%CC%88", "/%D0%81"}},
		{"escapes of the same octet", []string{"/%2F", "/%2f", "/a%2fb", "/a%2Fb", "/%41", "/A"}},
		{"what folds to two letters", []string{"/stra%C3%9Fe", "/strasse", "/STRASSE"}},
		{"doubled escapes", []string{"/a:b", "/a%3Ab", "/a%253Ab"}},
		{"long names that begin alike", []string{"/" + strings.Repeat("x", 300), "/" + strings.Repeat("x", 299) + "y",
			"/" + strings.Repeat("x", 300) + "/z"}},
		{"long queries", []string{"/q?" + strings.Repeat("k=v&", 100), "/q?" + strings.Repeat("k=v&", 99)}},
		{"deep paths", []string{"/" + strings.Repeat("abcdefgh/", 90) + "x", "/" + strings.Repeat("abcdefgh/", 90) +
			"y", "/" + strings.Repeat("abcdefgh/", 91)}},
		{"empty segments", []string{"/a//b", "/a/b", "/a/%2F/b", "/a///b"}},
		{"hosts", []string{"/_hosts/h2/x", "http://h2/x", "http://h2:81/x", "http://H3/x"}},
	} {
		var urls []string
		for _, u := range c.targets {
			if strings.HasPrefix(u, "/") {
				u = "http://h" + u
			}
			urls = append(urls, u)
		}
		used := map[string]string{}
		for u, name := range namesOf(nil, urls...) {
			for d := name; ; {
				if other, ok := used[fold(d)]; ok && d == name || ok && other != "/" {
					t.Errorf("%s: %.100s is named %.100q, which is taken (%.80q)", c.says, u, name, other)
				}
				i := strings.LastIndexByte(d, '/')
				if d == name {
					used[fold(d)] = u
				} else {
					used[fold(d)] = "/"
				}
				if i < 0 {
					break
				}
				d = d[:i]
			}
			if n := units(name); n > maxPath {
				t.Errorf("%s: %.60s: a path of %d units", c.says, u, n)
			}
			for _, seg := range strings.Split(name, "/") {
				if len(seg) > maxSegment+10 || badName(seg) != "" {
					t.Errorf("%s: segment %q", c.says, seg)
				}
			}
		}
	}
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"a/b?c", "%2e%2e%2f", "con", "%D1%8F", "x/./..", "\\", "?", "a%", "%00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := weburl.MustParse("http://h/").Resolve("/" + s)
		if err != nil || u.Origin() != "http://h" {
			return
		}
		for _, name := range namesOf(nil, u.String()) {
			for _, seg := range strings.Split(name, "/") {
				if seg == "" || seg == "." || seg == ".." || badName(seg) != "" || len(seg) > maxSegment+10 {
					t.Fatalf("%q is named %q", u, name)
				}
			}
			if units(name) > maxPath || decode(encodePath(name)) != name {
				t.Fatalf("%q is named %q", u, name)
			}
		}
	})
}

// An ambiguous type is decided by the root element, not by what occurs somewhere in the text.
func TestATypeInDoubtIsThatOfTheRoot(t *testing.T) {
	const xml, feed = `<?xml version="1.0"?>`,
		`<rss><channel><item><description><![CDATA[<svg><path/></svg>]]></description></item></channel></rss>`
	for _, c := range []struct{ says, typ, ext, head, want string }{
		{"a feed with a picture in CDATA", "text/xml", "", xml + feed, "text/xml"},
		{"the same without a declaration", "text/xml", ".xml", feed, "text/xml"},
		{"a feed without a type", "", "", xml + feed, "text/xml"},
		{"a feed that is called .svg", "text/xml", ".svg", xml + feed, "text/xml"},
		{"a feed that speaks of svg in a comment", "text/xml", "", "<!-- <svg> -->" + feed, "text/xml"},
		{"an Atom feed with inline markup", "text/xml", "",
			`<feed><entry><content type="xhtml"><svg/></content></entry></feed>`, "text/xml"},
		{"a picture", "text/xml", "", xml + "<svg/>", typeSVG},
		{"a picture with a prefix", "text/xml", "", xml + "<s:svg xmlns:s='http://www.w3.org/2000/svg'/>", typeSVG},
		{"a picture behind a comment, an instruction and a doctype", "text/xml", "",
			xml + `<!-- <rss> --><?x <rss>?><!DOCTYPE svg [<!-- it's --><!ENTITY e "<a/><rss>"><!ELEMENT svg (a)>]><svg>`, typeSVG},
		{"a picture behind a long prologue, by its name", typeAny, ".svg", xml + "<!--" + strings.Repeat(" ", 5000),
			typeSVG},
		{"a page", "text/xml", "", xml + "<html><svg/></html>", typeXHTML},
	} {
		if got := sniffed(c.typ, c.ext, []byte(c.head)); got != c.want {
			t.Errorf("%s: %s, want %s", c.says, got, c.want)
		}
	}
}
