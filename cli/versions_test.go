package cli

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"curtsy/internal/testkit/sitetest"
)

// twoRounds makes an archive "site" of two rounds in the working directory and returns a time
// between them.
func twoRounds(t *testing.T) (between string) {
	t.Helper()
	t.Chdir(t.TempDir())
	s, err := sitetest.Parse([]byte(`
-- / --
<title>Home</title><p>OLD-HOME <a href=/page>p</a> <a href=/same>s</a> <a href=/secret>s</a> <a href=/twin>t</a>
-- /page --
<title>Page</title><p>OLD-PAGE
-- /same --
<title>Same</title><p>SAME-PAGE
-- /twin --
<title>Same</title><p>SAME-PAGE
-- /secret --
<title>Secret</title><p>OLD-SECRET
`))
	if err == nil {
		err = s.Start("127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	runLines(t, "crawl", s.Origin+"/", "--archive", "site", "--delay", "0s", "--json")
	between = time.Now().UTC().Format(time.RFC3339Nano)
	for target, text := range map[string]string{
		"/":       "<title>Home</title><p>NEW-HOME <a href=/page>p</a> <a href=/added>a</a>",
		"/page":   "HTTP 410\n\nWENT-AWAY",
		"/added":  "<title>Added</title><p>NEW-PAGE",
		"/secret": "<title>Secret</title><meta name=robots content=noarchive><p>NEW-SECRET",
	} {
		if err := s.Set(target, text+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	runLines(t, "update", "site", "--delay", "0s", "--json")
	return between
}

// curtsyText runs a command that must succeed and returns its output.
func curtsyText(t *testing.T, args ...string) string {
	t.Helper()
	var out, words bytes.Buffer
	if code := Main(args, strings.NewReader(""), &out, &words); code != 0 {
		t.Fatalf("curtsy %s: exit code %d: %s", strings.Join(args, " "), code, words.String())
	}
	return out.String()
}

// wantWords checks which words a text contains.
func wantWords(t *testing.T, what, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		name, absent := strings.CutPrefix(word, "no ")
		if strings.Contains(text, name) == absent {
			t.Errorf("%s: want %s", what, word)
		}
	}
}

func TestTheSiteAsItStood(t *testing.T) {
	between := twoRounds(t)
	then := []string{"OLD-HOME", "OLD-PAGE", "SAME-PAGE", "no NEW-HOME", "no NEW-PAGE", "no SECRET", "no WENT-AWAY"}
	now := []string{"NEW-HOME", "NEW-PAGE", "OLD-PAGE", "SAME-PAGE", "no OLD-HOME", "no SECRET", "no WENT-AWAY"}

	curtsyText(t, "mirror", "site", "then", "--at", between)
	wantWords(t, "mirror --at", treeText(t, "then"), then...)
	curtsyText(t, "mirror", "site", "now")
	wantWords(t, "mirror", treeText(t, "now"), now...)

	curtsyText(t, "export", "site", "then.txt", "--at", between)
	wantWords(t, "export --at", treeText(t, "then.txt"), then...)
	curtsyText(t, "export", "site", "now.txt", "--at", "0s")
	wantWords(t, "export", treeText(t, "now.txt"), now...)
	wantWords(t, "export --at, warc", curtsyText(t, "export", "site", "then.warc.gz", "--at", between),
		"4 pages", "1 left out")
}

func TestAtRefusesWhatItCannotShow(t *testing.T) {
	twoRounds(t)
	for _, args := range [][]string{
		{"mirror", "site", "out", "--at", "2001-01-01"},
		{"mirror", "site", "out", "--at", "often"},
		{"export", "site", "out.wacz", "--at", "2001-01-01"},
		{"export", "site", "out.csv", "--at", "0s"},
	} {
		var out, words bytes.Buffer
		if code := Main(args, strings.NewReader(""), &out, &words); code != exitUsage ||
			!strings.Contains(words.String(), "--at") {
			t.Errorf("curtsy %s: exit code %d: %s", strings.Join(args, " "), code, words.String())
		}
	}
}

// treeText returns the contents of all files below dir.
func treeText(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		b.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
