package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"curtsy/fleet"
)

// siteKeys are the keys that a site's configuration may set. People who add sites do not
// control the workers, so no key names a program, file, variable, authority, proxy or path.
var siteKeys = []string{"agent", "contact", "delay", "concurrency", "render.pages", "render.timeout",
	"fetch.connect_timeout", "fetch.head_timeout", "fetch.idle_timeout", "fetch.total_timeout", "fetch.max_body",
	"fetch.cookies", "fetch.retries", "fetch.retry_base"}

// siteKey rejects a key that a site's configuration may not set.
func siteKey(key string) error {
	section, _, _ := strings.Cut(key, ".")
	switch section {
	case "limits", "scope", "traps", "politeness":
		return nil
	case "login":
		return errors.New("a login cannot be part of a site of a fleet: " +
			"whoever runs the workers gives it with fleet serve --credentials")
	}
	if slices.Contains(siteKeys, key) {
		return nil
	}
	return errors.New("cannot be set for a site of a fleet: " +
		"a site sets its pace, scope, limits, traps and which pages are rendered")
}

// logins are the credentials of a worker's operator, by host. They are selected by a site's
// seed; a site's configuration cannot select them.
type logins map[string]hostCredentials

type hostCredentials struct {
	Cookies string `yaml:"cookies"`
	Basic   string `yaml:"basic"`
	Bearer  string `yaml:"bearer"`
	Cert    string `yaml:"cert"`
	Key     string `yaml:"key"`
	CA      string `yaml:"ca"`
}

// readCredentials reads a file of logins; none for "".
func readCredentials(path string) (all logins, err error) {
	if path == "" {
		return nil, nil
	}
	const try = "hosts, and under each of them cookies, basic, bearer, cert, key or ca"
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, usagef("--credentials with a readable file", "%v", err)
	}
	if t := tooDeep(b); t != nil {
		return nil, usagef(try, "credentials %s:%d: more than %d levels deep", path, t.Position.Line, maxLevels)
	}
	if err := yaml.UnmarshalWithOptions(b, &all, yaml.Strict()); err != nil {
		return nil, usagef(try, "credentials %s: %s", path, oneLine(err.Error()))
	}
	return all, nil
}

// login sets the credentials for a host; none for an unlisted host.
func (all logins) login(c *config, host string) {
	h := all[host]
	c.Login = loginConfig{Cookies: h.Cookies, Basic: h.Basic, Bearer: h.Bearer, Cert: h.Cert, Key: h.Key}
	c.Fetch.CA = h.CA
}

// siteConfig returns the configuration of a site, which cannot have keys reserved for the
// operator.
func siteConfig(s *fleet.Site) (config, error) {
	c := defaults()
	if err := decodeAllowed(&c, s.Config, siteKey); err != nil {
		return c, fmt.Errorf("settings of %s: %w", s.Name, atLine(err))
	}
	return c, nil
}

// setKey sets the key section.key of a site's configuration, or removes it.
func setKey(text []byte, key, value string) ([]byte, error) {
	if err := siteKey(key); err != nil {
		return nil, err
	}
	var all map[string]any
	if err := yaml.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	if all == nil {
		all = map[string]any{}
	}
	at, name := all, key
	if section, rest, ok := strings.Cut(key, "."); ok {
		below, _ := all[section].(map[string]any)
		if below == nil {
			below = map[string]any{}
			all[section] = below
		}
		at, name = below, rest
	}
	delete(at, name)
	if value != "" {
		var v any
		if err := yaml.Unmarshal([]byte(value), &v); err != nil {
			return nil, err
		}
		at[name] = v
	}
	return yaml.Marshal(all)
}
