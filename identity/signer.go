package identity

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"math/big"
	"time"
)

// Signer is a key that signs archives (wacz-auth 0.1.0, anonymous signature): ECDSA on P-384, as
// ArchiveWeb.page and replayweb.page use it. It is anonymous: only those who know whose public key it is
// know the signer.
type Signer struct{ key *ecdsa.PrivateKey }

// pemKey is the PEM type of a private key (RFC 5958).
const pemKey = "PRIVATE KEY"

// NewSigner generates a key.
func NewSigner() (*Signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	return &Signer{key}, err
}

// Write writes the key to a new file that only the owner may read: PKCS #8 in PEM. An existing file is an
// error.
func (s *Signer) Write(path string) error {
	der, err := x509.MarshalPKCS8PrivateKey(s.key)
	if err != nil {
		return err
	}
	return writeSecret(path, pem.EncodeToMemory(&pem.Block{Type: pemKey, Bytes: der}))
}

// ReadSigner reads a key written by Write or by openssl genpkey.
func ReadSigner(path string) (*Signer, error) {
	text, err := readSecret(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != pemKey {
		return nil, notKey(path)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, notKey(path)
	}
	ec, ok := key.(*ecdsa.PrivateKey)
	if !ok || ec.Curve != elliptic.P384() {
		return nil, notKey(path)
	}
	return &Signer{ec}, nil
}

// PublicKey returns the public key as a SubjectPublicKeyInfo in Base64.
func (s *Signer) PublicKey() string {
	der, _ := x509.MarshalPKIXPublicKey(&s.key.PublicKey) // never fails for a P-384 key
	return base64.StdEncoding.EncodeToString(der)
}

// Sign returns the signature of a text in Base64: r and s in 48 octets each, as in the Web Cryptography
// API.
func (s *Signer) Sign(text string) (string, error) {
	sum := sha256.Sum256([]byte(text))
	a, b, err := ecdsa.Sign(rand.Reader, s.key, sum[:])
	if err != nil {
		return "", err
	}
	const size = 48
	raw := make([]byte, 2*size)
	a.FillBytes(raw[:size])
	b.FillBytes(raw[size:])
	return base64.StdEncoding.EncodeToString(raw), nil
}

// ErrSignature reports that a signature does not match the text.
var ErrSignature = errors.New("the signature does not match")

// VerifyKey checks the signature of a text with a public key, both in Base64.
func VerifyKey(publicKey, signature, text string) error {
	der, err := base64.StdEncoding.DecodeString(publicKey)
	if err != nil {
		return err
	}
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return err
	}
	return verify(key, signature, text)
}

// Certificate is a certificate whose key has signed a text, with its intermediate certificates.
type Certificate struct {
	leaf   *x509.Certificate
	issued *x509.CertPool
}

// VerifyCertificate checks the signature of a text with the first of some PEM certificates. It does not
// check the chain: see Issuer.
func VerifyCertificate(chain, signature, text string) (*Certificate, error) {
	c := &Certificate{issued: x509.NewCertPool()}
	for rest := []byte(chain); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		one, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		if c.leaf == nil {
			c.leaf = one
		} else {
			c.issued.AddCert(one)
		}
	}
	if c.leaf == nil {
		return nil, errors.New("there is no certificate")
	}
	return c, verify(c.leaf.PublicKey, signature, text)
}

// ErrNoRoots reports that the system has no root certificates.
var ErrNoRoots = errors.New("this system has no root certificates to check it with")

// Issuer returns the name of the root certificate, trusted by the system, to which the chain leads. It
// returns an error if there is none, or if the certificate was not valid for the domain at that time.
func (c *Certificate) Issuer(domain string, at time.Time) (string, error) {
	if roots, err := x509.SystemCertPool(); err != nil || roots.Equal(x509.NewCertPool()) {
		return "", ErrNoRoots
	}
	chains, err := c.leaf.Verify(x509.VerifyOptions{DNSName: domain, Intermediates: c.issued, CurrentTime: at,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	if err != nil {
		return "", err
	}
	root := chains[0][len(chains[0])-1].Subject
	return cmp.Or(root.CommonName, root.String()), nil
}

// verify accepts r and s both as plain numbers and in DER.
func verify(public any, signature, text string) error {
	key, ok := public.(*ecdsa.PublicKey)
	if !ok {
		return errors.New("the key is not one of ECDSA")
	}
	raw, err := base64.StdEncoding.DecodeString(signature)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(text))
	size := (key.Curve.Params().BitSize + 7) / 8
	if len(raw) == 2*size && ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(raw[:size]),
		new(big.Int).SetBytes(raw[size:])) || ecdsa.VerifyASN1(key, sum[:], raw) {
		return nil
	}
	return ErrSignature
}
