package known

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

const (
	sha1A   = "sha1:VR6PFWUQ4HLYV7Q3IHUC3AJWLUL6P4HJ"
	hexA    = "sha1:ac7cf2da90e1d78afe1b41e82d81365d17e7f0e9"
	sha256B = "sha256:860b53ed6ea6a0cf602fae632cfcd28dbcf637f85a8bee28d2ee9c6cc9081669"
)

var lines = strings.Join([]string{
	`!meta 0 {"format": "cdxj"}`,
	`com,example)/a 20200102030405 {"url": "http://example.com/a", "mime": "text/html", "status": "200", "digest": "VR6PFWUQ4HLYV7Q3IHUC3AJWLUL6P4HJ"}`,
	`com,example)/c 20190102030405 {"url": "http://example.com/c", "mime": "text/html", "status": 200, "digest": "` +
		hexA + `"}`,
	`com,example)/b 20210102030405 {"url": "http://example.com/b", "mime": "text/html", "status": "200", "digest": "` +
		sha256B + `"}`,
	`com,example)/r 20210102030405 {"url": "http://example.com/r", "mime": "warc/revisit", "status": "200", "digest": "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"}`,
	`com,example)/g 20210102030405 {"url": "http://example.com/g", "mime": "text/html", "status": "404", "digest": "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"}`,
	`com,example)/x 20210102030405 {"url": "http://example.com/x", "status": "-", "digest": "-"}`,
	`not a line`, ``, `a b {`,
}, "\n")

// The same index is read in every compression and format, and from columns.
func TestPayloadsOfOthersAreFound(t *testing.T) {
	var gz, wacz bytes.Buffer
	g := gzip.NewWriter(&gz)
	_, _ = g.Write([]byte(lines))
	_ = g.Close()
	z := zip.NewWriter(&wacz)
	f, _ := z.Create("indexes/index.cdx.gz")
	_, _ = f.Write(gz.Bytes())
	f, _ = z.Create("indexes/index.idx")
	_, _ = f.Write([]byte("com,example)/ 2020 {}"))
	_ = z.Close()
	columns := " CDX a b s m k r V g\nhttp://example.com/a 20200102030405 200 text/html VR6PFWUQ4HLYV7Q3IHUC3AJWLUL6P4HJ - 9 x\n" +
		"http://example.com/c 20190102030405 200 text/html VR6PFWUQ4HLYV7Q3IHUC3AJWLUL6P4HJ - 9 x\n" +
		"http://example.com/b 20210102030405 200 text/html " + sha256B + " - 9 x\n"
	for name, data := range map[string][]byte{"a.cdxj": []byte(lines), "a.cdxj.gz": gz.Bytes(), "a.wacz": wacz.Bytes(),
		"a.cdx": []byte(columns)} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := Open(dir, []string{path})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if p.Len() != 3 || !p.BySHA1() {
			t.Errorf("%s: %d captures, want 3; SHA-1: %v", name, p.Len(), p.BySHA1())
		}
		for _, c := range []struct{ digest, url, want string }{
			{sha1A, "http://example.com/a", "the body is in another archive: http://example.com/a of 2020-01-02T03:04:05Z"},
			{sha1A, "http://example.com/else",
				"the body is in another archive: http://example.com/c of 2019-01-02T03:04:05Z"},
			{hexA, "http://example.com/a", "the body is in another archive: http://example.com/a of 2020-01-02T03:04:05Z"},
			{sha256B, "", "the body is in another archive: http://example.com/b of 2021-01-02T03:04:05Z"},
			{"sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "http://example.com/g", ""},
			{"sha256:" + strings.Repeat("ff", 32), "", ""}, {"sha256:" + strings.Repeat("00", 32), "", ""},
			{"", "", ""},
		} {
			got := ""
			found, err := p.Find(c.digest, c.url)
			if found != nil {
				got = found.String()
			}
			if got != c.want || err != nil {
				t.Errorf("%s: Find(%s, %s) = %q, %v; want %q", name, c.digest, c.url, got, err, c.want)
			}
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".curtsy*")); len(left) > 0 {
			t.Errorf("%s: left behind: %q", name, left)
		}
	}
	bad := filepath.Join(t.TempDir(), "x")
	_ = os.WriteFile(bad, []byte("nothing\n"), 0o600)
	if _, err := Open("", []string{bad}); err == nil {
		t.Error("a file that is no index was taken for one")
	}
}

func FuzzLine(f *testing.F) {
	for line := range strings.SplitSeq(lines, "\n") {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		text := lineOf(line)
		if text != nil && len(text) <= 20+1+len(timeForm) {
			t.Errorf("lineOf(%q) = %q", line, text)
		}
		_ = ofColumns([]string{"a", "b", "k"}, strings.Fields(string(line)))
	})
}
