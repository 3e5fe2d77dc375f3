package rules

import (
	"strings"
	"testing"

	"curtsy/usage"
)

// said returns the usage preferences of a robots.txt for a target, as "search=y, train-ai=n".
func said(text, target string, d Dialect, agents ...string) string {
	r := Parse([]byte(text), Options{Agents: agents, Dialect: d})
	return usage.Combine(r.Usage(target)).String()
}

// draft-ietf-aipref-attach, figure 2 and table 1.
const attachExample = `User-Agent: *
Allow: /
Disallow: /never/
Content-Usage: train-ai=n
Content-Usage: /ai-ok/ train-ai=y

User-Agent: ExampleBot
Allow: /
Content-Usage: train-ai=y
`

func TestAttachExample(t *testing.T) {
	for _, row := range []struct {
		agent, path string
		crawl       bool
		want        string
	}{
		{"curtsy", "/test", true, "train-ai=n"},
		{"curtsy", "/never/test", false, ""},
		{"curtsy", "/ai-ok/test", true, "train-ai=y"},
		{"ExampleBot", "/test", true, "train-ai=y"},
		{"ExampleBot", "/never/test", true, "train-ai=y"},
		{"ExampleBot", "/ai-ok/test", true, "train-ai=y"},
	} {
		for _, d := range []Dialect{RFC9309, Yandex} {
			r := Parse([]byte(attachExample), Options{Agents: []string{row.agent}, Dialect: d})
			if got := r.Verdict(row.path).Allow; got != row.crawl {
				t.Errorf("%s, %s, %s: crawl is %v, want %v", d, row.agent, row.path, got, row.crawl)
			}
			if got := said(attachExample, row.path, d, row.agent); got != row.want {
				t.Errorf("%s, %s, %s: usage is %q, want %q", d, row.agent, row.path, got, row.want)
			}
		}
	}
}

func TestUsageInRobots(t *testing.T) {
	for _, row := range []struct{ name, lines, target, want string }{
		{"no path is every path", "Content-Usage: train-ai=n, search=y", "/x", "search=y, train-ai=n"},
		{"any case of the field", "CONTENT-usage: train-ai=n", "/x", "train-ai=n"},
		{"the value ends at #", "Content-Usage: train-ai=n#, search=y", "/x", "train-ai=n"},
		{"a TAB ends the path", "Content-Usage: /a\ttrain-ai=n", "/a/b", "train-ai=n"},
		{"several blanks after the path", "Content-Usage: /a  \t train-ai=n", "/a", "train-ai=n"},
		{"another path", "Content-Usage: /a train-ai=n", "/b", ""},
		{"a star first is no path", "Content-Usage: *.gif train-ai=n", "/x.gif", ""},
		{"stars in a path", "Content-Usage: /*.gif train-ai=n", "/a/x.gif", "train-ai=n"},
		{"the end of a path", "Content-Usage: /*.gif$ train-ai=n", "/x.gif?y", ""},
		{"percent forms", "Content-Usage: /%7ejoe/ train-ai=n", "/~joe/x", "train-ai=n"},
		{"%2F is no slash", "Content-Usage: /a%2fb train-ai=n", "/a/b", ""},
		{"case of the path", "Content-Usage: /A train-ai=n", "/a", ""},
		{"the longest path applies alone", "Content-Usage: train-ai=n, search=n\nContent-Usage: /a train-ai=y",
			"/a", "train-ai=y"},
		{"whichever comes first", "Content-Usage: /a train-ai=y\nContent-Usage: train-ai=n, search=n",
			"/a", "train-ai=y"},
		{"several of the same path combine", "Content-Usage: /a train-ai=y\nContent-Usage: /a search=n, train-ai=n",
			"/a", "search=n, train-ai=n"},
		{"several without a path combine", "Content-Usage: search=y\nContent-Usage: train-ai=n", "/a",
			"search=y, train-ai=n"},
		{"a longest path that says nothing", "Content-Usage: train-ai=n\nContent-Usage: /a", "/a", ""},
		{"a longest path that does not parse", "Content-Usage: train-ai=n\nContent-Usage: /a train-ai=y,", "/a", ""},
		{"a trailing comma", "Content-Usage: train-ai=n,", "/", ""},
		{"a missing comma", "Content-Usage: train-ai=n search=n", "/", ""},
		{"a capital in a key", "Content-Usage: Train-AI=n", "/", ""},
		{"what may not be crawled", "Disallow: /no\nContent-Usage: train-ai=n", "/no/x", ""},
		{"content signals", "Content-Signal: search=yes, ai-input=no, ai-train=no", "/x",
			"ai-input=no, search=yes, train-ai=no"},
		{"content signals in any order and case", "Content-Signal: AI-Train=No ,search = YES", "/x",
			"search=yes, train-ai=no"},
		{"other signals", "Content-Signal: use=reference, search=maybe, ai-train=yes", "/x", "train-ai=yes"},
		{"signals do not inherit by path", "Content-Signal: ai-train=no\nContent-Usage: /a train-ai=y",
			"/a", "train-ai=n"},
		{"among several statements n takes precedence", "Content-Signal: ai-train=yes\nContent-Usage: train-ai=n",
			"/a", "train-ai=n"},
	} {
		want := strings.NewReplacer("=yes", "=y", "=no", "=n").Replace(row.want)
		if got := said("User-agent: *\n"+row.lines+"\n", row.target, RFC9309, "curtsy"); got != want {
			t.Errorf("%s: %q, want %q", row.name, got, want)
		}
	}
}

func TestUsageInGroups(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"ours and * never mix", "User-agent: *\nContent-Usage: search=n\nUser-agent: curtsy\nContent-Usage: train-ai=n\n", "train-ai=n"},
		{"a group of ours without any hides those of *",
			"User-agent: *\nContent-Usage: search=n\n\nUser-agent: curtsy\nAllow: /\n", ""},
		{"groups of ours add up", "User-agent: curtsy\nContent-Usage: search=n\nDisallow: /no\nUser-agent: b\nDisallow: /\nUser-agent: curtsy\nContent-Usage: train-ai=n\n", "search=n, train-ai=n"},
		{"one list, one rule", "User-agent: a\nUser-agent: curtsy\nContent-Usage: train-ai=n\n", "train-ai=n"},
		{"a list after a rule begins another",
			"User-agent: curtsy\nContent-Usage: train-ai=n\nUser-agent: b\nContent-Usage: train-ai=y\n", "train-ai=n"},
		{"outside of a group", "Content-Usage: train-ai=n\nUser-agent: *\nAllow: /\n", ""},
	} {
		if got := said(row.text, "/x", RFC9309, "curtsy"); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
	// Other lines must not interfere with Allow and Disallow (RFC 9309 §2.2.4).
	r := Parse([]byte("User-agent: curtsy\nContent-Usage: train-ai=y\nUser-agent: b\nDisallow: /\n"),
		Options{Agents: []string{"curtsy"}})
	if r.Verdict("/x").Allow {
		t.Error("a Content-Usage line took a user-agent line out of the list that a Disallow is for")
	}
}

func TestUsageInOtherDialects(t *testing.T) {
	for _, d := range []Dialect{Yandex, Classic1994} {
		text := "User-agent: curtsy\nDisallow: /no\nContent-Usage: train-ai=n\nContent-Usage: /ok train-ai=y\n\nUser-agent: *\nDisallow: /\n"
		for target, want := range map[string]string{"/x": "train-ai=n", "/ok/x": "train-ai=y", "/no/x": ""} {
			if got := said(text, target, d, "curtsy"); got != want {
				t.Errorf("%s, %s: %q, want %q", d, target, got, want)
			}
		}
	}
}

func TestUsageLines(t *testing.T) {
	text := "User-agent: *\nAllow: /\nContent-Usage: /a train-ai=n\nLicense: https://example.com/license.xml\nContent-Signal: use=immediate\n"
	r := Parse([]byte(text), Options{Agents: []string{"curtsy"}})
	sum := usage.Summarize(r.Usage("/a"))
	if len(sum.By) != 1 || sum.By[0].Line != 3 || sum.By[0].Source != "robots.txt" ||
		sum.By[0].Text != "Content-Usage: /a train-ai=n" {
		t.Errorf("by %+v", sum.By)
	}
	if len(sum.Licenses) != 1 || sum.Licenses[0] != "https://example.com/license.xml" {
		t.Errorf("licenses %q", sum.Licenses)
	}
	alone := Parse([]byte("License: https://example.com/license.xml\nUser-agent: *\nDisallow: /\n"),
		Options{Agents: []string{"curtsy"}})
	if got := usage.Licenses(alone.Usage("/a")); len(got) != 1 {
		t.Errorf("a license belongs to no group: %q", got)
	}
	again := Parse(OnlyRules([]byte(text), Options{}), Options{Agents: []string{"curtsy"}})
	if got := usage.Summarize(again.Usage("/a")).By; len(got) != 1 || got[0].Line != 3 {
		t.Errorf("of the rules alone: %+v", got)
	}
}

func TestUsageWarnings(t *testing.T) {
	for line, want := range map[string]string{
		"Content-Usage: train-ai=n,":        "not a Dictionary",
		"Content-Usage: *.gif train-ai=n":   "begins with /",
		"Content-Usage: /a train=n":         "no known category",
		"Content-Signal: use=reference":     "counts nothing: use=reference",
		"License: /license.xml":             "absolute URL",
		"Content-Usage: /a search=n;x=1":    "",
		"Content-Signal: ai-train=no":       "",
		"License: https://example.com/l":    "",
		"Content-Usage: search=y,ai-train=": "not a Dictionary",
	} {
		r := Parse([]byte("User-agent: *\nAllow: /\n"+line+"\n"), Options{})
		got := ""
		for _, w := range r.Warnings() {
			got += w.Text
		}
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: warns %q, want %q", line, got, want)
		}
	}
	if w := Parse([]byte("Content-Usage: train-ai=n\n"), Options{}).Warnings(); len(w) != 1 ||
		!strings.Contains(w[0].Text, "before any user-agent line") {
		t.Errorf("outside of a group: %v", w)
	}
}

func TestMatches(t *testing.T) {
	for _, row := range []struct {
		pattern, target string
		want            bool
	}{
		{"/", "/x", true}, {"/a", "/ab", true}, {"/A", "/a", false}, {"/*.pdf$", "/a/b.pdf", true},
		{"/*.pdf$", "/a.pdf?x", false},
		{"a", "/a", false}, {"", "/a", false}, {"*.pdf", "/a.pdf", true}, {"/%7Ea", "/~a", true},
	} {
		if got := Matches(row.pattern, row.target); got != row.want {
			t.Errorf("%s with %s: %v", row.pattern, row.target, got)
		}
	}
}

func FuzzUsage(f *testing.F) {
	f.Add(attachExample, "/ai-ok/test")
	f.Add("User-agent: *\nContent-Usage: /*a$ search=n;q=1, train-ai=\nContent-Signal: search=no\nLicense: x", "/a")
	f.Fuzz(func(t *testing.T, text, target string) {
		for _, d := range []Dialect{RFC9309, Yandex, Classic1994} {
			r := Parse([]byte(text), Options{Agents: []string{"curtsy"}, Dialect: d})
			list := r.Usage(target)
			if len(list) > 64 {
				t.Fatalf("%d statements", len(list))
			}
			if p := usage.Combine(list); len(p) > 0 && !r.Verdict(target).Allow {
				t.Fatalf("%v of a URL that may not be fetched", p)
			}
		}
	})
}
