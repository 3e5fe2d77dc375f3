package zim_test

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"curtsy/internal/zim"
)

// reader reads a ZIM file by the format's specification and shares no code with the writer.
type reader struct {
	t *testing.T
	b []byte
}

func (r reader) u32(at int) int { return int(binary.LittleEndian.Uint32(r.b[at:])) }
func (r reader) u64(at int) int { return int(binary.LittleEndian.Uint64(r.b[at:])) }

type dirent struct {
	key, title    string
	typ           string // "" for a redirect
	cluster, blob int
}

func (r reader) types() (list []string) {
	for b := r.b[80:]; b[0] != 0; {
		i := bytes.IndexByte(b, 0)
		list, b = append(list, string(b[:i])), b[i+1:]
	}
	return list
}

func (r reader) entries() (list []dirent) {
	types := r.types()
	for i := range r.u32(24) {
		at := r.u64(r.u64(32) + 8*i)
		d := dirent{key: string(r.b[at+3]) + "/", cluster: r.u32(at + 8)}
		n := int(binary.LittleEndian.Uint16(r.b[at:]))
		text := r.b[at+12:]
		if n != 0xffff {
			d.typ, d.blob, text = types[n], r.u32(at+12), r.b[at+16:]
		}
		parts := bytes.SplitN(text, []byte{0}, 3)
		d.key, d.title = d.key+string(parts[0]), string(parts[1])
		list = append(list, d)
	}
	return list
}

// body returns a blob, and whether its cluster was compressed.
func (r reader) body(d dirent) (string, bool) {
	at := r.u64(r.u64(48) + 8*d.cluster)
	end := r.u64(32) // directory entries come before it, too: the data after a cluster is not read
	if d.cluster+1 < r.u32(28) {
		end = r.u64(r.u64(48) + 8*(d.cluster+1))
	}
	data := r.b[at+1 : end]
	packed := r.b[at]&0xf == 5
	if packed {
		z, _ := zstd.NewReader(bytes.NewReader(data))
		defer z.Close()
		data, _ = io.ReadAll(z) // an error, as the data after the last cluster is not a frame
	}
	from, to := binary.LittleEndian.Uint32(data[4*d.blob:]), binary.LittleEndian.Uint32(data[4*d.blob+4:])
	return string(data[from:to]), packed
}

func made(t *testing.T, fill func(*zim.Writer) error, main string) (reader, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.zim")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := zim.New(f, []string{"text/html", "image/jpeg"}, "test/1")
	if err == nil {
		err = fill(w)
	}
	if err == nil {
		err = w.Finish(main)
	}
	b, _ := os.ReadFile(path)
	return reader{t, b}, err
}

func add(w *zim.Writer, path, title, typ, body string) error {
	return w.Add(zim.Page{Path: path, Title: title, Type: typ, Front: title != ""}, int64(len(body)),
		strings.NewReader(body))
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("large ", 300_000) // gets a cluster of its own
	bodies := map[string]string{"C/b.html": "<p>b", "C/a.html": "<p>a", "C/p.jpg": "\xff\xd8", "C/l.html": large,
		"C/big.jpg": large, "C/empty.html": ""}
	r, err := made(t, func(w *zim.Writer) error {
		w.Redirect("old.html", "a.html")
		return errors.Join(add(w, "b.html", "A first title", "text/html", bodies["C/b.html"]),
			add(w, "p.jpg", "", "image/jpeg", bodies["C/p.jpg"]),
			add(w, "l.html", "large", "text/html", large), add(w, "a.html", "Later", "text/html", bodies["C/a.html"]),
			add(w, "big.jpg", "", "image/jpeg", large), add(w, "empty.html", "", "text/html", ""), w.Meta("Title", "T"),
			w.Meta("Nothing", ""), w.Illustration([]byte("png")))
	}, "b.html")
	if err != nil {
		t.Fatal(err)
	}
	list := r.entries()
	var keys, front []string
	for _, d := range list {
		keys = append(keys, d.key)
		if want, ok := bodies[d.key]; ok {
			if got, packed := r.body(d); got != want || packed != (d.typ == "text/html") {
				t.Errorf("%s: %d octets, packed %v; want %d", d.key, len(got), packed, len(want))
			}
		}
	}
	want := []string{"C/a.html", "C/b.html", "C/big.jpg", "C/empty.html", "C/l.html", "C/old.html", "C/p.jpg",
		"M/Counter", "M/Illustration_48x48@1", "M/Scraper", "M/Title", "W/mainPage", "X/listing/titleOrdered/v1"}
	if !slices.Equal(keys, want) {
		t.Fatalf("entries %q, want %q", keys, want)
	}
	listing, packed := r.body(list[12])
	for i := 0; i < len(listing); i += 4 {
		front = append(front, list[binary.LittleEndian.Uint32([]byte(listing[i:]))].title)
	}
	if packed || !slices.Equal(front, []string{"A first title", "Later", "large"}) {
		t.Errorf("listing %q, packed %v", front, packed)
	}
	if got, _ := r.body(list[7]); got != "image/jpeg=2;text/html=4" {
		t.Errorf("counter %q", got)
	}
	if main := list[r.u32(64)]; main.key != "W/mainPage" || list[main.cluster].key != "C/b.html" {
		t.Errorf("main page %q", main.key)
	}
	if at := r.u64(72); at != len(r.b)-md5.Size || md5.Sum(r.b[:at]) != [md5.Size]byte(r.b[at:]) {
		t.Error("the checksum is not that of the file")
	}
}

func TestWhatCannotBeAFileIsAnError(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fill func(*zim.Writer) error
		want error
	}{
		"twice": {func(w *zim.Writer) error { w.Redirect("a", "a"); return add(w, "a", "", "text/html", "") },
			zim.ErrTwice},
		"nowhere": {func(w *zim.Writer) error { w.Redirect("a", "b"); return nil }, zim.ErrNowhere},
		"too short": {func(w *zim.Writer) error {
			return w.Add(zim.Page{Path: "a", Type: "text/html"}, 9, strings.NewReader(""))
		}, io.ErrUnexpectedEOF},
		"too short, large": {func(w *zim.Writer) error {
			return w.Add(zim.Page{Path: "a", Type: "text/html"}, 9<<20, strings.NewReader("x"))
		}, io.ErrUnexpectedEOF},
	} {
		if _, err := made(t, c.fill, ""); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}
