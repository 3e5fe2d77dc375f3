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

// Kind classifies a failure in one word, for statistics and rules.
type Kind string

// The kinds of failure. Those up to KindDisconnect concern the host, the others this one
// exchange or this machine.
const (
	KindDNS        Kind = "dns"            // the name has no address, or the resolver failed
	KindRefused    Kind = "refused"        // connection refused
	KindConnect    Kind = "connect"        // no route, or another connection failure
	KindTLS        Kind = "tls"            // no trusted TLS connection
	KindTimeout    Kind = "timeout"        // no connection, or no complete head, in time
	KindDisconnect Kind = "disconnect"     // closed before the head was complete
	KindProtocol   Kind = "protocol"       // the response is not HTTP/1
	KindHead       Kind = "too-large-head" // the head exceeds MaxHead or has too many lines
	KindBlocked    Kind = "blocked"        // the address guard refuses the host
	KindProxy      Kind = "proxy"          // the proxy failed
	KindCanceled   Kind = "canceled"       // the context was cancelled
	KindLocal      Kind = "local"          // this machine or the gate: disk full, too many open files
	KindInternal   Kind = "internal error" // a panic in this program while it read the response
)

// Error is why an exchange has no response.
type Error struct {
	Kind Kind
	Op   string // "fetch https://…"
	Err  error
}

// Error reads "fetch https://…: dns: no such host".
func (e *Error) Error() string { return e.Op + ": " + string(e.Kind) + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errors that callers distinguish. Retrying does not help with the first three.
var (
	ErrNoHost    = errors.New("no such host")
	ErrNoTLS     = errors.New("the server does not speak TLS on this port")
	ErrUntrusted = errors.New("certificate not trusted")
	ErrNoAnswer  = errors.New("connection closed by the server") // before the first byte of a response
)

// KindOf returns the kind of an exchange's error; "" if err is not an *Error.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}

// Cause returns an exchange's error without its URL and kind.
func Cause(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Err
	}
	return err
}

// Lasting reports whether the same request would fail for the same reason a little later: the
// host does not exist, its address may not be dialled, its certificate is not trusted, or the
// port does not speak TLS.
func Lasting(err error) bool {
	return KindOf(err) == KindBlocked || errors.Is(err, ErrNoHost) || errors.Is(err, ErrUntrusted) ||
		errors.Is(err, ErrNoTLS)
}

// fault is an error whose kind is known where it occurs.
type fault struct {
	kind Kind
	err  error
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

// bad makes a fault of a kind and a text.
func bad(kind Kind, text string) error { return &fault{kind, errors.New(text)} }

// misread makes a fault of an error in parsing a response.
func misread(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, http1.ErrFields):
		return &fault{KindHead, err}
	}
	return &fault{KindProtocol, err}
}

// classify returns the kind of an error and a short text for it.
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

// dropped reports whether the peer has closed the connection.
func dropped(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, syscall.ECONNABORTED)
}
