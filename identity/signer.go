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

// Signer is a key that signs archives (wacz-auth 0.1.0, anonymous signature): ECDSA
// on P-384, as ArchiveWeb.page and replayweb.page have it. It names nobody by itself;
// who knows the public key knows who signed.
type Signer struct{ key *ecdsa.PrivateKey }

// pemKey is the type of the PEM block of a private key (RFC 5958).
const pemKey = "PRIVATE KEY"

// NewSigner makes a key.
func NewSigner() (*Signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	return &Signer{key}, err
}

// Write makes the file of the key, which nobody else may read: PKCS #8 in PEM. It
// replaces none.
func (s *Signer) Write(path string) error {
	der, err := x509.MarshalPKCS8PrivateKey(s.key)
	if err != nil {
		return err
	}
	return writeSecret(path, pem.EncodeToMemory(&pem.Block{Type: pemKey, Bytes: der}))
}

// ReadSigner reads what Write made, or openssl genpkey.
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

// PublicKey is the public half as a SubjectPublicKeyInfo in Base64.
func (s *Signer) PublicKey() string {
	der, _ := x509.MarshalPKIXPublicKey(&s.key.PublicKey) // of a key on P-384: no error
	return base64.StdEncoding.EncodeToString(der)
}

// Sign gives the signature of a text in Base64: r and s of 48 octets each, as the Web
// Cryptography API writes them.
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

// ErrSignature says that a signature is not that of the text.
var ErrSignature = errors.New("the signature does not match")

// VerifyKey checks the signature of a text by a public key, both in Base64.
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

// Certificate is one that has signed a text, with those that it came with.
type Certificate struct {
	leaf   *x509.Certificate
	issued *x509.CertPool
}

// VerifyCertificate checks the signature of a text by the first of some certificates in
// PEM. Who issued it, Issuer says.
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

// ErrNoRoots says that the system has no list of authorities.
var ErrNoRoots = errors.New("this system has no root certificates to check it with")

// Issuer is the authority, one that the system trusts, to which the certificate leads. An error says
// that it leads to none, or was not one of the domain at that time.
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

// verify takes r and s as they are, and in DER.
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
