package cli

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"curtsy/internal/testkit/sitetest"
)

// paper returns a PDF document of one page.
func paper(text string) string {
	var b strings.Builder
	b.WriteString("%PDF-1.4\n")
	var at []int
	content := "BT /F1 12 Tf 72 700 Td (" + text + ") Tj ET"
	for i, o := range []string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
		"<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content), content),
	} {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	b.WriteString("xref\n0 6\n0000000000 65535 f \n")
	for _, offset := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", start)
	return b.String()
}

// PDF documents are found by their text, unless their owner forbids it; one that cannot be
// parsed is reported in one line.
func TestSearchReadsPDF(t *testing.T) {
	long(t)
	t.Parallel()
	answer := func(head, body string) string {
		return "HTTP 200\nContent-Type: application/pdf\n" + head + "\n" + body
	}
	site, err := sitetest.Parse([]byte("-- / --\n<title>Home</title><a href=/open.pdf>o</a><a href=/quiet.pdf>q</a><a href=/hidden.pdf>h</a><a href=/broken.pdf>b</a>\n" +
		"-- /open.pdf --\n" + answer("", paper("The wombat digs")) +
		"-- /quiet.pdf --\n" + answer("X-Robots-Tag: nosnippet\n", paper("Another wombat")) +
		"-- /hidden.pdf --\n" + answer("X-Robots-Tag: noindex\n", paper("A secret wombat")) +
		"-- /broken.pdf --\n" + answer("", "%PDF-1.4\nwombat\n")))
	if err == nil {
		err = site.Start("127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer site.Close()
	dir := filepath.Join(t.TempDir(), "site")
	if code := Main([]string{"crawl", site.Origin + "/", "--archive", dir, "--delay", "0"}, strings.NewReader(""),
		io.Discard, io.Discard); code != 0 {
		t.Fatalf("crawl ended with %d", code)
	}
	var out, said bytes.Buffer
	if code := Main([]string{"search", dir, "wombats", "--json"}, strings.NewReader(""), &out, &said); code != 0 {
		t.Fatalf("search ended with %d: %s", code, said.String())
	}
	for text, want := range map[string]int{"/open.pdf": 1, "The wombat digs": 1, "/quiet.pdf": 1, "Another": 0,
		"hidden": 0, "secret": 0, "broken": 0} {
		if got := strings.Count(out.String(), text); got != want {
			t.Errorf("%d times %s, want %d, in %s", got, text, want, out.String())
		}
	}
	if !strings.Contains(said.String(), "/broken.pdf: no text could be read from it: ") ||
		strings.Count(said.String(), "no text could be read") != 1 {
		t.Errorf("said %s", said.String())
	}
}
