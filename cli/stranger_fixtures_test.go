//go:build unix

package cli

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"go.etcd.io/bbolt"

	"curtsy/internal/sum"
)

// strangerFixture turns a sound archive into a malicious or damaged one.
type strangerFixture struct {
	kind, name string
	spoil      func(dir string) error
}

// strangers returns all fixtures, which are made by code.
func strangers() (list []strangerFixture) {
	list = append(list, segmentNameFixtures()...)
	list = append(list, placeFixtures()...)
	list = append(list, fileFixtures()...)
	list = append(list, recordFixtures()...)
	list = append(list, pageFixtures()...)
	list = append(list, visitFixtures()...)
	list = append(list, crawlFixtures()...)
	list = append(list, bucketFixtures()...)
	slices.SortFunc(list, func(a, b strangerFixture) int {
		return cmp.Or(strings.Compare(a.kind, b.kind), strings.Compare(a.name, b.name))
	})
	return list
}

const segmentEnd = "-20260101000000-00000.warc.gz"

func segmentNameFixtures() (list []strangerFixture) {
	for what, name := range map[string]string{
		"up": "../../victim", "up from warc": "../victim", "absolute": "/etc/passwd", "two dots": "..", "below": "a/b" + segmentEnd,
		"line feed": "x\nforged" + segmentEnd, "escape": "x\x1b]0;t\a" + segmentEnd, "NUL": "x\x00" + segmentEnd, "long": strings.Repeat("a", 4000) + segmentEnd,
	} {
		list = append(list, strangerFixture{"a segment's name in crawl.db", what, func(dir string) error {
			return inDB(dir, func(tx *bbolt.Tx) error {
				b := tx.Bucket([]byte("segments"))
				k, v := b.Cursor().First()
				if err := b.Put([]byte(name), segmentValue(name, v, 3)); err != nil {
					return err
				}
				return b.Delete(k)
			})
		}})
	}
	for what, name := range map[string]string{"line feed": "x\nforged: 0 problems" + segmentEnd, "escape": "x\x1b[2J" + segmentEnd, "not UTF-8": "x\xff\n\xfe" + segmentEnd, "set aside": "x\nforged.warc.gz.unknown"} {
		list = append(list, strangerFixture{"a file's name in warc/", what, func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "warc", name), []byte("x"), 0o644)
		}})
	}
	return list
}

// segmentValue returns the entry of a segment in crawl.db with another size.
func segmentValue(name string, v []byte, size int64) []byte {
	var e struct {
		Size   int64  `json:"size"`
		InfoID string `json:"info_id"`
		Check  uint32 `json:"check"`
	}
	_ = json.Unmarshal(v, &e)
	e.Size = size
	e.Check = crc32.ChecksumIEEE(fmt.Appendf(nil, "%s %d %s", name, e.Size, e.InfoID))
	b, _ := json.Marshal(e)
	return b
}

// placeFixtures replace a file of the archive by something else.
func placeFixtures() (list []strangerFixture) {
	places := []string{"SEGMENT", "status.json", "status.json.new", "crawl.db", "crawl.db.closed", "crawl.db.closed.new", "crawl.db.readers", "index.db", "index.db.new", "index.db-wal", "index.db-journal", "index.lock", "facts"}
	for _, in := range places {
		put := func(kind string, make func(path string) error) {
			list = append(list, strangerFixture{kind, in, func(dir string) error {
				path := filepath.Join(dir, in)
				if in == "SEGMENT" {
					path = segmentPath(dir)
				}
				return errors.Join(os.RemoveAll(path), make(path))
			}})
		}
		put("a link in the place of a file", func(path string) error { return os.Symlink(filepath.Join(up(path), "victim"), path) })
		put("a FIFO in the place of a file", func(path string) error { return syscall.Mkfifo(path, 0o644) })
		put("a directory in the place of a file", func(path string) error {
			return errors.Join(os.Mkdir(path, 0o755), os.WriteFile(filepath.Join(path, "precious"), []byte("x"), 0o644))
		})
	}
	for what, make := range map[string]func(path string) error{
		"to another archive's": func(path string) error { return os.Symlink("../../other/warc", path) },
		"to a directory":       func(path string) error { return os.Symlink("../..", path) },
		"FIFO":                 func(path string) error { return syscall.Mkfifo(path, 0o644) },
		"missing":              func(string) error { return nil },
	} {
		list = append(list, strangerFixture{"something else in the place of warc/", what, func(dir string) error {
			path := filepath.Join(dir, "warc")
			return errors.Join(os.RemoveAll(path), make(path))
		}})
	}
	list = append(list, strangerFixture{"a link in the place of a file", "crawl.db of another archive", func(dir string) error {
		path := filepath.Join(dir, "crawl.db")
		return errors.Join(os.Remove(path), os.Symlink("../../other/crawl.db", path))
	}}, strangerFixture{"a link in the place of a file", "an unknown segment", func(dir string) error {
		return os.Symlink("../../../victim", filepath.Join(dir, "warc", "curtsy-20990101000000-00099.warc.gz"))
	}}, strangerFixture{"a FIFO in the place of a file", "an unknown segment", func(dir string) error {
		return syscall.Mkfifo(filepath.Join(dir, "warc", "curtsy-20990101000000-00099.warc.gz"), 0o644)
	}})
	return list
}

// up returns the directory that holds box/.
func up(path string) string {
	before, _, _ := strings.Cut(path, "/box/archive/")
	return before
}

func segmentPath(dir string) string {
	names, _ := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	return append(names, filepath.Join(dir, "warc", "none"))[0]
}

func fileFixtures() (list []strangerFixture) {
	const kind = "files of another size or content"
	for what, spoil := range map[string]func(dir string) error{
		"a sparse segment of 1 TB": func(dir string) error { return os.Truncate(segmentPath(dir), 1<<40) },
		"a sparse unknown segment of 1 TB": func(dir string) error {
			return sparse(filepath.Join(dir, "warc", "curtsy-20990101000000-00099.warc.gz"))
		},
		"an empty segment":             func(dir string) error { return os.Truncate(segmentPath(dir), 0) },
		"a sparse crawl.db of 1 TB":    func(dir string) error { return os.Truncate(filepath.Join(dir, "crawl.db"), 1<<40) },
		"an empty crawl.db":            func(dir string) error { return os.Truncate(filepath.Join(dir, "crawl.db"), 0) },
		"a sparse status.json of 1 TB": func(dir string) error { return sparse(filepath.Join(dir, "status.json")) },
		"status.json nonsense": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "status.json"), []byte(`{"state":"run\u001b[2Jning\nforged","seed":7,"in_flight":[{"url":"\u0000"}],"pid":-1}`), 0o644)
		},
		"status.json nested": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "status.json"), []byte(strings.Repeat("[", 1<<20)), 0o644)
		},
		"a sparse crawl.db.closed": func(dir string) error { return sparse(filepath.Join(dir, "crawl.db.closed")) },
		"a sparse index.db":        func(dir string) error { return sparse(filepath.Join(dir, "index.db")) },
		"an index.db that is not SQL": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "index.db"), []byte("SQLite format 3\x00"+strings.Repeat("x", 200)), 0o644)
		},
		"crawl.db.damaged is a link": func(dir string) error {
			return errors.Join(os.Symlink("../../victim", filepath.Join(dir, "crawl.db.damaged")), junk(dir, 0, 8192))
		},
		"crawl.db.rebuilt is a link": func(dir string) error {
			return errors.Join(os.Symlink("../../victim", filepath.Join(dir, "crawl.db.rebuilt")), junk(dir, 0, 8192))
		},
		"half of crawl.db": func(dir string) error { return os.Truncate(filepath.Join(dir, "crawl.db"), 30000) },
		"crawl.db is text of somebody": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "crawl.db"), bytes.Repeat([]byte("\x1b]0;forged\a\n"), 9000), 0o644)
		},
	} {
		list = append(list, strangerFixture{kind, what, spoil})
	}
	return list
}

func sparse(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Truncate(1 << 40)
}

// junk overwrites a part of crawl.db.
func junk(dir string, at int64, n int) error {
	f, err := os.OpenFile(filepath.Join(dir, "crawl.db"), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteAt(bytes.Repeat([]byte{0xa5}, n), at)
	return err
}

// inDB changes crawl.db as any program with bbolt can.
func inDB(dir string, change func(tx *bbolt.Tx) error) error {
	db, err := bbolt.Open(filepath.Join(dir, "crawl.db"), 0o644, &bbolt.Options{NoSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return err
	}
	return errors.Join(db.Update(change), db.Close())
}

// entry changes a value of crawl.db as JSON and seals it again.
func entry(b *bbolt.Bucket, key []byte, change func(v map[string]any)) error {
	key = bytes.Clone(key)
	text, ok := sum.Open(key, bytes.Clone(b.Get(key)))
	if !ok {
		return errors.New("no such entry")
	}
	v := map[string]any{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return err
	}
	change(v)
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return b.Put(key, sum.Seal(key, text))
}

// crawlEntry changes the metadata of the crawl, both in the row that each commit writes and in
// the lasting one.
func crawlEntry(tx *bbolt.Tx, change func(v map[string]any)) (err error) {
	meta := tx.Bucket([]byte("meta"))
	outer := entry(meta, []byte("crawl"), func(often map[string]any) {
		err = entry(meta, []byte("crawl-lasting"), func(lasting map[string]any) {
			all := maps.Clone(often)
			maps.Copy(all, lasting)
			change(all)
			clear(often)
			clear(lasting)
			for k, v := range all {
				if k == "settings" || k == "rounds" {
					lasting[k] = v
				} else {
					often[k] = v
				}
			}
		})
	})
	return errors.Join(outer, err)
}

// visitKey returns the key of the visit of /page.html.
func visitKey(tx *bbolt.Tx) (key []byte) {
	_ = tx.Bucket([]byte("visits")).ForEach(func(k, v []byte) error {
		if bytes.Contains(v, []byte(`/page.html"`)) && key == nil {
			key = bytes.Clone(k)
		}
		return nil
	})
	return key
}

// recordFixtures append a gzip member to the segment, and make crawl.db name it as the record
// of /page.html.
func recordFixtures() (list []strangerFixture) {
	const kind = "records that lie"
	head := func(length, more string) string {
		return "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <ID>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: URL\r\n" + more + "Content-Type: application/http;msgtype=response\r\nContent-Length: " + length + "\r\n\r\n"
	}
	const page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
	for what, text := range map[string]string{
		"length beyond the member":   head("1000000", "") + page + "\r\nshort",
		"length huge":                head("9223372036854775807", "") + page + "\r\nshort",
		"length over 64 bits":        head("99999999999999999999999", "") + page + "\r\nshort",
		"length negative":            head("-1", "") + page + "\r\nshort",
		"length less than there is":  head("10", "") + page + "\r\nshort\r\n\r\n",
		"two lengths":                head("10\r\nContent-Length: 100000", "") + page + "\r\nshort\r\n\r\n",
		"a hundred thousand fields":  head("10", strings.Repeat("A: b\r\n", 100000)),
		"one field of 8 MB":          head("10", "A: "+strings.Repeat("b", 8<<20)+"\r\n"),
		"a field with an escape":     head("3", "WARC-Block-Digest: \x1b[2J\x00forged\r\nWARC-Truncated: \x1b]0;t\a\r\n") + "abc\r\n\r\n",
		"no record":                  strings.Repeat("\x00\xff", 10000),
		"nothing":                    "",
		"HTTP head without an end":   head("4000000", "") + "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", 666664) + "\r\n\r\n",
		"HTTP length huge":           head("70", "") + page + "Content-Length: 9223372036854775807\r\n\r\n\r\n\r\n",
		"chunks of a huge size":      head("112", "") + page + "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\nxxxxxxxxxxxxxxxxx\r\n\r\n",
		"of another URL":             strings.Replace(head("3", ""), "URL", "http://elsewhere.example/\x1b", 1) + "abc\r\n\r\n",
		"a Location with a new line": head("80", "") + "HTTP/1.1 301 Moved\r\nLocation: http://a.example/\x1b[2J\x0bforged\r\nX: y\r\n\r\n          \r\n\r\n",
	} {
		list = append(list, strangerFixture{kind, what, func(dir string) error { return planted(dir, deflated(text, 0), nil) }})
	}
	list = append(list, strangerFixture{kind, "a gzip bomb as a member", func(dir string) error {
		return planted(dir, deflated(head("300000000", "")+page+"\r\n<p>", 300<<20), map[string]any{"length": 300 << 20})
	}}, strangerFixture{kind, "a gzip bomb as a body", func(dir string) error {
		body := string(zeros())
		page := page + "Content-Encoding: gzip\r\n\r\n"
		return planted(dir, deflated(head(fmt.Sprint(len(page)+len(body)), "")+page+body+"\r\n\r\n", 0), map[string]any{"length": len(body)})
	}}, strangerFixture{kind, "another coding than gzip", func(dir string) error {
		return planted(dir, []byte("BZh91AY&SY and so on"), nil)
	}}, strangerFixture{kind, "a gzip header that does not end", func(dir string) error {
		return planted(dir, append([]byte{0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3}, bytes.Repeat([]byte{'x'}, 1<<20)...), nil)
	}})
	return list
}

// deflated returns a gzip member of the text followed by so many zero octets.
func deflated(text string, nothing int) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	_, _ = z.Write([]byte(text))
	for some := make([]byte, 1<<20); nothing > 0; nothing -= len(some) {
		_, _ = z.Write(some)
	}
	_ = z.Close()
	return b.Bytes()
}

// zeros is a small text that inflates to a large one.
var zeros = sync.OnceValue(func() []byte { return deflated("<p>", 300<<20) })

// planted appends a gzip member to the segment as the record of /page.html, and fills in the ID
// and URL of its visit where the text has placeholders.
func planted(dir string, member []byte, more map[string]any) error {
	path := segmentPath(dir)
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	var id, url string
	err = inDB(dir, func(tx *bbolt.Tx) error {
		segments := tx.Bucket([]byte("segments"))
		name, v := segments.Cursor().First()
		name, v = bytes.Clone(name), bytes.Clone(v)
		err := entry(tx.Bucket([]byte("visits")), visitKey(tx), func(v map[string]any) {
			r := v["record"].(map[string]any)
			id, _ = r["id"].(string)
			url, _ = v["url"].(string)
			member = named(member, id, url)
			r["offset"], r["length"] = st.Size(), len(member)
			for key, value := range more {
				v[key] = value
			}
		})
		return errors.Join(err, segments.Put(name, segmentValue(string(name), v, st.Size()+int64(len(member)))))
	})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(member)
	return errors.Join(err, f.Close())
}

// named replaces the placeholders for ID and URL in the head of a member.
func named(member []byte, id, url string) []byte {
	z, err := gzip.NewReader(bytes.NewReader(member))
	if err != nil {
		return member
	}
	z.Multistream(false)
	text := new(bytes.Buffer)
	if _, err := text.ReadFrom(io.LimitReader(z, 16<<20)); err != nil || text.Len() == 0 {
		return member
	}
	nothing := 0
	if text.Len() >= 16<<20 {
		nothing = 300<<20 - 16<<20
	}
	changed := bytes.Replace(bytes.Replace(text.Bytes(), []byte("<ID>"), []byte("<"+id+">"), 1), []byte("URL\r\n"), []byte(url+"\r\n"), 1)
	return deflated(string(changed), nothing)
}

// pageFixtures corrupt the pages of crawl.db.
func pageFixtures() (list []strangerFixture) {
	const kind = "pages of crawl.db"
	n := binary.NativeEndian
	page := func(what string, change func(b []byte, size int, root uint64)) {
		list = append(list, strangerFixture{kind, what, func(dir string) error {
			path := filepath.Join(dir, "crawl.db")
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			size := int(n.Uint32(b[24:]))
			newest := 0
			if n.Uint64(b[size+16+48:]) > n.Uint64(b[16+48:]) {
				newest = size
			}
			change(b, size, n.Uint64(b[newest+16+16:]))
			return os.WriteFile(path, b, 0o644)
		}})
	}
	meta := func(what string, change func(m []byte)) {
		page(what, func(b []byte, size int, _ uint64) {
			for _, at := range []int{0, size} {
				m := b[at+16 : at+16+64]
				change(m)
				h := fnv.New64a()
				h.Write(m[:56])
				n.PutUint64(m[56:], h.Sum64())
			}
		})
	}
	meta("the root is a meta page", func(m []byte) { n.PutUint64(m[16:], 0) })
	meta("the root is the free list", func(m []byte) { n.PutUint64(m[16:], n.Uint64(m[32:])) })
	meta("the root is beyond the end", func(m []byte) { n.PutUint64(m[16:], 1<<40) })
	meta("the free list is beyond the end", func(m []byte) { n.PutUint64(m[32:], 1<<40) })
	meta("no free list", func(m []byte) { n.PutUint64(m[32:], 1<<64-1) })
	meta("more pages than there are", func(m []byte) { n.PutUint64(m[40:], 1<<50) })
	meta("no pages", func(m []byte) { n.PutUint64(m[40:], 0) })
	meta("pages of 0 octets", func(m []byte) { n.PutUint32(m[8:], 0) })
	meta("pages of 3 octets", func(m []byte) { n.PutUint32(m[8:], 3) })
	meta("pages of 4 GB", func(m []byte) { n.PutUint32(m[8:], 1<<32-1) })
	meta("another version", func(m []byte) { n.PutUint32(m[4:], 99) })
	meta("the last transaction there can be", func(m []byte) { n.PutUint64(m[48:], 1<<64-1) })
	page("a page with 65,535 elements", func(b []byte, size int, root uint64) { n.PutUint16(b[int(root)*size+10:], 0xffff) })
	page("a page that runs over all others", func(b []byte, size int, root uint64) { n.PutUint32(b[int(root)*size+12:], 1<<31) })
	page("a branch that leads to itself", func(b []byte, size int, root uint64) {
		at := int(root) * size
		n.PutUint16(b[at+8:], 1)
		n.PutUint16(b[at+10:], 1)
		n.PutUint32(b[at+16:], 16)
		n.PutUint32(b[at+20:], 1)
		n.PutUint64(b[at+24:], root)
	})
	page("an element beyond its page", func(b []byte, size int, root uint64) { n.PutUint32(b[int(root)*size+20:], 1<<31) })
	page("a value of 4 GB", func(b []byte, size int, root uint64) { n.PutUint32(b[int(root)*size+28:], 1<<32-1) })
	page("a page that is nothing", func(b []byte, size int, root uint64) { n.PutUint16(b[int(root)*size+8:], 0xdead) })
	page("junk from the third page on", func(b []byte, size int, root uint64) {
		for i := 2 * size; i < len(b); i++ {
			b[i] ^= byte(i * 7)
		}
	})
	return list
}

func visitFixtures() (list []strangerFixture) {
	const kind = "entries of visits"
	record := func(key string, value any) func(v map[string]any) {
		return func(v map[string]any) { v["record"].(map[string]any)[key] = value }
	}
	set := func(key string, value any) func(v map[string]any) { return func(v map[string]any) { v[key] = value } }
	for what, change := range map[string]func(v map[string]any){
		"offset negative":          record("offset", -1),
		"offset huge":              record("offset", int64(1)<<62),
		"length huge":              record("length", int64(1)<<62),
		"length of 200 TB":         record("length", int64(200)<<40),
		"length negative":          record("length", -5),
		"length 0":                 record("length", 0),
		"beside it, anywhere":      record("beside", []map[string]int64{{"offset": -1, "length": 1 << 62}, {"offset": 1 << 62, "length": -5}}),
		"a segment that is not":    record("segment", "curtsy-20990101000000-00099.warc.gz"),
		"a segment above":          record("segment", "../../victim"),
		"no record":                func(v map[string]any) { delete(v, "record") },
		"record of the one before": record("offset", 600),
		"refers to itself": func(v map[string]any) {
			v["refers"] = map[string]any{"url_id": v["url_id"], "n": v["n"]}
			v["kept"] = "revisit"
		},
		"refers to nothing":       func(v map[string]any) { v["refers"] = map[string]any{"url_id": 1 << 40, "n": 9}; v["kept"] = "revisit" },
		"kept in no known way":    set("kept", "\x1b[2J\nforged"),
		"withheld, with a record": set("kept", "withheld"),
		"a path for a URL":        set("url", "../../victim"),
		"a file for a URL":        set("url", "file:///etc/passwd"),
		"a script for a URL":      set("url", "javascript:alert(1)"),
		"no URL":                  set("url", ""),
		"a URL of 1 MB":           set("url", "http://127.0.0.1/"+strings.Repeat("a/", 1<<19)),
		"controls in the URL":     set("url", "http://127.0.0.1/\x1b[2J\nforged\x00"),
		"controls in its texts": func(v map[string]any) {
			v["title"], v["error"], v["charset"], v["content_type"], v["lang"], v["location"], v["delay"] = "\x1b[2J\nforged", "\nforged", "\x00\nforged", "text/html\r\nX: y", "\nforged", "\nforged:", "\nforged"
		},
		"a status of 99999":       set("status", 99999),
		"a status below nothing":  set("status", -1),
		"of the year 9999":        set("at", "9999-12-31T23:59:59Z"),
		"of the year 1":           set("at", "0001-01-01T00:00:00Z"),
		"it took minus 292 years": func(v map[string]any) { v["took"], v["waited"] = int64(math.MinInt64), int64(math.MinInt64) },
		"payload of minus 8 EB":   set("length", int64(math.MinInt64)),
		"payload of 8 EB":         set("length", int64(math.MaxInt64)),
		"no digest":               func(v map[string]any) { delete(v, "digest") },
		"digests that are none":   set("digest", "sha256:../../victim"),
		"max-age of minus 8 EB":   set("max_age", int64(math.MinInt64)),
		"a visit of another URL":  set("url_id", 3),
		"a number for the whole":  func(v map[string]any) { clear(v); v["url"] = 7 },
		"class, suspect and others": func(v map[string]any) {
			v["class"], v["suspect"], v["blocked"], v["truncated"] = "\nforged", "\nforged", "\nforged", "\nforged"
		},
	} {
		list = append(list, strangerFixture{kind, what, func(dir string) error {
			return inDB(dir, func(tx *bbolt.Tx) error { return entry(tx.Bucket([]byte("visits")), visitKey(tx), change) })
		}})
	}
	return append(list, strangerFixture{kind, "nested 100,000 deep", func(dir string) error {
		return inDB(dir, func(tx *bbolt.Tx) error {
			key := visitKey(tx)
			return tx.Bucket([]byte("visits")).Put(key, sum.Seal(key, []byte(strings.Repeat(`{"record":`, 100000))))
		})
	}}, strangerFixture{kind, "inflates to 1 GB", func(dir string) error {
		return inDB(dir, func(tx *bbolt.Tx) error {
			var piece bytes.Buffer // 1 MiB that can be repeated without changing the meaning
			w, _ := flate.NewWriter(&piece, flate.BestCompression)
			_, err := w.Write(bytes.Repeat([]byte{' '}, 1<<20))
			err = errors.Join(err, w.Flush())
			bomb := append([]byte{0x10}, bytes.Repeat(piece.Bytes(), 1<<10)...) // a compressed visit
			key := visitKey(tx)
			return errors.Join(err, tx.Bucket([]byte("visits")).Put(key, sum.Seal(key, append(bomb, 3, 0))))
		})
	}}, strangerFixture{kind, "a key that is none", func(dir string) error {
		return inDB(dir, func(tx *bbolt.Tx) error { return tx.Bucket([]byte("visits")).Put([]byte("\nforged"), []byte("{}")) })
	}})
}

func crawlFixtures() (list []strangerFixture) {
	const kind = "the crawl's own entry"
	setting := func(path string, value any) func(v map[string]any) {
		return func(v map[string]any) {
			keys := strings.Split("settings."+path, ".")
			for _, key := range keys[:len(keys)-1] {
				v, _ = v[key].(map[string]any)
			}
			v[keys[len(keys)-1]] = value
		}
	}
	for what, change := range map[string]func(v map[string]any){
		"no seed":                 func(v map[string]any) { v["seed"] = "" },
		"a file for a seed":       func(v map[string]any) { v["seed"] = "file:///etc/passwd" },
		"a seed with controls":    func(v map[string]any) { v["seed"] = "http://127.0.0.1/\x1b[2J\nforged" },
		"an ending with controls": func(v map[string]any) { v["ended"], v["ending"] = "\x1b[2J\rforged", "\x1b\rforged" },
		"origins that are none":   func(v map[string]any) { v["origins"] = []string{"", "\nforged", "file://"} },
		"no origins":              func(v map[string]any) { v["origins"] = nil },
		"totals below nothing": func(v map[string]any) {
			v["pages"], v["visits"], v["bytes"], v["elapsed"] = -5, -5, int64(math.MinInt64), int64(math.MinInt64)
		},
		"a round that is none": func(v map[string]any) {
			v["round"] = map[string]any{"queued": -1, "pages": int64(1) << 62, "listed": true, "planned": true}
		},
		"finished, and it is not": func(v map[string]any) { v["finished"], v["ending"] = true, "done" },
		"paces of the year 9999": func(v map[string]any) {
			v["paces"] = map[string]any{"http://127.0.0.1": map[string]any{"next": "9999-01-01T00:00:00Z"}}
		},
		"settings.archive above":      setting("Archive", "../../victim"),
		"settings.prefix above":       setting("Storage.Prefix", "../../victim"),
		"settings.segment_size":       setting("Storage.SegmentSize", -1),
		"settings.min_free":           setting("Storage.MinFree", int64(1)<<62),
		"settings.concurrency huge":   setting("Concurrency", 1<<40),
		"settings.delay below 0":      setting("Delay", int64(math.MinInt64)),
		"settings.retries below 0":    setting("Fetch.Retries", -1),
		"settings.max_body huge":      setting("Fetch.MaxBody", int64(1)<<62),
		"settings.header with a line": setting("Fetch.Header", map[string]any{"X": "y\r\nZ: forged"}),
		"settings.agent with a line":  setting("Agent", "x\r\nHost: forged"),
		"settings.contact":            setting("Contact", "x\r\nHost: forged"),
		"settings.proxy nonsense":     setting("Fetch.Proxy", "gopher://\x1b[2J/"),
		"settings.include":            setting("Scope.Include", []string{strings.Repeat("(a{0,30}){0,30}", 50)}),
		"settings.dialect":            setting("Politeness.Dialect", "ignore"),
		"settings are a list":         func(v map[string]any) { v["settings"] = []int{1} },
	} {
		list = append(list, strangerFixture{kind, what, func(dir string) error {
			return inDB(dir, func(tx *bbolt.Tx) error { return crawlEntry(tx, change) })
		}})
	}
	return list
}

// bucketFixtures put junk into the buckets of crawl.db, or empty them.
func bucketFixtures() (list []strangerFixture) {
	add := func(kind, what string, change func(tx *bbolt.Tx) error) {
		list = append(list, strangerFixture{kind, what, func(dir string) error { return inDB(dir, change) }})
	}
	for _, name := range []string{"meta", "segments", "visits", "digests", "robots", "bodies", "frontier"} {
		add("buckets of crawl.db", name+" is missing", func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte(name)) })
	}
	values := func(what string, bucket func(tx *bbolt.Tx) *bbolt.Bucket) {
		add("buckets of crawl.db", what+" is empty", func(tx *bbolt.Tx) error {
			return eachValue(bucket(tx), func(b *bbolt.Bucket, k, _ []byte) error { return b.Delete(k) })
		})
		add("values of crawl.db", what+" is junk", func(tx *bbolt.Tx) error {
			return eachValue(bucket(tx), func(b *bbolt.Bucket, k, v []byte) error { return b.Put(k, bytes.Repeat([]byte{0xff}, len(v))) })
		})
		add("values of crawl.db", what+" is junk with a sum", func(tx *bbolt.Tx) error {
			return eachValue(bucket(tx), func(b *bbolt.Bucket, k, v []byte) error {
				return b.Put(k, sum.Seal(k, bytes.Repeat([]byte{0xff}, max(len(v)-4, 0))))
			})
		})
		add("values of crawl.db", what+" is cut off", func(tx *bbolt.Tx) error {
			return eachValue(bucket(tx), func(b *bbolt.Bucket, k, v []byte) error { return b.Put(k, sum.Seal(k, bytes.Clone(v[:len(v)/2]))) })
		})
	}
	for _, name := range []string{"segments", "digests", "robots", "bodies"} {
		values(name, func(tx *bbolt.Tx) *bbolt.Bucket { return tx.Bucket([]byte(name)) })
	}
	for _, name := range []string{"blocks", "seen", "finished", "queues", "retries", "linked", "words", "reasons", "hosts", "tally"} {
		values("frontier/"+name, func(tx *bbolt.Tx) *bbolt.Bucket { return tx.Bucket([]byte("frontier")).Bucket([]byte(name)) })
	}
	add("values of crawl.db", "digests lead nowhere", func(tx *bbolt.Tx) error {
		return eachValue(tx.Bucket([]byte("digests")), func(b *bbolt.Bucket, k, v []byte) error {
			return b.Put(k, bytes.Repeat([]byte{0, 9}, len(v)/2+1)[:len(v)])
		})
	})
	return list
}

func eachValue(b *bbolt.Bucket, change func(b *bbolt.Bucket, k, v []byte) error) error {
	var pairs [][2][]byte
	_ = b.ForEach(func(k, v []byte) error {
		pairs = append(pairs, [2][]byte{bytes.Clone(k), bytes.Clone(v)})
		return nil
	})
	for _, p := range pairs {
		if err := change(b, p[0], p[1]); err != nil {
			return err
		}
	}
	return nil
}
