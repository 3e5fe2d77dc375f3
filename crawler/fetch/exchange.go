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

// Times are when an exchange started and how long it took.
type Times struct {
	Start time.Time     // before a connection was looked for
	Total time.Duration // the exchange ended at Start + Total; see End
}

// Peer describes the server's end of the connection.
type Peer struct {
	IP          netip.Addr // of the server; the zero Addr behind a proxy
	TLSVersion  string     // "tls/1.3", as in WARC-Protocol; "" for plain HTTP
	CipherSuite string     // "TLS_AES_128_GCM_SHA256"
}

// Exchange is one request and its response. It owns pooled buffers: its byte slices and readers
// are valid until Release; URL, Header and the other plain values stay valid. One goroutine at a
// time may use it.
type Exchange struct {
	URL weburl.URL
	Times
	Peer

	RequestBytes []byte // verbatim, but without the proxy's or the login's credentials
	Head         []byte // verbatim head of the final response, blank line included
	Status       int
	Header       http.Header // folded lines joined; NUL and bare CR replaced by spaces
	Proto        string      // "HTTP/1.1"

	// Truncated is the value of WARC-Truncated: "", "length" (our limit), "time" (our limit)
	// or "disconnect" (the body ended early or its chunks are broken). Cut is the reason in
	// words; nil for a complete body.
	Truncated string
	Cut       error

	// LoggedIn says that the request carried a login. Cleared is the name of the login cookie
	// that this response deleted, or that an earlier response had deleted, so that this
	// request was sent without it.
	LoggedIn bool
	Cleared  string

	// Unwanted says that Request.Wanted refused the body.
	Unwanted bool
	// Err is nil once the head of a final response has been read, else an *Error. A
	// truncated body is not an error: see Truncated.
	Err error

	rec     recording
	frame   frame
	payload int64 // octets of the payload
	digest  *[sha256.Size]byte
	decoded *decoded
	limit   *int64 // upper bound for Decoded; nil is none
}

// End returns when the last byte arrived or the attempt was given up.
func (x *Exchange) End() time.Time { return x.Start.Add(x.Total) }

// Memory returns how many octets of memory the buffer takes until Release.
func (x *Exchange) Memory() int { return cap(x.rec.buf) }

// Held returns how many octets of the body have been recorded, as transferred.
func (x *Exchange) Held() int64 { return x.rec.size }

// Limit bounds Decoded to the octets it returned before the whole body had arrived, so that a
// decision made on that part applies to everything that is read later.
func (x *Exchange) Limit(decoded int64) { x.limit = &decoded }

// undecode drops the cached result of Decoded: more of the body may follow.
func (x *Exchange) undecode() {
	if x.decoded != nil {
		x.rec.scratch.recycle(x.decoded.body)
		x.decoded = nil
	}
}

// Wire returns the body as transferred, chunked coding included, and its length in octets.
func (x *Exchange) Wire() (io.Reader, int64) { return x.rec.reader(), x.rec.size }

// Payload returns the body without the chunked coding but with content codings, and its length
// in octets: the data that WARC-Payload-Digest covers.
func (x *Exchange) Payload() (io.Reader, int64) {
	if x.frame.chunks == nil {
		return x.Wire()
	}
	if x.rec.file == nil {
		return upToCut{http1.Dechunk(x.rec.memory(), nil)}, x.payload
	}
	return upToCut{http1.Dechunk(nil, x.rec.reader())}, x.payload
}

// PayloadDigest returns the SHA-256 of the payload and the payload's length. It is computed on
// the first call.
func (x *Exchange) PayloadDigest() ([sha256.Size]byte, int64) {
	if x.digest == nil {
		x.digest = new([sha256.Size]byte)
		if b := x.rec.memory(); x.rec.file == nil && x.frame.chunks == nil {
			*x.digest = sha256.Sum256(b)
			return *x.digest, x.payload
		}
		h := sha256.New()
		r, _ := x.Payload()
		_, _ = io.Copy(h, r) // Check has read the file before
		h.Sum(x.digest[:0])
	}
	return *x.digest, x.payload
}

// Check fails the exchange with KindLocal if its body is in a file that cannot be read back
// completely, so that no digest or other statement is made about a body that did not arrive so.
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

// Fail makes the exchange a failed one, for a reason found after it had ended.
func (x *Exchange) Fail(kind Kind, err error) {
	x.fail(&fault{kind, err})
	x.Head = nil
}

// Release returns the buffers to the pool. Nothing of x may be used afterwards.
func (x *Exchange) Release() {
	x.undecode()
	x.rec.release()
	x.Head, x.RequestBytes = nil, nil
}
