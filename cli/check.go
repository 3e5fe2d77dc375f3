package cli

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/textproto"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"curtsy/crawler"
	"curtsy/crawler/fetch"
	"curtsy/storage"
)

// checkAmounts rejects negative values, which have no meaning for any key.
func checkAmounts(c *config, _ *crawler.Options) error {
	d := defaults()
	usual := d.keys()
	for i, k := range c.keys() {
		try := fmt.Sprintf("%s: %v", k.key, usual[i].value)
		if k.flag != "" {
			try = fmt.Sprintf("--%s %v", k.flag, usual[i].value)
		}
		switch v := k.value; {
		case v.CanInt() && v.Int() < 0:
			return usagef(try, "%s: %v is negative", k.key, v)
		case v.CanFloat() && (!(v.Float() >= 0) || math.IsInf(v.Float(), 0)):
			return usagef(try, "%s: %g is not a number of 0 or more", k.key, v.Float())
		}
	}
	return nil
}

// segmentPrefix matches valid prefixes of segment names: they cannot leave the directory on any
// system, and are not hidden.
var segmentPrefix = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$`)

func checkPrefix(c *config, _ *crawler.Options) error {
	if segmentPrefix.MatchString(c.Storage.Prefix) {
		return nil
	}
	return usagef("storage.prefix: curtsy",
		"storage.prefix: %q cannot start a file name: use up to 100 letters, digits, . - and _, with no leading dot",
		c.Storage.Prefix)
}

// Values of storage.digest.
const (
	digestSHA256 = "sha256"
	digestSHA1   = "sha1"
)

// digestOption sets the label of the digests in records.
func digestOption(c *config, o *crawler.Options) error {
	switch c.Storage.Digest {
	case digestSHA256, "": // "": an archive older than the setting
		return nil
	case digestSHA1:
		o.Archive.Label = storage.LabelSHA1
		return nil
	}
	return usagef("--digest sha256, or --digest sha1", "storage.digest: %q is not sha256 or sha1", c.Storage.Digest)
}

// ownWays are the settings for header fields that must not be set in fetch.header.
var ownWays = map[string]string{
	"User-Agent":    "--agent TOKEN --contact you@example.org",
	"Cookie":        "--cookies FILE, or fetch.cookies: true",
	"Authorization": "--basic FILE, or --bearer FILE",
}

// checkHeader rejects header fields that could not be sent as given.
func checkHeader(header map[string]string) error {
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		key := textproto.CanonicalMIMEHeaderKey(name)
		try := cmp.Or(ownWays[key], "fetch.header: {Accept-Language: de}")
		why := fieldTrouble(key, header[name])
		if why == "" && seen[key] {
			why = "is given twice"
		}
		seen[key] = true
		if why != "" {
			return usagef(try, "fetch.header: %q %s", name, why)
		}
	}
	return nil
}

// fieldTrouble returns what is wrong with a field; "" if nothing is.
func fieldTrouble(key, value string) string {
	switch {
	case !httpguts.ValidHeaderFieldName(key):
		return "is not a valid header field name"
	case strings.ContainsAny(value, "\r\n"):
		return "has a line break in its value"
	case !httpguts.ValidHeaderFieldValue(value):
		return "has a control character in its value"
	case key == "User-Agent":
		return "is built from agent and contact, and cannot be set"
	}
	return fetch.Unsettable(key)
}
