package export

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/storage/crawllog"
)

// cdxLine is the JSON block of a CDXJ line, with pywb's fields.
type cdxLine struct {
	URL      string `json:"url"`
	MIME     string `json:"mime"`
	Status   string `json:"status"`
	Digest   string `json:"digest"`
	Length   string `json:"length"` // of the gzip member at Offset
	Offset   string `json:"offset"`
	Filename string `json:"filename"`
}

// cdxLineOf returns the CDXJ line of a capture whose record is at an offset of a file.
func cdxLineOf(m *member, file string, offset int64) ([]byte, error) {
	text, err := jsonLine(cdxLine{
		URL: m.v.URL, MIME: mimeOf(m.v), Status: strconv.Itoa(m.v.Status), Digest: m.head.PayloadDigest,
		Length: strconv.FormatInt(m.first, 10), Offset: strconv.FormatInt(offset, 10), Filename: file,
	})
	return fmt.Appendf(nil, "%s %s %s", key(m.v.URL), m.head.Date.UTC().Format("20060102150405"), text), err
}

// key returns the SURT of a URL in the archive.
func key(url string) string {
	if u := weburl.FromCanonical(url); !u.IsZero() {
		return u.SURT()
	}
	return url
}

// mimeOf returns the media type as CDX indexes have it, which is warc/revisit for a revisit.
func mimeOf(v *crawllog.Visit) string {
	if v.Kept == crawllog.KeptRevisit || v.Kept == crawllog.KeptElsewhere {
		return "warc/revisit"
	}
	t, _, _ := strings.Cut(v.ContentType, ";")
	return cmp.Or(strings.TrimSpace(t), "unk")
}

// jsonLine encodes v as JSON on one line, without escaping <, > and &.
func jsonLine(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return legible.JSON(b.Bytes()), err
}
