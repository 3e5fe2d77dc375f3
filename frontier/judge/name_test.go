package judge_test

import (
	"testing"

	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
)

func TestSameSite(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"http://a.example/", "https://a.example/", true},
		{"https://a.example/", "http://a.example/", true},
		{"http://a.example/", "https://www.a.example/", true},
		{"https://a.example/", "https://www.a.example/", true},
		{"http://www.a.example:8080/", "http://a.example:8080/", true},
		{"https://www.blog.a.example/", "https://blog.a.example/", true},
		{"https://www.xn--80ak6aa92e.example/", "https://xn--80ak6aa92e.example/", true},
		{"http://a.example/", "http://a.example:8080/", false},
		{"http://a.example/", "https://a.example:8443/", false},
		{"http://a.example:8080/", "https://a.example/", false},
		{"http://127.0.0.1:8080/", "http://127.0.0.1:9090/", false},
		{"http://a.example/", "https://b.example/", false},
		{"http://a.example/", "https://shop.a.example/", false},
		{"http://a.example/", "https://www.shop.a.example/", false},
		{"http://a.example/", "https://www2.a.example/", false},
		{"http://a.example/", "https://www.www.a.example/", false},
		{"https://co.uk/", "https://www.co.uk/", false},
		{"https://github.io/", "https://www.github.io/", false},
		{"https://wiki/", "https://www.wiki/", false},
		{"https://com/", "https://www.com/", false},
	} {
		a, b := weburl.MustParse(c.a), weburl.MustParse(c.b)
		if judge.SameSite(a, b) != c.want || judge.SameSite(b, a) != c.want {
			t.Errorf("%s and %s: one site %v, want %v", c.a, c.b, !c.want, c.want)
		}
	}
}

func TestPagesAreAskedForUnderThePrimaryName(t *testing.T) {
	s := (&judge.Settings{Scope: judge.Scope{Origins: []string{"http://a.example"}, Domain: "a.example"}}).
		With(judge.Names{Alias: "https://www.a.example", Primary: "https://www.a.example"})
	for _, c := range []struct {
		what    string
		link    judge.Link
		instead string
	}{
		{"a page", judge.Link{Class: judge.Page, URL: weburl.MustParse("http://a.example/x?q=1")},
			"https://www.a.example/x?q=1"},
		{"a picture", judge.Link{Class: judge.Requisite, URL: weburl.MustParse("http://a.example/x.png")},
			"https://www.a.example/x.png"},
		{"what a redirect leads to", judge.Link{Class: judge.Page, How: judge.HowRedirect,
			URL: weburl.MustParse("http://a.example/x")}, "https://www.a.example/x"},
		{"the primary name", judge.Link{Class: judge.Page, URL: weburl.MustParse("https://www.a.example/x")}, ""},
		{"a host of the domain", judge.Link{Class: judge.Page, URL: weburl.MustParse("https://shop.a.example/x")}, ""},
		{"robots.txt", judge.Link{Class: judge.Prerequisite, URL: weburl.MustParse("http://a.example/robots.txt")}, ""},
		{"a sitemap", judge.Link{Class: judge.Sitemap, URL: weburl.MustParse("http://a.example/sitemap.xml")}, ""},
		{"the seed", judge.Link{Class: judge.Page, How: judge.HowSeed, URL: weburl.MustParse("http://a.example/")}, ""},
		{"what the primary name lacks", judge.Link{Class: judge.Page, How: judge.HowOwnName,
			URL: weburl.MustParse("http://a.example/x")}, ""},
	} {
		v := judge.Decide(judge.Found, &c.link, &judge.Facts{Settings: s})
		if v.Instead.String() != c.instead || v.Excludes() != (c.instead != "") {
			t.Errorf("%s: instead of it %q, excluded %v; want %q", c.what, v.Instead, v.Reason, c.instead)
		}
	}
}
