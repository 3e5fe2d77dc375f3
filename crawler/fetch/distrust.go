package fetch

import (
	"crypto/x509"
	"errors"
	"strings"
	"time"
)

// untrusted is an ErrUntrusted with a message of its own; the messages of crypto/x509 name the
// package.
type untrusted string

func (u untrusted) Error() string { return string(u) }
func (u untrusted) Unwrap() error { return ErrUntrusted }

// distrust describes what is wrong with a certificate.
func distrust(err error) error {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return untrusted("certificate signed by an unknown authority")
	}
	if name, ok := errors.AsType[x509.HostnameError](err); ok && name.Certificate != nil {
		return untrusted("certificate is " + validFor(name.Certificate) + "not for " + name.Host)
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired &&
		invalid.Cert != nil {
		if time.Now().Before(invalid.Cert.NotBefore) {
			return untrusted("certificate is not valid before " + day(invalid.Cert.NotBefore))
		}
		return untrusted("certificate expired on " + day(invalid.Cert.NotAfter))
	}
	return untrusted(err.Error())
}

// validFor lists the first three names and addresses of a certificate.
func validFor(c *x509.Certificate) string {
	names := c.DNSNames
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return ""
	}
	return "valid for " + strings.Join(names[:min(len(names), 3)], ", ") + ", "
}

func day(t time.Time) string { return t.UTC().Format("2006-01-02") }
