package cli

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"curtsy/crawler"
	"curtsy/crawler/fetch"
	"curtsy/internal/credentials"
	"curtsy/internal/weburl"
)

// loginConfig says where the credentials for the seed's origin are. They are read when a crawl
// starts and never stored; their places are not stored either, since an archive from somebody
// else could name any file of this machine.
type loginConfig struct {
	Cookies string `yaml:"cookies" flag:"cookies"`
	Netrc   bool   `yaml:"netrc" flag:"netrc"`
	Basic   string `yaml:"basic" flag:"basic"`
	Bearer  string `yaml:"bearer" flag:"bearer"`
	Cert    string `yaml:"cert" flag:"cert"`
	Key     string `yaml:"key" flag:"key"`

	Header http.Header `yaml:"-"` // fields of fetch.header and --header with credentials
}

// takeSecrets moves the fields of fetch.header that hold credentials, judging by their names,
// to the login. All other fields are sent to every host and stored.
func (c *config) takeSecrets() {
	list := secretNames(c.Fetch.Header)
	if len(list) == 0 {
		return
	}
	c.Fetch.Header, c.Login.Header = maps.Clone(c.Fetch.Header), http.Header{}
	for _, name := range list {
		c.Login.Header.Set(name, c.Fetch.Header[name])
		delete(c.Fetch.Header, name)
	}
}

// secretNames returns the names of valid fields that hold credentials.
func secretNames(header map[string]string) (list []string) {
	for name, value := range header {
		if fieldTrouble(textproto.CanonicalMIMEHeaderKey(name), value) == "" && fetch.Secret(name) {
			list = append(list, name)
		}
	}
	return list
}

// kinds names the kinds of login that are set; "" if none is.
func (l *loginConfig) kinds() string {
	var list []string
	for name, set := range map[string]bool{"cookies": l.Cookies != "", "netrc": l.Netrc, "basic": l.Basic != "",
		"bearer": l.Bearer != "", "cert": l.Cert != ""} {
		if set {
			list = append(list, "--"+name)
		}
	}
	for name := range l.Header {
		list = append(list, "--header "+name)
	}
	return strings.Join(slices.Sorted(slices.Values(list)), ", ")
}

// checkLogin rejects continuing a crawl without the login or the identity that it had, since its pages would
// differ.
func (f *crawlFlags) checkLogin(archived, c *config, command string) error {
	now := c.Login.kinds()
	if had := archived.LoggedIn; had != "" && now == "" && !f.noLogin {
		return usagef(command+" with it, or with --no-login",
			"%s: this crawl was logged in (%s), and a login is never stored: give it again", c.Archive, had)
	}
	if archived.Signed && c.Fetch.Identity == "" && !f.noLogin {
		return usagef(command+" --identity FILE, or with --no-login",
			"%s: this crawl signed its requests, and the key is never stored: give it again", c.Archive)
	}
	c.LoggedIn, c.Signed = now, c.Fetch.Identity != ""
	return nil
}

// sameLogin is checkLogin for an archive that may exist.
func (f *crawlFlags) sameLogin(c *config, seed weburl.URL) error {
	_, archived, err := remembered(c.Archive)
	if err != nil {
		archived = config{} // there is none, or the crawl will report the error
	}
	return f.checkLogin(&archived, c, "curtsy crawl "+quoted(seed.String()))
}

// loginOptions reads the credentials and the certificate authorities.
func loginOptions(c *config, o *crawler.Options) (err error) {
	if o.Fetch.RootCAs, err = authorities(c.Fetch.CA); err != nil {
		return err
	}
	if c.Fetch.Identity != "" {
		i, err := readIdentity(c.Fetch.Identity)
		if err != nil {
			return err
		}
		o.Fetch.Sign = i.Sign
	}
	kinds := c.Login.kinds()
	if kinds == "" {
		if c.Login.Key != "" {
			return usagef("--cert FILE --key FILE", "--key without --cert")
		}
		return nil
	}
	if o.Seed.Scheme() != "https" && !isLoopback(o.Seed) {
		return usagef("the same with https://"+o.Seed.Host(), "%s: a login (%s) is sent over https only", o.Seed, kinds)
	}
	l := &fetch.Login{Origin: o.Seed.Origin(), Header: c.Login.Header}
	for _, step := range []func(*config, weburl.URL, *fetch.Login) error{loginCookies, loginAuthorization,
		loginCertificate} {
		if err := step(c, o.Seed, l); err != nil {
			return err
		}
	}
	o.Fetch.Login = l
	o.Scope.Exclude = append(slices.Clone(o.Scope.Exclude), logout)
	return nil
}

// logout matches links that end a login.
var logout = regexp.MustCompile(`(?i)[/?&=:_-](user)?(log|sign)[-_]?(out|off)([/?&=#.]|$)`)

func loginCookies(c *config, seed weburl.URL, l *fetch.Login) error {
	if c.Login.Cookies == "" {
		return nil
	}
	f, err := os.Open(c.Login.Cookies)
	if err != nil {
		return usagef("--cookies with a readable file", "cookies: %v", err)
	}
	defer f.Close()
	list, others, expired, err := credentials.Cookies(f, bareHost(seed), time.Now())
	if err != nil {
		return usagef("a cookies.txt as exported from a browser or written by curl -c", "cookies: %s: %v",
			c.Login.Cookies, err)
	}
	if len(list) == 0 {
		return usagef("cookies exported while logged in to "+seed.Host(),
			"cookies: %s has none for %s (%d for other hosts, %d expired)",
			c.Login.Cookies, seed.Host(), others, expired)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	for _, k := range list {
		l.Names = append(l.Names, k.Name)
	}
	jar.SetCookies(&url.URL{Scheme: "https", Host: seed.Host(), Path: "/"}, list)
	l.Cookies = jar
	return nil
}

func loginAuthorization(c *config, seed weburl.URL, l *fetch.Login) error {
	set := &c.Login
	switch {
	case set.Netrc && set.Basic+set.Bearer != "", set.Basic != "" && set.Bearer != "":
		return usagef("one of them", "--netrc, --basic and --bearer are mutually exclusive")
	case set.Netrc:
		pair, err := fromNetrc(bareHost(seed))
		if err != nil {
			return err
		}
		l.Authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(pair))
	case set.Basic != "":
		pair, err := secretFrom("basic", set.Basic)
		if err != nil {
			return err
		}
		if !strings.Contains(pair, ":") {
			return usagef("name:password on the first line", "--basic %s: no colon between name and password",
				set.Basic)
		}
		l.Authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(pair))
	case set.Bearer != "":
		token, err := secretFrom("bearer", set.Bearer)
		if err != nil {
			return err
		}
		if !httpguts.ValidHeaderFieldValue(token) || strings.ContainsAny(token, " \t") {
			return usagef("the token alone on the first line", "--bearer %s: not a token", set.Bearer)
		}
		l.Authorization = "Bearer " + token
	}
	return nil
}

// secretFrom reads the first line of a file, or of a variable given as env:NAME. Secrets must
// not be on the command line, which other users can see.
func secretFrom(flag, place string) (string, error) {
	text, try := "", "--"+flag+" FILE, or --"+flag+" env:NAME"
	if name, ok := strings.CutPrefix(place, "env:"); ok {
		text = os.Getenv(name)
	} else if b, err := os.ReadFile(place); err == nil {
		text = string(b)
	} else if strings.Contains(place, ":") { // perhaps the secret itself
		return "", usagef(try, "--%s needs the name of a file or a variable", flag)
	} else {
		return "", usagef(try, "%s: %v", flag, err)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if line = strings.TrimSpace(line); line == "" {
		return "", usagef(try, "--%s %s: is empty", flag, place)
	}
	return line, nil
}

// fromNetrc returns name:password for a host.
func fromNetrc(host string) (string, error) {
	path := os.Getenv("NETRC")
	if home, err := os.UserHomeDir(); path == "" && err == nil {
		path = filepath.Join(home, ".netrc")
	}
	try := "machine " + host + " login NAME password WORD, in " + path
	f, err := os.Open(path)
	if err != nil {
		return "", usagef(try, "netrc: %v", err)
	}
	defer f.Close()
	name, password, err := credentials.Netrc(f, host)
	if err != nil {
		return "", usagef(try, "%s: %v", path, err)
	}
	return name + ":" + password, nil
}

func loginCertificate(c *config, _ weburl.URL, l *fetch.Login) error {
	if c.Login.Cert == "" {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(c.Login.Cert, cmp.Or(c.Login.Key, c.Login.Cert))
	if err != nil {
		return usagef("--cert FILE --key FILE, both PEM", "certificate: %v", err)
	}
	l.Certificates = []tls.Certificate{pair}
	return nil
}

// authorities returns the system's authorities and those of a file; nil for the system's only.
func authorities(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, usagef("--ca with a readable file", "ca: %v", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil && !errors.Is(err, fs.ErrNotExist) || pool == nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(b) {
		return nil, usagef("--ca with a file in PEM form", "ca: %s contains no certificate", path)
	}
	return pool, nil
}

// bareHost returns the host name without brackets, as in login files.
func bareHost(u weburl.URL) string { return strings.Trim(u.Hostname(), "[]") }
