package usage

import (
	"net/http"
	"strings"
	"testing"
)

func headers(lines ...string) http.Header {
	h := http.Header{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		h.Add(name, value)
	}
	return h
}

// draft-ietf-aipref-vocab §6, with the edge cases of RFC 9651 §4.2.
func TestContentUsage(t *testing.T) {
	for _, row := range []struct{ value, want string }{
		{"train-ai=n", "train-ai=n"},
		{"train-ai=y, search=n", "search=n, train-ai=y"},
		{"  train-ai=n  ", "train-ai=n"},
		{"train-ai=n\t,\t search=y", "search=y, train-ai=n"},
		{"train-ai=n,search=y", "search=y, train-ai=n"},
		{"", ""},
		// Only the Tokens y and n have a meaning.
		{"train-ai", ""}, {"train-ai=?0", ""}, {"train-ai=?1", ""}, {`train-ai="n"`, ""}, {"train-ai=N", ""},
		{"train-ai=no", ""},
		{"train-ai=0", ""}, {"train-ai=(n)", ""}, {"train-ai=:bg==:", ""}, {"train-ai=@1", ""}, {`train-ai=%"n"`, ""},
		{"train-ai=1.5", ""},
		// The last value of a repeated key counts.
		{"train-ai=n, train-ai=y", "train-ai=y"}, {"train-ai=y, search=y, train-ai=n", "search=y, train-ai=n"},
		{"train-ai=n, train-ai", ""},
		// Parameters and unknown keys are ignored.
		{"train-ai=n;x", "train-ai=n"}, {`train-ai=n;x="a, b";y=2, search=y`, "search=y, train-ai=n"},
		{"genai=n, train-ai=n", "train-ai=n"},
		{"tdm=n, ai-input=y", "ai-input=y, tdm=n"}, {`a=(1 "b" c);d, train-ai=n`, "train-ai=n"},
		{"*a=n, train-ai=n", "train-ai=n"},
		{`a="\"", train-ai=n`, "train-ai=n"}, {"a=@1659578233, train-ai=n", "train-ai=n"},
		{`a=%"f%c3%bc", train-ai=n`, "train-ai=n"},
		// A field that does not parse has no preferences at all.
		{"Train-ai=n", ""}, {"search=y, Train-ai=n", ""}, {"train-ai=n,", ""}, {"train-ai=n search=y", ""},
		{",train-ai=n", ""},
		{"train-ai =n", ""}, {"train-ai= n", ""}, {"train-ai=n;", ""}, {"train-ai=n,,search=y", ""},
		{"1a=n, train-ai=n", ""},
		{`a=", train-ai=n`, ""}, {"a=(1, train-ai=n", ""}, {"train-ai=n; X=1", ""}, {"é=n, train-ai=n", ""},
		{"train-ai=n\x00", ""},
		{`a=%"%zz", train-ai=n`, ""}, {"a=1234567890123456, train-ai=n", ""}, {"a=:*:, train-ai=n", ""},
		{"train-ai=n; ", ""},
	} {
		if got := Combine(OfHeaders(http.Header{"Content-Usage": {row.value}})).String(); got != row.want {
			t.Errorf("header %q: %q, want %q", row.value, got, row.want)
		}
		if strings.HasPrefix(row.value, "/") {
			continue
		}
		if got := Combine(contentUsage.Line(strings.TrimSpace(row.value), "", 1).Says).String(); got != row.want {
			t.Errorf("line %q: %q, want %q", row.value, got, row.want)
		}
	}
}

func TestSeveralLinesAreOneField(t *testing.T) {
	for _, row := range []struct {
		lines []string
		want  string
	}{
		{[]string{"train-ai=n", "search=y"}, "search=y, train-ai=n"},
		{[]string{"train-ai=n", "train-ai=y"}, "train-ai=y"},
		{[]string{"train-ai=n", "Search=y"}, ""},
		{[]string{"a=(1", "2), train-ai=n"}, ""},
		{[]string{"train-ai=n", ""}, ""}, // a trailing comma
	} {
		if got := Combine(OfHeaders(http.Header{"Content-Usage": row.lines})).String(); got != row.want {
			t.Errorf("%q: %q, want %q", row.lines, got, row.want)
		}
	}
}

func TestContentSignalHeader(t *testing.T) {
	for value, want := range map[string]string{
		"search=yes, ai-input=no, ai-train=no": "ai-input=n, search=y, train-ai=n",
		"ai-train=no,search=yes":               "search=y, train-ai=n",
		"train-ai=no":                          "", // the key of Content-Usage, unknown in Content-Signal
		"ai-train=n":                           "",
		"ai-train=yes, ai-train=no":            "train-ai=n",
		"":                                     "",
	} {
		list := OfHeaders(headers("Content-Signal: " + value))
		if got := Combine(list).String(); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
		if len(list) == 0 {
			t.Errorf("%q: is not kept", value)
		}
	}
}

// For TDMRep a header supersedes the file, and a meta element the header; a value other than 0
// and 1 resets nothing.
func TestTDMRep(t *testing.T) {
	for _, row := range []struct{ file, header, meta, want string }{
		{"1", "", "", "tdm=n"}, {"0", "", "", "tdm=y"}, {"", "1", "", "tdm=n"}, {"", "", "0", "tdm=y"},
		{"1", "0", "", "tdm=y"}, {"1", "0", "1", "tdm=n"}, {"0", "1", "0", "tdm=y"}, {"1", "", "0", "tdm=y"},
		{"1", "2", "", "tdm=n"}, {"1", "0", "yes", "tdm=y"}, {"2", "", "", ""}, {"null", "", "", ""},
		{"true", "", "", ""}, {`"1"`, "", "", "tdm=n"},
		{"", "0, 1", "", "tdm=n"},
	} {
		var list []Statement
		if row.file != "" {
			f, err := tdmRep.ReadFile([]byte(`[{"location":"/","tdm-reservation":` + row.file +
				`,"tdm-policy":"https://example.com/policy"}]`))
			if err != nil {
				t.Fatal(err)
			}
			list = tdmRep.OfFile(f, "/x", hasPrefix)
		}
		if row.header != "" {
			list = append(list, OfHeaders(headers("tdm-reservation: "+row.header))...)
		}
		list = append(list, OfMeta("TDM-Reservation", row.meta)...)
		if got := Combine(list).String(); got != row.want {
			t.Errorf("file %s, header %s, meta %s: %q, want %q", row.file, row.header, row.meta, got, row.want)
		}
		if got := Policies(list); row.file != "" && (len(got) != 1 || got[0] != "https://example.com/policy") {
			t.Errorf("file %s: policies %q", row.file, got)
		}
	}
}

func TestTDMRepLocations(t *testing.T) {
	f, err := tdmRep.ReadFile([]byte("\xef\xbb\xbf" + `[{"location":"/open/","tdm-reservation":0}, 7, {"tdm-reservation":1},
		{"location":"/odd/","tdm-reservation":2},
		{"location":"/","tdm-reservation":1,"tdm-policy":"https://example.com/p"},{"location":"/open/not","tdm-reservation":1}]`))
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]string{"/x": "tdm=n", "/open/x": "tdm=y", "/open/not": "tdm=y",
		"/Open/x": "tdm=n", "/odd/x": ""} {
		if got := Combine(tdmRep.OfFile(f, target, hasPrefix)).String(); got != want {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
	for _, body := range []string{"", "{}", `{"location":"/"}`, "<html>", "[", "null "} {
		if f, err := tdmRep.ReadFile([]byte(body)); err == nil && len(tdmRep.OfFile(f, "/", hasPrefix)) > 0 {
			t.Errorf("%q says something", body)
		}
	}
}

func hasPrefix(pattern, target string) bool { return strings.HasPrefix(target, pattern) }

func TestLicenses(t *testing.T) {
	for _, row := range []struct {
		rel, mediaType string
		want           bool
	}{
		{"license", "application/rsl+xml", true}, {"nofollow LICENSE", "Application/RSL+xml; charset=utf-8", true},
		{"license", "text/html", false}, {"license", "", false}, {"stylesheet", "application/rsl+xml", false},
	} {
		if _, got := OfLink(row.rel, row.mediaType, "https://example.com/l", InLink); got != row.want {
			t.Errorf("%q, %q: %v", row.rel, row.mediaType, got)
		}
	}
}

func TestNoAI(t *testing.T) {
	page, ok := OfWord("noai", InMeta, "noai")
	if !ok || Combine([]Statement{page}).String() != "train-ai=n" {
		t.Errorf("noai: %v", page)
	}
	images, ok := OfWord("noimageai", InMeta, "noimageai")
	if !ok || len(Combine([]Statement{images})) != 0 || images.For != ForImages {
		t.Errorf("noimageai is about the pictures of a page: %v", images)
	}
	if _, ok := OfWord("noindex", InMeta, ""); ok {
		t.Error("noindex is not about use")
	}
}

// Any n takes precedence, then any y (draft-ietf-aipref-vocab §5.1).
func TestCombine(t *testing.T) {
	y, n := Statement{Category: Search, Value: Yes}, Statement{Category: Search, Value: No}
	for _, row := range []struct {
		list []Statement
		want string
	}{
		{nil, ""}, {[]Statement{y}, "search=y"}, {[]Statement{n, y}, "search=n"}, {[]Statement{y, n}, "search=n"},
		{[]Statement{{License: "x"}}, ""},
	} {
		if got := Combine(row.list).String(); got != row.want {
			t.Errorf("%v: %q, want %q", row.list, got, row.want)
		}
	}
}

// A 304 answer has headers of its own; for headers that it lacks, and for the document's metas,
// the stored preferences still hold (RFC 9111 §3.2).
func TestRetained(t *testing.T) {
	before := append(OfHeaders(headers("Content-Usage: search=n", "Content-Signal: ai-train=no")),
		OfMeta("tdm-reservation", "1")...)
	before = append(before, Statement{Category: Search, Value: Yes, Source: InRobots, By: "Content-Usage"})
	h := headers("Content-Usage: search=y")
	if got := Combine(append(OfHeaders(h), Retained(before, h)...)).String(); got != "search=y, tdm=n, train-ai=n" {
		t.Error(got)
	}
}

func FuzzReaders(f *testing.F) {
	f.Add("train-ai=n;a=1, search=y", "1", `[{"location":"/*a$","tdm-reservation":1,"tdm-policy":"x"}]`)
	f.Add("search=yes, ai-train=no", "0", `[{"location":"*"},{}]`)
	f.Fuzz(func(t *testing.T, field, content, file string) {
		h := http.Header{"Content-Usage": {field, content}, "Content-Signal": {field}, "Tdm-Reservation": {field},
			"Tdm-Policy": {content}}
		list := append(OfHeaders(h), OfMeta("tdm-reservation", content)...)
		for _, r := range readers {
			if r.Rule != nil {
				list = append(list, r.Line(field, field, 1).Says...)
			}
		}
		if read, err := tdmRep.ReadFile([]byte(file)); err == nil {
			list = append(list, tdmRep.OfFile(read, content, hasPrefix)...)
		}
		for c, v := range Combine(list) {
			if _, err := Parse(string(c)); err != nil || v != Yes && v != No {
				t.Fatalf("%s=%s", c, v)
			}
		}
		for _, s := range Bound(list) {
			if s.By == "" || s.Source == "" || len(s.Text) > maxText {
				t.Fatalf("%+v", s)
			}
		}
	})
}
