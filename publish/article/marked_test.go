package article_test

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"
)

// TestMarkedPages compares the main text found with that marked by hand: in files of Debian
// packages, as far as they are installed, and in files of public repositories below
// $CURTSY_TEST_MARKED, as OWNER/NAME/PATH. A line of testdata/marked.tsv has a file, the number
// of its blocks, and which of them are main text.
func TestMarkedPages(t *testing.T) {
	f, err := os.Open("testdata/marked.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n, precision, recall := 0, 0.0, 0.0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		part := strings.Split(lines.Text(), "\t")
		body, err := os.ReadFile(place(part[0]))
		if err != nil {
			continue
		}
		blocks := blocksOf(string(body))
		if strconv.Itoa(len(blocks)) != part[1] {
			t.Logf("%s has %d blocks, not %s: another version", part[0], len(blocks), part[1])
			continue
		}
		p, r := compared(blocks, part[2], string(body))
		t.Logf("precision %.2f, recall %.2f: %s", p, r, part[0])
		n, precision, recall = n+1, precision+p, recall+r
	}
	if n < 10 {
		t.Skipf("%d of the marked pages are here", n)
	}
	precision, recall = precision/float64(n), recall/float64(n)
	t.Logf("%d pages: precision %.3f, recall %.3f, F %.3f", n, precision, recall, 2*precision*recall/(precision+recall))
	if precision < 0.8 || recall < 0.95 {
		t.Errorf("precision %.3f, want 0.8; recall %.3f, want 0.95", precision, recall)
	}
}

func place(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(os.Getenv("CURTSY_TEST_MARKED"), strings.Replace(name, ":", "/", 1))
}

// compared returns precision and recall over blocks of at least 12 letters. A block of the
// boilerplate counts only if the main text does not have the same words.
func compared(blocks []string, marks, body string) (precision, recall float64) {
	var main, frame []string
	for i, b := range blocks {
		if marked(i, marks) {
			main = append(main, letters(b))
		} else {
			frame = append(frame, letters(b))
		}
	}
	wanted := strings.Join(main, "")
	got := letters(strings.Join(texts(body), "\n"))
	hit, all, wrong := 0.0, 0.0, 0.0
	for _, b := range main {
		if len(b) < 12 {
			continue
		}
		all++
		if strings.Contains(got, b) {
			hit++
		}
	}
	for _, b := range frame {
		if len(b) >= 12 && !strings.Contains(wanted, b) && strings.Contains(got, b) {
			wrong++
		}
	}
	return hit / max(1, hit+wrong), hit / all
}

func marked(i int, marks string) bool {
	for span := range strings.SplitSeq(marks, ",") {
		from, to, ok := strings.Cut(span, "-")
		if !ok {
			to = from
		}
		a, _ := strconv.Atoi(from)
		b, _ := strconv.Atoi(to)
		if a <= i && i <= b {
			return true
		}
	}
	return false
}

var (
	breaks = strings.Fields("address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure " +
		"footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre section summary table tbody td tfoot th " +
		"thead tr ul title option button")
	unread = strings.Fields("script style head svg template noscript")
)

// blocksOf returns the blocks of a page as they were marked: the text between tags of block
// elements, boilerplate included.
func blocksOf(body string) (list []string) {
	var text strings.Builder
	end := func() {
		if s := strings.Join(strings.Fields(text.String()), " "); s != "" {
			list = append(list, s)
		}
		text.Reset()
	}
	within := 0
	z := html.NewTokenizer(strings.NewReader(body))
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			end()
			return list
		case html.TextToken:
			if within <= 0 {
				text.Write(z.Text())
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			raw, _ := z.TagName()
			name := string(raw)
			if slices.Contains(unread, name) {
				within += map[html.TokenType]int{html.StartTagToken: 1, html.EndTagToken: -1}[kind]
			}
			if slices.Contains(breaks, name) {
				end()
			} else if name == "br" && kind != html.EndTagToken {
				text.WriteByte(' ')
			}
		}
	}
}

func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' {
			return r
		}
		return -1
	}, text)
}
