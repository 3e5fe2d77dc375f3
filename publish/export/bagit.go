package export

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"curtsy/publish/mirror"
	"curtsy/storage"
)

// bagDeclaration is bagit.txt (RFC 8493 §2.1.1).
const bagDeclaration = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"

// bagAgent starts the line of bag-info.txt that names the software.
const bagAgent = "Bag-Software-Agent: curtsy/"

// writeBag writes a BagIt directory for deposit (RFC 8493): its payload is a WACZ and a
// crawl.log, with their checksums.
func writeBag(ctx context.Context, a *storage.Archive, out string, o Options) (*Result, error) {
	if err := replaceableBag(out, &o); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(out), "."+filepath.Base(out)+tmpMark+"*")
	if err != nil {
		return nil, &DiskError{err}
	}
	defer os.RemoveAll(dir)
	b := &bag{dir: dir, name: strings.TrimSuffix(filepath.Base(out), ".bagit")}
	r, err := b.payload(ctx, a, o)
	if err == nil {
		err = b.tags(&o)
	}
	if err != nil {
		return nil, err
	}
	r.Format, r.Bytes = BagIt, b.size
	if err := b.place(out); err != nil {
		return nil, err
	}
	sweep(filepath.Dir(out), filepath.Base(out)) // after place: killed within it, it leaves the old bag aside
	return r, nil
}

// replaceableBag returns an error if out exists and may not be replaced.
func replaceableBag(out string, o *Options) error {
	entries, err := os.ReadDir(out)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	info, _ := os.ReadFile(filepath.Join(out, "bag-info.txt"))
	if bytes.Contains(info, []byte(bagAgent)) || o.Force && err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", out, ErrNotOurs)
}

// bag is a bag being written.
type bag struct {
	dir, name string
	manifest  strings.Builder // of the payload files
	files     int
	size      int64 // of the payload
}

// payload writes the files in data/.
func (b *bag) payload(ctx context.Context, a *storage.Archive, o Options) (*Result, error) {
	err := cmp.Or(os.Chmod(b.dir, 0o755), os.Mkdir(filepath.Join(b.dir, "data"), 0o755))
	if err != nil {
		return nil, asDisk(err)
	}
	var first *Result
	for _, part := range []struct {
		name   string
		format Format
	}{{b.name + ".wacz", WACZ}, {"crawl.log", CrawlLog}} {
		sub := o
		sub.Format = part.format
		if first != nil && o.Consent != nil {
			again := *o.Consent // count what is left out only once
			sub.Consent = &again
		}
		r, err := Write(ctx, a, filepath.Join(b.dir, "data", part.name), sub)
		if err != nil {
			return nil, err
		}
		if first == nil {
			first = r
		}
		b.files++
		b.size += r.Bytes
		if err := b.sum(&b.manifest, "data/"+part.name); err != nil {
			return nil, err
		}
	}
	return first, nil
}

// sum adds the checksum line of a file to a manifest.
func (b *bag) sum(to *strings.Builder, name string) error {
	f, err := os.Open(filepath.Join(b.dir, filepath.FromSlash(name)))
	if err != nil {
		return &DiskError{err}
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	fmt.Fprintf(to, "%x  %s\n", h.Sum(nil), escapeBagPath.Replace(name))
	return asDisk(err)
}

// escapeBagPath escapes what would break a manifest line (§2.1.3).
var escapeBagPath = strings.NewReplacer("%", "%25", "\n", "%0A", "\r", "%0D")

// tags writes the tag files and their manifest.
func (b *bag) tags(o *Options) error {
	info := fmt.Sprintf("%s\nBagging-Date: %s\nPayload-Oxum: %d.%d\n"+
		"External-Description: %s, archived; what its owner withholds is left out\nInternal-Sender-Identifier: %s\n",
		strings.TrimSuffix(bagAgent, "curtsy/")+o.Software, o.Now.UTC().Format("2006-01-02"), b.size, b.files,
		o.Seed.Host(), o.Seed)
	var tags strings.Builder
	for _, f := range []struct{ name, text string }{
		{"bagit.txt", bagDeclaration}, {"bag-info.txt", info}, {"manifest-sha256.txt", b.manifest.String()},
	} {
		if err := b.write(f.name, f.text); err != nil {
			return err
		}
		if err := b.sum(&tags, f.name); err != nil {
			return err
		}
	}
	return b.write("tagmanifest-sha256.txt", tags.String())
}

func (b *bag) write(name, text string) error {
	f, err := os.Create(filepath.Join(b.dir, name))
	if err != nil {
		return &DiskError{err}
	}
	_, err = f.WriteString(text)
	return asDisk(errors.Join(err, f.Sync(), f.Close()))
}

// place moves the finished bag to out, replacing an old one, atomically where the system
// supports an exchange of names.
func (b *bag) place(out string) error {
	if _, err := os.Lstat(out); errors.Is(err, fs.ErrNotExist) {
		return asDisk(os.Rename(b.dir, out))
	}
	return asDisk(mirror.Exchange(b.dir, out))
}
