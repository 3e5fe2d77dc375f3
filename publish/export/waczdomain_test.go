package export_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"curtsy/publish/export"
)

// authority is a certificate authority.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

// trusted is the only authority that the tests of this package trust.
var trusted *authority

func TestMain(m *testing.M) {
	trusted = newAuthority("Trusted")
	dir, err := os.MkdirTemp("", "")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "ca.pem"), pemOf(trusted.cert), 0o600)
	}
	if err != nil {
		panic(err)
	}
	os.Setenv("SSL_CERT_FILE", filepath.Join(dir, "ca.pem"))
	os.Setenv("SSL_CERT_DIR", dir)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func pemOf(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

func newAuthority(name string) *authority {
	return (&authority{}).issue(&x509.Certificate{Subject: pkix.Name{CommonName: name}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2050, 1, 1, 0, 0, 0, 0, time.UTC)})
}

// issue makes a certificate with a key; a root if no issuer is given.
func (a *authority) issue(c *x509.Certificate) *authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	parent, by := a.cert, a.key
	if parent == nil {
		parent, by = c, key
	}
	c.SerialNumber = big.NewInt(time.Now().UnixNano())
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, by)
	if err != nil {
		panic(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return &authority{key, cert}
}

func TestAWACZSignedForADomain(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("SSL_CERT_FILE is not read here")
	}
	a, seed := crawled(t)
	_, b := write(t, a, filepath.Join(t.TempDir(), "a.wacz"), export.Options{Format: export.WACZ, Seed: seed,
		Now: time.Now(), Software: "curtsy/test"})
	stranger := newAuthority("Stranger")
	leaf := func(ca *authority, until int) *authority {
		return ca.issue(&x509.Certificate{Subject: pkix.Name{CommonName: "leaf"}, DNSNames: []string{"h.example"},
			NotBefore: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(until, 1, 1, 0, 0, 0, 0, time.UTC)})
	}
	between := trusted.issue(&x509.Certificate{Subject: pkix.Name{CommonName: "Between"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, NotBefore: trusted.cert.NotBefore,
		NotAfter: trusted.cert.NotAfter})
	good := leaf(between, 2025)
	for name, c := range map[string]struct {
		signer, key *authority
		chain       []*authority
		domain      string
		created     string
		want        string // in the report: who has signed, or the problem
	}{
		"of a trusted authority, over another": {good, good, []*authority{between}, "h.example", "2024-05-06T07:08:09Z",
			"signed: h.example, whose certificate Trusted has issued"},
		"without the other":       {good, good, nil, "h.example", "2024-05-06T07:08:09Z", "unknown authority"},
		"after it was valid":      {good, good, []*authority{between}, "h.example", "2026-05-06T07:08:09Z", "expired"},
		"of nobody knows when":    {good, good, []*authority{between}, "h.example", "", "which cannot be checked"},
		"for another domain":      {good, good, []*authority{between}, "other.example", "2024-05-06T07:08:09Z", "not other.example"},
		"for no domain":           {good, good, []*authority{between}, "", "2024-05-06T07:08:09Z", "which cannot be checked"},
		"of an unknown authority": {nil, nil, []*authority{stranger}, "h.example", "2024-05-06T07:08:09Z", "unknown authority"},
		"by another key": {good, stranger, []*authority{between}, "h.example", "2024-05-06T07:08:09Z",
			"the signature does not match"},
	} {
		if c.signer == nil {
			c.signer = leaf(stranger, 2025)
			c.key = c.signer
		}
		chain := pemOf(c.signer.cert)
		for _, other := range c.chain {
			chain = append(chain, pemOf(other.cert)...)
		}
		path := changed(t, b, "datapackage-digest.json", func(b []byte) []byte {
			var d map[string]any
			if err := json.Unmarshal(b, &d); err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256([]byte(d["hash"].(string)))
			signature, err := ecdsa.SignASN1(rand.Reader, c.key.key, sum[:])
			if err != nil {
				t.Fatal(err)
			}
			d["signedData"] = map[string]string{"hash": d["hash"].(string), "created": c.created, "version": "0.1.0",
				"software": "authsign 0.5.1", "signature": base64.StdEncoding.EncodeToString(signature),
				"domain": c.domain, "domainCert": string(bytes.TrimSpace(chain))}
			b, err = json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			return b
		})
		r, err := export.CheckWACZ(path)
		if err != nil {
			t.Fatal(err)
		}
		got := "signed: " + r.SignedBy
		for _, p := range r.Problems {
			got += "; " + p.What
		}
		if !strings.Contains(got, c.want) || (r.SignedBy == "") != (len(r.Problems) > 0) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
