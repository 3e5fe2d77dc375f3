// Package identity has the keys with which a crawler identifies itself and signs archives. An Identity is
// an Ed25519 key that signs requests by Web Bot Auth (draft-ietf-webbotauth-httpsig-protocol), which is
// RFC 9421 with a fixed set of components: a site that wants to check a User-Agent fetches the public key
// from the signer's site.
package identity

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"curtsy/internal/weburl"
)

// Directory is the path at which the identity's site publishes the public keys, and DirectoryType their
// media type (draft-ietf-webbotauth-httpsig-directory §4).
const (
	Directory     = "/.well-known/http-message-signatures-directory"
	DirectoryType = "application/http-message-signatures-directory+json"
)

// valid is how long a signature is valid; the draft allows at most 24 hours.
const valid = 5 * time.Minute

// Identity is a private key and the site that publishes its public key.
type Identity struct {
	site string // an origin, as "https://example.org"
	key  ed25519.PrivateKey
}

// file is the JSON of a private key (RFC 8037 §2) with its site, or of a public key.
type file struct {
	KTY  string `json:"kty"`
	CRV  string `json:"crv"`
	KID  string `json:"kid,omitempty"`
	X    string `json:"x"`
	D    string `json:"d,omitempty"`
	Site string `json:"site,omitempty"`
}

var b64 = base64.RawURLEncoding

// New creates an identity whose public key is to be published at site, "https://host[:port]".
func New(site string) (*Identity, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	return of(site, key)
}

func of(site string, key ed25519.PrivateKey) (*Identity, error) {
	u, err := weburl.Parse(site)
	if err != nil || !strings.HasPrefix(u.Origin(), "https://") || u.Target() != "/" {
		return nil, fmt.Errorf("%q is not a site: want https:// and a host", site)
	}
	return &Identity{site: u.Origin(), key: key}, nil
}

// Write writes the identity to a new file that only the owner may read. An existing file is an error.
func (i *Identity) Write(path string) error {
	text, err := json.Marshal(file{KTY: "OKP", CRV: "Ed25519", KID: i.ID(), X: i.public(),
		D: b64.EncodeToString(i.key.Seed()), Site: i.site})
	if err != nil {
		return err
	}
	return writeSecret(path, append(text, '\n'))
}

// writeSecret writes a new file that only the owner may read.
func writeSecret(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path)) // no part of a key may be left
	}
	return nil
}

// ErrOpen reports that others may read a private key.
var ErrOpen = errors.New("others may read this private key")

// maxFile bounds the file of an identity, in octets.
const maxFile = 16 << 10

// Read reads a file written by Write. Errors never contain a part of the key.
func Read(path string) (*Identity, error) {
	text, err := readSecret(path)
	if err != nil {
		return nil, err
	}
	i, err := parse(text)
	if err != nil {
		return nil, notKey(path)
	}
	return i, nil
}

// readSecret reads a file of at most maxFile octets that others may not read.
func readSecret(path string) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && st.Mode().Perm()&0o077 != 0 {
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrOpen}
	}
	if st.Size() > maxFile {
		return nil, notKey(path)
	}
	return os.ReadFile(filepath.Clean(path))
}

func notKey(path string) error {
	return &fs.PathError{Op: "read", Path: path, Err: errors.New("not a file of curtsy identity new")}
}

func parse(text []byte) (*Identity, error) {
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, err
	}
	seed, err := b64.DecodeString(f.D)
	if err != nil || len(seed) != ed25519.SeedSize || f.CRV != "Ed25519" {
		return nil, errors.New("not an Ed25519 key")
	}
	i, err := of(f.Site, ed25519.NewKeyFromSeed(seed))
	if err == nil && i.public() != f.X {
		return nil, errors.New("the public key is not that of the private one")
	}
	return i, err
}

func (i *Identity) public() string {
	return b64.EncodeToString(i.key.Public().(ed25519.PublicKey))
}

// Site returns the origin that publishes the key.
func (i *Identity) Site() string { return i.site }

// ID returns the key's JWK thumbprint (RFC 7638, RFC 8037 appendix A.3).
func (i *Identity) ID() string {
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + i.public() + `"}`))
	return b64.EncodeToString(sum[:])
}

// JWKS returns the JWK set (RFC 7517) that the site is to publish at Directory.
func (i *Identity) JWKS() []byte {
	text, _ := json.Marshal(map[string][]file{"keys": {{KTY: "OKP", CRV: "Ed25519", KID: i.ID(),
		X: i.public()}}}) // strings always marshal
	return text
}

// Sign returns the header fields that sign a request to an authority, host[:port], at a time (RFC 9421
// §3.1).
func (i *Identity) Sign(authority string, now time.Time) http.Header {
	nonce := make([]byte, 64)
	_, _ = rand.Read(nonce) // never fails
	agent := `"` + i.site + `"`
	params := fmt.Sprintf(`("@authority" "signature-agent");created=%d;expires=%d;`+
		`keyid="%s";alg="ed25519";nonce="%s";tag="web-bot-auth"`,
		now.Unix(), now.Add(valid).Unix(), i.ID(), base64.StdEncoding.EncodeToString(nonce))
	base := `"@authority": ` + strings.ToLower(authority) + "\n" + `"signature-agent": ` + agent + "\n" +
		`"@signature-params": ` + params
	signature := ed25519.Sign(i.key, []byte(base))
	return http.Header{
		"Signature-Agent": {agent},
		"Signature-Input": {"sig1=" + params},
		"Signature":       {"sig1=:" + base64.StdEncoding.EncodeToString(signature) + ":"},
	}
}
