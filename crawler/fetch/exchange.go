package fetch

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"time"

	"curtsy/internal/http1"
	"curtsy/internal/weburl"
)

// Times are when an exchange went on.
type Times struct {
	Start time.Time     // before the connection was sought
	Total time.Duration // after Start; the download ended at End()
}

// Peer is who answered.
type Peer struct {
	IP          netip.Addr // of the server; the zero Addr behind a proxy
	TLSVersion  string     // "tls/1.3", as in WARC-Protocol; "" for plain HTTP
	CipherSuite string     // "TLS_AES_128_GCM_SHA256"
}

// Exchange is one request and what came of it. It owns pooled buffers: what
// it gives is valid until Release, but for URL, Header and the other plain
// values. It is for one goroutine at a time.
type Exchange struct {
	URL weburl.URL
	Times
	Peer

	RequestBytes []byte // verbatim, but never the proxy's password
	Head         []byte // verbatim head of the final response with its blank line
	Status       int
	Header       http.Header // joined folds, NUL and lone CR made blanks
	Proto        string      // "HTTP/1.1"

	// Truncated is what WARC-Truncated says of the body: "", "length" (our
	// limit), "time" (our limit), "disconnect" (it ended early, or its
	// chunks broke). Cut is the reason in words, nil for a whole body.
	Truncated string
	Cut       error

	// LoggedIn says that the request carried a login; Cleared is the cookie of the
	// login that the answer took away, or that an earlier one had, so that the
	// request was sent without.
	LoggedIn bool
	Cleared  string

	// Unwanted says that Request.Wanted refused the body.
	Unwanted bool
	// Err is nil once the head of a final response has been read, else an
	// *Error. A body that was cut short is no error: see Truncated.
	Err error

	rec     recording
	frame   frame
	payload int64 // octets of the payload
	digest  *[sha256.Size]byte
	decoded *decoded
	limit   *int64 // of what Decoded gives
}

// End is when the last byte came, or the attempt was given up.
func (x *Exchange) End() time.Time { return x.Start.Add(x.Total) }

// Memory is how many octets of memory its buffers take until Release.
func (x *Exchange) Memory() int { return cap(x.rec.buf) }

// Held is how many octets of the body there are.
func (x *Exchange) Held() int64 { return x.rec.size }

// Limit bounds what Decoded gives to what it gave before all of the body was
// there: what was decided on it holds for all that is read.
func (x *Exchange) Limit(decoded int64) { x.limit = &decoded }

// undecode drops what Decoded found: there may be more now.
func (x *Exchange) undecode() {
	if x.decoded != nil {
		x.rec.scratch.recycle(x.decoded.body)
		x.decoded = nil
	}
}

// Wire gives the body as it was transferred, chunks and all, and its length.
func (x *Exchange) Wire() (io.Reader, int64) { return x.rec.reader(), x.rec.size }

// Payload gives the body without the chunks, content codings kept, and its
// length: what WARC's payload digest is taken of.
func (x *Exchange) Payload() (io.Reader, int64) {
	if x.frame.chunks == nil {
		return x.Wire()
	}
	if x.rec.file == nil {
		return upToCut{http1.Dechunk(x.rec.memory(), nil)}, x.payload
	}
	return upToCut{http1.Dechunk(nil, x.rec.reader())}, x.payload
}

// PayloadDigest gives the SHA-256 of the payload and the payload's length. It is
// computed once, when it is first asked for.
func (x *Exchange) PayloadDigest() ([sha256.Size]byte, int64) {
	if x.digest == nil {
		x.digest = new([sha256.Size]byte)
		if b := x.rec.memory(); x.rec.file == nil && x.frame.chunks == nil {
			*x.digest = sha256.Sum256(b)
			return *x.digest, x.payload
		}
		h := sha256.New()
		r, _ := x.Payload()
		_, _ = io.Copy(h, r) // Check has read it before
		h.Sum(x.digest[:0])
	}
	return *x.digest, x.payload
}

// Check makes the exchange a failure of this machine where its body lies in a file
// that cannot be read back whole: nothing may be said of a body, its digest least of
// all, that is not the one that came.
func (x *Exchange) Check() {
	if x.Err != nil || x.rec.file == nil {
		return
	}
	n, err := io.Copy(io.Discard, x.rec.reader())
	if err == nil && n != x.rec.size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		x.Fail(KindLocal, fmt.Errorf("the body cannot be read back from its temporary file: %w", err))
	}
}

// Fail makes the exchange one that brought nothing, for a reason that was found after
// it had ended.
func (x *Exchange) Fail(kind Kind, err error) {
	x.fail(&fault{kind, err})
	x.Head = nil
}

// Release gives the buffers back. Nothing of x may be used after it.
func (x *Exchange) Release() {
	x.undecode()
	x.rec.release()
	x.Head, x.RequestBytes = nil, nil
}
