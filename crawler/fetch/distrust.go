package fetch

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
	"time"
)

// distrusted is why there is no trusted connection, in words of its own: those of
// the library name its packages, and hint at what the person cannot see.
type distrusted struct {
	text string
	err  error
}

func (d *distrusted) Error() string { return d.text }
func (d *distrusted) Unwrap() error { return d.err }

// distrust puts what is wrong with a certificate, or with the port, into words.
func distrust(err error) error {
	var record tls.RecordHeaderError
	if errors.As(err, &record) {
		return &distrusted{"what answers there speaks no TLS", err}
	}
	var unknown x509.UnknownAuthorityError
	if errors.As(err, &unknown) {
		return &distrusted{"its certificate is signed by an authority that is not trusted here", err}
	}
	var name x509.HostnameError
	if errors.As(err, &name) && name.Certificate != nil {
		return &distrusted{"its certificate is not for " + name.Host + bearer(name.Certificate), err}
	}
	var invalid x509.CertificateInvalidError
	if errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil {
		if strings.Contains(invalid.Detail, " is before ") { // the only place that has the library's clock
			return &distrusted{"its certificate is not yet valid, but from " + day(invalid.Cert.NotBefore) + " on", err}
		}
		return &distrusted{"its certificate expired on " + day(invalid.Cert.NotAfter), err}
	}
	return err
}

// bearer lists whom a certificate is for, the first three of them.
func bearer(c *x509.Certificate) string {
	names := c.DNSNames
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return ""
	}
	return ", but for " + strings.Join(names[:min(len(names), 3)], ", ")
}

func day(t time.Time) string { return t.UTC().Format("2006-01-02") }
