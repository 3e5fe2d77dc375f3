package fetch

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"testing"
	"time"
)

// Certificate errors are explained in words, and Lasting reports them as lasting.
func TestDistrustIsSaidInWords(t *testing.T) {
	day := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	cert := &x509.Certificate{DNSNames: []string{"a.example", "b.example", "c.example", "d.example"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:   day, NotAfter: day.AddDate(0, 1, 0)}
	verifying := func(err error) error { return &tls.CertificateVerificationError{Err: err} }
	for _, c := range []struct {
		err  error
		want string
	}{
		{verifying(x509.UnknownAuthorityError{}), "certificate signed by an unknown authority"},
		{verifying(x509.HostnameError{Certificate: cert, Host: "x.example"}),
			"certificate is valid for a.example, b.example, c.example, not for x.example"},
		{verifying(x509.HostnameError{Certificate: &x509.Certificate{}, Host: "x.example"}),
			"certificate is not for x.example"},
		{verifying(x509.CertificateInvalidError{Cert: cert, Reason: x509.Expired}),
			"certificate expired on 2026-02-02"},
		{verifying(x509.CertificateInvalidError{Cert: &x509.Certificate{NotBefore: day.AddDate(900, 0, 0)},
			Reason: x509.Expired}), "certificate is not valid before 2926-01-02"},
		{tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"},
			"the server does not speak TLS on this port"},
	} {
		kind, err := classify(c.err)
		if kind != KindTLS || err.Error() != c.want {
			t.Errorf("%v is %s: %v, want tls: %s", c.err, kind, err, c.want)
		}
		if !Lasting(&Error{Kind: kind, Err: err}) {
			t.Errorf("%v may pass", err)
		}
	}
	if Lasting(&Error{Kind: KindRefused, Err: errors.New("connection refused")}) {
		t.Error("a closed port lasts")
	}
}
