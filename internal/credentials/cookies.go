// Package credentials reads the files in which people keep the credentials for sites:
// cookies.txt and .netrc. Error messages give line numbers but never contents.
package credentials

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Cookies reads a cookies.txt in Netscape format, as written by curl, wget and browser
// extensions, and returns the cookies for a host that have not expired. others and expired
// count those left out.
func Cookies(r io.Reader, host string, now time.Time) (list []*http.Cookie, others, expired int, err error) {
	s := bufio.NewScanner(r)
	for n := 1; s.Scan(); n++ {
		line, hidden := strings.CutPrefix(s.Text(), "#HttpOnly_")
		if line = strings.TrimRight(line, "\r"); strings.TrimSpace(line) == "" || !hidden &&
			strings.HasPrefix(line, "#") {
			continue
		}
		c, ends, ok := cookie(strings.Split(line, "\t"), host)
		switch {
		case !ok:
			return nil, 0, 0, fmt.Errorf("line %d does not have seven tab-separated fields "+
				"(domain, subdomains, path, secure, expires, name, value)", n)
		case c == nil:
			others++
		case ends != 0 && !time.Unix(ends, 0).After(now):
			expired++
		default:
			list = append(list, c)
		}
	}
	return list, others, expired, s.Err()
}

// cookie parses the fields of a line: domain, include subdomains, path, secure, expiry, name
// and value. It returns nil if the cookie is for another host.
func cookie(f []string, host string) (c *http.Cookie, ends int64, ok bool) {
	if len(f) == 6 {
		f = append(f, "") // an empty value whose tab was removed by an editor
	}
	if len(f) != 7 || f[5] == "" {
		return nil, 0, false
	}
	ends, err := strconv.ParseInt(f[4], 10, 64)
	if err != nil {
		return nil, 0, false
	}
	domain := strings.ToLower(strings.TrimPrefix(f[0], "."))
	below := strings.EqualFold(f[1], "TRUE") || strings.HasPrefix(f[0], ".")
	if domain != host && !(below && strings.HasSuffix(host, "."+domain)) {
		return nil, 0, true
	}
	// A host-only cookie, even if the original was for subdomains too.
	return &http.Cookie{Path: f[2], Secure: strings.EqualFold(f[3], "TRUE"), Name: f[5], Value: f[6]}, ends, true
}
