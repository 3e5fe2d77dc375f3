package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"curtsy/internal/http1"
)

// Kind is the sort of failure, in one word that statistics and rules can use.
type Kind string

// The kinds of failure. Those up to KindDisconnect speak about the host, the
// others about this one exchange or about us.
const (
	KindDNS        Kind = "dns"            // the name has no address, or nobody says
	KindRefused    Kind = "refused"        // nobody listens
	KindConnect    Kind = "connect"        // no way there
	KindTLS        Kind = "tls"            // no trusted, encrypted connection
	KindTimeout    Kind = "timeout"        // no connection, or no whole head, in time
	KindDisconnect Kind = "disconnect"     // closed before the head was whole
	KindProtocol   Kind = "protocol"       // what came is not HTTP/1
	KindHead       Kind = "too-large-head" // the head exceeds MaxHead or has too many lines
	KindBlocked    Kind = "blocked"        // the address guard refuses the host
	KindProxy      Kind = "proxy"          // the proxy is the one that fails
	KindCanceled   Kind = "canceled"       // we were told to stop
	KindLocal      Kind = "local"          // this machine: disk full, too many open files
	KindInternal   Kind = "internal error" // a mistake of this program, while it read the answer
)

// Error is why an exchange has no response.
type Error struct {
	Kind Kind
	Op   string // "fetch https://…"
	Err  error
}

// Error reads "fetch https://…: dns: no such host".
func (e *Error) Error() string { return e.Op + ": " + string(e.Kind) + ": " + e.Err.Error() }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errors that callers tell apart. Trying again does not change the first three.
var (
	ErrNoHost    = errors.New("no such host")
	ErrNoTLS     = errors.New("the server does not speak TLS on this port")
	ErrUntrusted = errors.New("certificate not trusted")
	ErrNoAnswer  = errors.New("connection closed by the server") // before the first byte of an answer
)

// KindOf is the kind of an exchange's error, "" where it is none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}

// Cause is what an exchange's error says beside its URL and kind.
func Cause(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Err
	}
	return err
}

// Lasting says whether the same request, a little later, would fail for the same
// reason: there is no such host, its address may not be dialled, its certificate
// is not trusted, or what answers speaks no TLS.
func Lasting(err error) bool {
	return KindOf(err) == KindBlocked || errors.Is(err, ErrNoHost) || errors.Is(err, ErrUntrusted) ||
		errors.Is(err, ErrNoTLS)
}

// fault is an error whose kind is known where it happens.
type fault struct {
	kind Kind
	err  error
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

// bad makes a fault of a kind with a text.
func bad(kind Kind, text string) error { return &fault{kind, errors.New(text)} }

// misread is a fault where a response cannot be understood.
func misread(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, http1.ErrFields):
		return &fault{KindHead, err}
	}
	return &fault{KindProtocol, err}
}

// classify finds the kind of an error and its shortest honest text. What
// was said of a connection that timed out is less than that it timed out.
func classify(err error) (Kind, error) {
	if f, ok := errors.AsType[*fault](err); ok {
		return f.kind, f.err
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return KindDNS, ErrNoHost
	} else if dns != nil {
		return KindDNS, errors.New(dns.Err)
	}
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.Is(err, context.Canceled):
		return KindCanceled, context.Canceled
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return KindTimeout, errors.New("timed out")
	case errors.As(err, &record):
		return KindTLS, ErrNoTLS
	case errors.As(err, &cert):
		return KindTLS, distrust(cert.Err)
	case errors.As(err, &alert):
		return KindTLS, err
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOSPC):
		return KindLocal, err
	case errors.Is(err, syscall.ECONNREFUSED):
		return KindRefused, errors.New("connection refused")
	case dropped(err):
		return KindDisconnect, errors.New("connection closed by the server")
	}
	return KindConnect, err
}

// dropped says whether the other side has left.
func dropped(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, syscall.ECONNABORTED)
}
