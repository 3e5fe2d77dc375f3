package locale_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"curtsy/internal/locale"
)

var (
	inTemplates = regexp.MustCompile(`\{\{\(?t "([^"]+)"|\(t "([^"]+)"`)
	inCode      = regexp.MustCompile(`\bsay\("([^"]+)"`)
	actions     = regexp.MustCompile(`\{\{.*?\}\}`)
	unsaid      = regexp.MustCompile(`<(?:code|style)[^>]*>[^<]*</(?:code|style)>`)
	names       = regexp.MustCompile(`Curtsy|curtsy app|cron|systemd|robots\.txt|English`)
	bare        = regexp.MustCompile(`(?:^|>)[^<>]*[A-Za-z]{2}[^<>]*|(?:aria-label|title|alt)="[^"]*[A-Za-z][^"]*"`)
	verbs       = regexp.MustCompile(`%[.0-9]*[a-z]`)
)

func TestEveryTextHasAllLanguages(t *testing.T) {
	entries, err := locale.Entries()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, e := range entries {
		if known[e.Key] {
			t.Errorf("%q is there twice", e.Key)
		}
		known[e.Key] = true
		for _, tag := range locale.Tags {
			text := e.In[tag.String()]
			if text == "" {
				t.Errorf("%q has no text in %s", e.Key, tag)
			}
			if got, want := verbs.FindAllString(text, -1),
				verbs.FindAllString(e.In["en"], -1); !slices.Equal(got, want) {
				t.Errorf("%q in %s has %q, want %q", e.Key, tag, got, want)
			}
		}
	}
	for pattern, find := range map[string]*regexp.Regexp{"../../app/ui/*.html": inTemplates,
		"../../publish/replay/ui/*.html": inTemplates, "../../app/*.go": inCode, "../../publish/replay/*.go": inCode} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, name := range files {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(name, ".html") {
				for _, text := range bare.FindAllString(names.ReplaceAllString(unsaid.ReplaceAllString(actions.ReplaceAllString(string(b), "0"), ""), ""), -1) {
					t.Errorf("%s says %q in English only", name, text)
				}
			}
			for _, m := range find.FindAllStringSubmatch(string(b), -1) {
				if text := strings.Join(m[1:], ""); !known[text] && text != "%s" {
					t.Errorf("%s says %q, which is not in the catalogue", name, text)
				}
			}
		}
	}
}

func TestTheReadersLanguage(t *testing.T) {
	for _, c := range []struct {
		wishes []string
		want   string
	}{
		{nil, "en"},
		{[]string{"bg-BG,bg;q=0.9,en;q=0.8"}, "bg"},
		{[]string{"de,ru;q=0.5"}, "ru"},
		{[]string{"bg", "ru,en;q=0.5"}, "bg"},
		{[]string{"\x00;;q=", "tlh"}, "en"},
	} {
		if got := locale.Choose(c.wishes...); got != c.want {
			t.Errorf("Choose(%q) = %s, want %s", c.wishes, got, c.want)
		}
	}
	printers, err := locale.Printers()
	if err != nil {
		t.Fatal(err)
	}
	for tag, want := range map[string]string{"en": "Pages: 1,234", "bg": "Страници: 1\u00a0234",
		"ru": "Страниц: 1\u00a0234"} {
		if got := printers[tag].Sprintf("Pages: %d", 1234); got != want {
			t.Errorf("%s: %q, want %q", tag, got, want)
		}
	}
}
