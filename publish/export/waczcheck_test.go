package export_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"curtsy/identity"
	"curtsy/publish/export"
)

// changed returns a WACZ with one of its files changed.
func changed(t *testing.T, wacz []byte, name string, change func([]byte) []byte) string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(wacz), int64(len(wacz)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(f.Name, name) {
			b = change(b)
		}
		to, err := w.CreateHeader(&zip.FileHeader{Name: f.Name, Method: f.Method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := to.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "changed.wacz")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestASignedWACZIsChecked(t *testing.T) {
	t.Parallel()
	a, seed := crawled(t)
	key := filepath.Join(t.TempDir(), "key")
	s, err := identity.NewSigner()
	if err != nil || s.Write(key) != nil || s.Write(key) == nil {
		t.Fatal("the key is not written once", err)
	}
	if s, err = identity.ReadSigner(key); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "a.wacz")
	_, b := write(t, a, out, export.Options{Format: export.WACZ, Seed: seed, Now: time.Now(),
		Software: "curtsy/test", Sign: s})
	r, err := export.CheckWACZ(out)
	if err != nil || len(r.Problems) > 0 || r.SignedBy != s.PublicKey() || r.Lines < 6 || r.Records < 10 {
		t.Fatalf("%+v, %v", r, err)
	}
	flip := func(b []byte) []byte { b[len(b)/2] ^= 1; return b }
	for _, c := range []struct {
		name   string
		change func([]byte) []byte
		want   string
		signed bool
	}{
		{"archive/", flip, "datapackage.json says sha256:", true},
		{"pages/pages.jsonl", func(b []byte) []byte { return append(b, 10) }, "bytes, datapackage.json says", true},
		{"indexes/index.cdx.gz", func([]byte) []byte { return []byte("no gzip") }, "cannot be read", true},
		{"datapackage.json", func(b []byte) []byte {
			return bytes.Replace(b, []byte("curtsy/test"),
				[]byte("another/one"), 1)
		}, "datapackage-digest.json says", true},
		{"datapackage-digest.json", func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"signature": "`), []byte(`"signature": "AAAA`), 1)
		}, "signature: the signature does not match", false},
		{"datapackage-digest.json", func([]byte) []byte { return []byte("{") }, "is no JSON", false},
	} {
		r, err := export.CheckWACZ(changed(t, b, c.name, c.change))
		if err != nil || (r.SignedBy != "") != c.signed {
			t.Errorf("%s: signed by %q, %v", c.name, r.SignedBy, err)
		}
		found := false
		for _, p := range r.Problems {
			found = found || strings.Contains(p.What, c.want)
		}
		if !found {
			t.Errorf("%s: got %q, want %q", c.name, r.Problems, c.want)
		}
	}
	// other programs omit the "sha256:" of digests in an index
	bare := func(b []byte) []byte {
		r, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		lines, err := io.ReadAll(r)
		if err != nil || !bytes.Contains(lines, []byte("sha256:")) {
			t.Fatalf("%v in %s", err, lines)
		}
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		if _, err := w.Write(bytes.ReplaceAll(lines, []byte("sha256:"), nil)); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	r, err = export.CheckWACZ(changed(t, b, "indexes/index.cdx.gz", bare))
	if err != nil || slices.ContainsFunc(r.Problems,
		func(p export.Problem) bool { return strings.Contains(p.What, "is another than") }) {
		t.Errorf("digests without a label: %+v, %v", r, err)
	}
	if err := os.WriteFile(out, []byte("no zip"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := export.CheckWACZ(out); err != nil || len(r.Problems) != 1 {
		t.Errorf("no zip: %+v, %v", r, err)
	}
}
