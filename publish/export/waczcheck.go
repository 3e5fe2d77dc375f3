package export

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"curtsy/identity"
	"curtsy/storage/warc"
)

// signedData is a WACZ signature (wacz-auth 0.1.0), by a key or by a domain's certificate.
type signedData struct {
	Hash       string `json:"hash"`
	Created    string `json:"created"`
	Software   string `json:"software"`
	Version    string `json:"version"`
	Signature  string `json:"signature"`
	PublicKey  string `json:"publicKey,omitempty"`
	Domain     string `json:"domain,omitempty"`
	DomainCert string `json:"domainCert,omitempty"`
}

// digestFile is datapackage-digest.json.
type digestFile struct {
	Path   string      `json:"path"`
	Hash   string      `json:"hash"`
	Signed *signedData `json:"signedData,omitempty"`
}

// authVersion is the version of the specification (specs.webrecorder.net/wacz-auth/0.1.0).
const authVersion = "0.1.0"

// WACZReport is the result of checking a WACZ.
type WACZReport struct {
	Files    int       `json:"files"` // in the zip
	Records  int       `json:"records"`
	Lines    int       `json:"lines"` // of the index
	Problems []Problem `json:"problems"`
	// SignedBy is the public key of a valid signature, or the domain and the issuer of its
	// certificate; "" if there is no valid signature.
	SignedBy string `json:"signed_by"`
	SignedAt string `json:"signed_at,omitempty"` // as stated by the signer
}

// Problem is a fault in a file of the WACZ.
type Problem struct {
	File string `json:"file"`
	What string `json:"what"`
}

// Limits of a check: octets of a file read into memory, and problems listed.
const (
	maxWhole    = 64 << 20
	maxProblems = 1000
)

// waczCheck is a running check.
type waczCheck struct {
	z    *zip.ReadCloser
	r    *WACZReport
	seed maphash.Seed
	// at maps the position of each WARC record to a hash of its URL and digest.
	at map[string]uint64
}

// CheckWACZ checks a WACZ of any program: files against datapackage.json, datapackage.json
// against its digest and signature, records against their digests, and the index against the
// records. Faults of the WACZ are in the report; an error means that the file cannot be opened.
func CheckWACZ(file string) (*WACZReport, error) {
	z, err := zip.OpenReader(file)
	if errors.Is(err, zip.ErrFormat) {
		return &WACZReport{Problems: []Problem{{"", "it is not a zip file, or its directory is cut off"}}}, nil
	}
	if err != nil {
		return nil, err
	}
	defer z.Close()
	c := &waczCheck{z: z, r: &WACZReport{Files: len(z.File), Problems: []Problem{}}, seed: maphash.MakeSeed(),
		at: map[string]uint64{}}
	c.described()
	for _, f := range z.File {
		if strings.HasPrefix(f.Name, "archive/") {
			c.read(f, c.records)
		}
	}
	for _, f := range z.File {
		if strings.HasPrefix(f.Name, "indexes/") && !strings.HasSuffix(f.Name, ".idx") {
			c.read(f, c.index)
		}
	}
	return c.r, nil
}

func (c *waczCheck) problem(file, what string, args ...any) {
	if len(c.r.Problems) < maxProblems {
		c.r.Problems = append(c.r.Problems, Problem{file, fmt.Sprintf(what, args...)})
	}
}

// read runs a check on a file of the zip. Errors are recorded as problems.
func (c *waczCheck) read(f *zip.File, check func(*zip.File, io.Reader) error) {
	if strings.HasSuffix(f.Name, "/") {
		return
	}
	r, err := f.Open()
	if err == nil {
		defer r.Close()
		err = check(f, r)
	}
	if err != nil {
		c.problem(f.Name, "cannot be read: %v", err)
	}
}

// decode reads a JSON file; on failure it records a problem and returns nil.
func (c *waczCheck) decode(name string, to any) (text []byte) {
	f, err := c.z.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		c.problem(name, "is missing")
		return nil
	}
	if err == nil {
		defer f.Close()
		text, err = io.ReadAll(io.LimitReader(f, maxWhole))
	}
	if err != nil {
		c.problem(name, "cannot be read: %v", err)
		return nil
	}
	if err := json.Unmarshal(text, to); err != nil {
		c.problem(name, "is no JSON: %v", err)
		return nil
	}
	return text
}

// described checks datapackage.json, its digest, and the files that it lists.
func (c *waczCheck) described() {
	var d datapackage
	text := c.decode("datapackage.json", &d)
	if text == nil {
		return
	}
	c.digest(text)
	named := map[string]bool{"datapackage.json": true, "datapackage-digest.json": true}
	for _, r := range d.Resources {
		named[r.Path] = true
		c.resource(r)
	}
	for _, f := range c.z.File {
		if !named[f.Name] && !strings.HasSuffix(f.Name, "/") {
			c.problem(f.Name, "is not named in datapackage.json")
		}
	}
}

// resource checks the size and hash of a file.
func (c *waczCheck) resource(r resource) {
	f, err := c.z.Open(r.Path)
	if err != nil {
		c.problem(r.Path, "is named in datapackage.json, but missing")
		return
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	switch got := fmt.Sprintf("sha256:%x", h.Sum(nil)); {
	case err != nil:
		c.problem(r.Path, "cannot be read: %v", err)
	case n != r.Bytes:
		c.problem(r.Path, "has %d bytes, datapackage.json says %d", n, r.Bytes)
	case strings.HasPrefix(r.Hash, "sha256:") && got != r.Hash:
		c.problem(r.Path, "has the hash %s, datapackage.json says %s", got, r.Hash)
	}
}

// digest checks the hash of datapackage.json and the signature of that hash.
func (c *waczCheck) digest(text []byte) {
	const name = "datapackage-digest.json"
	var d digestFile
	if c.decode(name, &d) == nil {
		return
	}
	if got := fmt.Sprintf("sha256:%x", sha256.Sum256(text)); got != d.Hash {
		c.problem("datapackage.json", "has the hash %s, %s says %s", got, name, d.Hash)
	}
	if d.Signed != nil {
		c.signature(name, &d)
	}
}

func (c *waczCheck) signature(name string, d *digestFile) {
	s, by := d.Signed, ""
	var err error
	switch {
	case s.Hash != d.Hash:
		err = fmt.Errorf("it signs %s", s.Hash)
	case s.PublicKey != "":
		by, err = s.PublicKey, identity.VerifyKey(s.PublicKey, s.Signature, s.Hash)
	case s.DomainCert != "":
		by, err = s.certified()
	default:
		err = errors.New("it has neither publicKey nor domainCert")
	}
	if err != nil {
		c.problem(name, "signature: %v", err)
		return
	}
	c.r.SignedBy, c.r.SignedAt = by, s.Created
}

// certified checks a signature by certificate, and says whose it is. The certificate must be
// for the domain, valid at the time stated by the signer and issued by an authority that the
// system trusts; anybody can make another.
func (s *signedData) certified() (string, error) {
	certificate, err := identity.VerifyCertificate(s.DomainCert, s.Signature, s.Hash)
	if err != nil {
		return "", err
	}
	at, err := time.Parse(time.RFC3339, s.Created)
	if err != nil {
		at, err = time.Parse("2006-01-02T15:04:05", s.Created) // UTC, in Python's format
	}
	if err != nil || s.Domain == "" {
		return "", fmt.Errorf("by a certificate, for the domain %q at %q, which cannot be checked", s.Domain, s.Created)
	}
	issuer, err := certificate.Issuer(s.Domain, at)
	if errors.Is(err, identity.ErrNoRoots) {
		return fmt.Sprintf("a certificate for %s, not checked: %v", s.Domain, err), nil
	}
	if err != nil {
		return "", fmt.Errorf("the certificate for %s: %w", s.Domain, err)
	}
	return fmt.Sprintf("%s, whose certificate %s has issued", s.Domain, issuer), nil
}

// key hashes URL and digest of a record. The digest is decoded first, because index and record
// may encode it differently.
func (c *waczCheck) key(url, digest string) uint64 {
	return maphash.String(c.seed, url+"\x00"+string(warc.DigestOctets(digest)))
}

// records reads a WARC file of any program and checks the digests of its records.
func (c *waczCheck) records(f *zip.File, r io.Reader) error {
	if f.Method != zip.Store {
		c.problem(f.Name, "is compressed in the zip: readers look for records by their offset")
	}
	w, err := warc.NewForeign(r, 0, 1)
	if err != nil {
		return err
	}
	defer w.Close()
	for {
		h, err := w.Next()
		var bad *warc.Unreadable
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &bad):
			c.problem(f.Name, "%v", err)
		case err != nil:
			return err
		default:
			c.record(f.Name, w, h)
		}
	}
}

// record reads one record to its end and checks it.
func (c *waczCheck) record(name string, w *warc.Foreign, h *warc.ForeignRecord) {
	c.r.Records++
	if h.At.Inside == 0 {
		c.at[path.Base(name)+" "+strconv.FormatInt(h.At.Offset, 10)] = c.key(h.TargetURI, h.PayloadDigest)
	}
	sum := warc.NewLabelled(h.BlockDigest)
	_, err := io.Copy(sum, w)
	if err == nil {
		err = w.Finish()
	}
	switch {
	case err != nil:
		c.problem(name, "record at %v: %v", h.At, err)
	case !sum.Matches(h.BlockDigest):
		c.problem(name, "record at %v: block digest is %v, the record says %s", h.At, sum, h.BlockDigest)
	}
}

// index checks that the lines are sorted and that each leads to a record with its URL and
// digest.
func (c *waczCheck) index(f *zip.File, in io.Reader) (err error) {
	if strings.HasSuffix(f.Name, ".gz") {
		if in, err = gzip.NewReader(in); err != nil {
			return err
		}
	}
	s := bufio.NewScanner(in)
	s.Buffer(nil, 1<<20)
	var last []byte
	for s.Scan() {
		if line := s.Bytes(); !bytes.HasPrefix(line, []byte("!meta")) {
			c.r.Lines++
			c.line(f.Name, line, last)
			last = slices.Clone(line)
		}
	}
	return s.Err()
}

func (c *waczCheck) line(name string, line, last []byte) {
	n := c.r.Lines
	if bytes.Compare(line, last) < 0 {
		c.problem(name, "line %d is out of order", n)
	}
	var m cdxLine
	parts := bytes.SplitN(line, []byte(" "), 3)
	if len(parts) < 3 {
		c.problem(name, "line %d is no CDXJ", n)
		return
	}
	if err := json.Unmarshal(parts[2], &m); err != nil {
		c.problem(name, "line %d: %v", n, err)
		return
	}
	had, ok := c.at[path.Base(m.Filename)+" "+m.Offset]
	switch {
	case !ok:
		c.problem(name, "line %d: no record begins at %s of %s", n, m.Offset, m.Filename)
	case had != c.key(m.URL, m.Digest) && had != c.key(m.URL, ""):
		c.problem(name, "line %d: the record at %s of %s is another than %s with %s", n, m.Offset, m.Filename,
			m.URL, m.Digest)
	}
}
