package identity

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The key of RFC 8037 appendices A.1 to A.3.
const rfcKey = `{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","site":"https://example.org"}`

func TestThumbprint(t *testing.T) {
	i, err := parse([]byte(rfcKey))
	if err != nil {
		t.Fatal(err)
	}
	if want := "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"; i.ID() != want {
		t.Errorf("%s, want %s", i.ID(), want)
	}
	if jwks := string(i.JWKS()); strings.Contains(jwks, `"d"`) ||
		!strings.Contains(jwks, `"x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"`) {
		t.Errorf("published: %s", jwks)
	}
}

// The signature base is as in RFC 9421 §2.5.
func TestSign(t *testing.T) {
	i, _ := parse([]byte(rfcKey))
	now := time.Unix(1_900_000_000, 0)
	h := i.Sign("Example.com:8443", now)
	params := strings.TrimPrefix(h["Signature-Input"][0], "sig1=")
	for _, want := range []string{`("@authority" "signature-agent")`, `;created=1900000000;expires=1900000300`,
		`;keyid="kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"`, `;tag="web-bot-auth"`} {
		if !strings.Contains(params, want) {
			t.Errorf("%s lacks %s", params, want)
		}
	}
	base := "\"@authority\": example.com:8443\n\"signature-agent\": \"https://example.org\"\n\"@signature-params\": " +
		params
	raw, err := base64.StdEncoding.DecodeString(strings.Trim(strings.TrimPrefix(h["Signature"][0], "sig1="), ":"))
	if err != nil || !ed25519.Verify(i.key.Public().(ed25519.PublicKey), []byte(base), raw) {
		t.Errorf("%v: not a signature of %q", err, base)
	}
	if again := i.Sign("example.com", now); again["Signature-Input"][0] == h["Signature-Input"][0] {
		t.Error("two requests have one nonce")
	}
}

func TestFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	i, err := New("https://you.example/")
	if err != nil {
		t.Fatal(err)
	}
	if err := i.Write(path); err != nil {
		t.Fatal(err)
	}
	if st, _ := os.Stat(path); st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", st.Mode())
	}
	if again, err := Read(path); err != nil || again.ID() != i.ID() || again.Site() != "https://you.example" {
		t.Errorf("read again: %v, %v", again, err)
	}
	if err := i.Write(path); !errors.Is(err, os.ErrExist) {
		t.Errorf("written over: %v", err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); !errors.Is(err, ErrOpen) {
		t.Errorf("a key that others may read: %v", err)
	}
	for _, site := range []string{"", "http://you.example/", "you.example", "https://you.example/path", "ftp://x/"} {
		if _, err := New(site); err == nil {
			t.Errorf("%q is taken for a site", site)
		}
	}
	for _, text := range []string{"", "{}", "null", strings.Replace(rfcKey, "11qY", "22qY", 1),
		strings.Replace(rfcKey, "Ed25519", "P-256", 1)} {
		if _, err := parse([]byte(text)); err == nil {
			t.Errorf("%q is taken for a key", text)
		}
	}
}
