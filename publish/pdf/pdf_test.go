package pdf

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary also run as the child process.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Command {
		os.Exit(Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// document returns a PDF of these objects, of which number 1 is the catalog.
func document(trailer string, objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	at := make([]int, len(objects))
	for i, o := range objects {
		at[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, trailer, start)
	return b.Bytes()
}

func stream(dict, content string) string {
	return fmt.Sprintf("<< /Length %d %s >>\nstream\n%s\nendstream", len(content), dict, content)
}

// paged returns a document whose pages have these contents.
func paged(contents ...string) []byte {
	kids, objects := "", []string{"<< /Type /Catalog /Pages 2 0 R >>", "",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"}
	for _, c := range contents {
		n := len(objects) + 1
		kids += fmt.Sprintf("%d 0 R ", n)
		objects = append(objects, fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>", n+1), c)
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", kids, len(contents))
	return document("", objects...)
}

func said(text string) string {
	return stream("", "BT /F1 12 Tf 72 700 Td ("+text+") Tj ET")
}

func TestText(t *testing.T) {
	got, _, err := read(t.Context(), paged(said("The quick brown fox"), said("jumps over it")), 5)
	if err != nil || len(got) != 2 || got[0].Text != "The quick brown fox" || got[1].Text != "jumps over it" {
		t.Errorf("%v, %v", got, err)
	}
}

// hostile returns documents of kinds that PDF readers are known to fail on.
func hostile() map[string][]byte {
	var bomb bytes.Buffer
	z := zlib.NewWriter(&bomb)
	_, _ = z.Write(bytes.Repeat([]byte("(a) Tj "), 1<<17))
	_ = z.Flush()
	piece := bomb.Bytes()[2:] // without the zlib header; 138 MB of these can be repeated
	bomb = *bytes.NewBuffer(append([]byte{0x78, 0x9c}, bytes.Repeat(piece, 150)...))
	bomb.Write([]byte{3, 0, 0, 0, 0, 0}) // the last block, and a checksum that no reader reaches
	whole := paged(said("whole"))
	return map[string][]byte{
		"empty":   nil,
		"no PDF":  []byte("<html>"),
		"cut off": whole[:len(whole)/2],
		"noise":   bytes.Repeat([]byte{0xff, 0, '<', '<', '('}, 10000),
		"xref in a circle": document("/Prev 9", "<< /Type /Catalog /Pages 2 0 R >>",
			"<< /Type /Pages /Kids [] /Count 0 >>"),
		"pages in a circle": document("", "<< /Type /Catalog /Pages 2 0 R >>",
			"<< /Type /Pages /Kids [2 0 R] /Count 1000000000 >>"),
		"its own parent": document("", "<< /Type /Catalog /Pages 2 0 R >>",
			"<< /Type /Pages /Kids [3 0 R] /Count 1 >>", "<< /Type /Page /Parent 3 0 R >>"),
		"a length in a circle": document("", "<< /Type /Catalog /Pages 2 0 R >>",
			"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
			"<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>", "<< /Length 4 0 R >>\nstream\nx\nendstream"),
		"nested":         paged(stream("", strings.Repeat("[", 1<<20))),
		"nested objects": document("", strings.Repeat("<</A ", 1<<18)),
		"a bomb":         paged(stream("/Filter /FlateDecode", bomb.String())),
		"many pages": document("", "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids ["+
			strings.Repeat("3 0 R ", 1<<16)+"] /Count 65536 >>", "<< /Type /Page /Parent 2 0 R >>"),
	}
}

// For any document the child ends, and nothing else is harmed.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("takes too long for -short")
	}
	for name, body := range hostile() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			got, _, err := read(ctx, body, 1)
			size := 0
			for _, b := range got {
				size += len(b.Text)
			}
			if ctx.Err() != nil || size > 2*maxText {
				t.Errorf("%d octets of text, %v", size, err)
			}
			t.Logf("%d octets of text: %.120v", size, err)
		})
	}
}

// FuzzWrite looks for inputs that end the process: panics are returned as errors.
func FuzzWrite(f *testing.F) {
	f.Add(paged(said("text")))
	for name, body := range hostile() {
		if len(body) < 1<<12 && !strings.Contains(name, "circle") {
			f.Add(body)
		}
	}
	f.Fuzz(func(_ *testing.T, body []byte) {
		_ = write(&bounded{most: maxText}, body)
	})
}

// Slow documents use up the time of their kind only, and honest ones are read however many
// there are.
func TestBudget(t *testing.T) {
	tried, b := 0, new(budget)
	for range 5000 {
		if b.ask(525) {
			tried++
			b.spend(7 * time.Second)
		}
	}
	if tried < 9 || tried > 90 {
		t.Errorf("%d of 5,000 documents of 7 s were tried", tried)
	}
	b = new(budget)
	for n := range 5000 {
		if !b.ask(1 << 20) {
			t.Fatalf("document %d was not tried", n)
		}
		b.spend(800 * time.Millisecond)
	}
}
