package warc

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func foreign(version, end, url, block string) string {
	head := []string{version, "WARC-Type: response", "WARC-Target-URI: <" + url + ">",
		"warc-date: 2019-01-02T03:04:05Z",
		"X-Folded: one", " two", fmt.Sprintf("Content-Length: %d", len(block)), "", ""}
	return strings.Join(head, end) + block + end + end
}

func members(parts ...string) string {
	var b bytes.Buffer
	for _, p := range parts {
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, p)
		z.Close()
	}
	return b.String()
}

// readAll lists the URLs and blocks of a file, and what could not be read.
func readAll(t testing.TB, r io.Reader) (got []string) {
	f, err := NewForeign(r, 0, 1)
	if err != nil {
		return []string{err.Error()}
	}
	defer f.Close()
	for range 1000 {
		h, err := f.Next()
		var bad *Unreadable
		switch {
		case err == io.EOF:
			return got
		case errors.As(err, &bad):
			got = append(got, "! "+bad.What)
			continue
		case err != nil:
			t.Fatal(err)
		}
		b, _ := io.ReadAll(f)
		if err := f.Finish(); err != nil {
			got = append(got, "! "+h.TargetURI)
			continue
		}
		got = append(got, h.TargetURI+" "+string(b))
	}
	t.Fatal("no end")
	return nil
}

func TestForeign(t *testing.T) {
	a, b := foreign("WARC/1.0", "\r\n", "http://h/a", "one"), foreign("WARC/1.1", "\r\n", "http://h/b", "two\r\n")
	both := "http://h/a one|http://h/b two\r\n"
	compressed := zstdFrames(t, nil, a, b)
	dict := zstdDict(t, a, b)
	flipped := []byte(members(a, b))
	flipped[len(members(a))-6] ^= 0xff
	for _, test := range []struct{ name, file, want string }{
		{"plain", a + b, both},
		{"a gzip member a record", members(a, b), both},
		{"one gzip member", members(a + b), both},
		{"members cut anywhere", members(a[:40], a[40:]+b[:100], b[100:]), both},
		{"zstd", compressed, both},
		{"zstd with a dictionary", skippable(dict) + zstdFrames(t, []byte(dict), a, b), both},
		{"whose dictionary is compressed", skippable(zstdFrames(t, nil, dict)) + zstdFrames(t, []byte(dict), a, b),
			both},
		{"whose dictionary is none", skippable("no dictionary") + compressed,
			"not a WARC file: its zstd dictionary cannot be read: unexpected EOF"},
		{"0.18, line ends of Unix", foreign("WARC/0.18", "\n", "http://h/a", "one"), "http://h/a one"},
		{"two CR", foreign("WARC/1.0", "\r\r\n", "http://h/a", "one"), "http://h/a one"},
		{"nothing behind the last block", strings.TrimRight(a, "\r\n"), "http://h/a one"},
		{"a member is damaged", string(flipped), "! http://h/a|http://h/b two\r\n"},
		{"a length that is too long", strings.Replace(a, "Length: 3", "Length: 99", 1) + b + b,
			"! http://h/a|http://h/b two\r\n"},
		{"a length that is too short", strings.Replace(a, "Length: 3", "Length: 1", 1) + b,
			"! http://h/a|http://h/b two\r\n"},
		{"too long, in a member", members(strings.Replace(a, "Length: 3", "Length: 99", 1), b),
			"! http://h/a|http://h/b two\r\n"},
		{"below zero", members(strings.Replace(a, "Length: 3", "Length: -3", 1), b),
			"! no usable Content-Length|http://h/b two\r\n"},
		{"more than there is", members(strings.Replace(a, "Length: 3", "Length: 4611686018427387904", 1), b),
			"! http://h/a|http://h/b two\r\n"},
		{"no number", members(strings.Replace(a, "Length: 3", "Length: 99999999999999999999", 1), b),
			"! no usable Content-Length|http://h/b two\r\n"},
		{"no type", members(strings.Replace(a, "WARC-Type", "X-Type", 1), b), "! no WARC-Type|http://h/b two\r\n"},
		{"a header without end", members("WARC/1.0\r\nX: "+strings.Repeat("x", 2<<20), b),
			fmt.Sprintf("! the record's header is longer than %d bytes|http://h/b two\r\n", maxForeignHead)},
		{"garbage between", a + "what is this\r\nand that\r\n" + b, "! http://h/a|http://h/b two\r\n"},
		{"zeros at the end", members(a, b) + strings.Repeat("\x00", 600),
			both + "|! it cannot be decompressed: gzip: invalid header"},
		{"cut off", members(a, b)[:len(members(a, b))-12], "http://h/a one|! http://h/b"},
		{"no WARC", "<html>", `not a WARC file: it begins with "<html"`},
		{"gzip in gzip", members(members(a)), "not a WARC file: gzip within gzip"},
		{"ARC", "filedesc://x 0.0.0.0", "not a WARC file: an ARC file, which is not read: convert it first, as with warcio recompress"},
		{"empty", "", "not a WARC file: empty"},
	} {
		for _, seek := range []bool{true, false} {
			var r io.Reader = strings.NewReader(test.file)
			if !seek {
				r = io.MultiReader(r)
			}
			if got := strings.Join(readAll(t, r), "|"); got != test.want {
				t.Errorf("%s (seek %v): got %q, want %q", test.name, seek, got, test.want)
			}
		}
	}
}

// zstdFrames compresses each part into its own frame, as records in a .warc.zst are.
func zstdFrames(t *testing.T, dict []byte, parts ...string) string {
	t.Helper()
	var options []zstd.EOption
	if dict != nil {
		options = append(options, zstd.WithEncoderDict(dict))
	}
	z, err := zstd.NewWriter(nil, options...)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var frames []byte
	for _, p := range parts {
		frames = z.EncodeAll([]byte(p), frames)
	}
	return string(frames)
}

// zstdDict builds a dictionary from records (RFC 8878 §5).
func zstdDict(t *testing.T, records ...string) string {
	t.Helper()
	history := []byte(strings.Join(records, ""))
	var samples [][]byte
	for i := range 20 { // with octets that are not in the history
		samples = append(samples, fmt.Appendf(history[:i:i], "%s%x%s", records[i%2], sha256.Sum256([]byte{byte(i)}), records[0]))
	}
	dict, err := zstd.BuildDict(zstd.BuildDictOptions{ID: 7, Contents: samples, History: history,
		Offsets: [3]int{1, 4, 8}})
	if err != nil {
		t.Fatal(err)
	}
	return string(dict)
}

// skippable returns the skippable frame with the dictionary at the start of a .warc.zst.
func skippable(dict string) string {
	return magicDict + string(binary.LittleEndian.AppendUint32(nil, uint32(len(dict)))) + dict
}

func TestForeignBeginsWhereItStopped(t *testing.T) {
	a, b := foreign("WARC/1.0", "\r\n", "http://h/a", "one"), foreign("WARC/1.1", "\r\n", "http://h/b", "two")
	file := members(a, b)
	f, err := NewForeign(strings.NewReader(file), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = f.Next(); err != nil {
		t.Fatal(err)
	}
	second, err := f.Next()
	if err != nil || second.At.Inside != 0 || second.Number != 2 {
		t.Fatalf("got %+v, %v", second, err)
	}
	r := strings.NewReader(file)
	if _, err := r.Seek(second.At.Offset, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if f, err = NewForeign(r, second.At.Offset, second.Number); err != nil {
		t.Fatal(err)
	}
	again, err := f.Next()
	if err != nil || again.TargetURI != "http://h/b" || again.At != second.At || again.Number != 2 {
		t.Fatalf("got %+v, %v", again, err)
	}
}

func FuzzForeign(f *testing.F) {
	a := foreign("WARC/1.0", "\r\n", "http://h/a", "one")
	for _, s := range []string{a + a, members(a, a), members(a + a), members(a)[:60], "WARC/1.0\r\n\r\n",
		magicDict + "\x04\x00\x00\x00abcd"} {
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, b []byte, seek bool) {
		var r io.Reader = bytes.NewReader(b)
		if !seek {
			r = io.MultiReader(r)
		}
		readAll(t, r)
	})
}
