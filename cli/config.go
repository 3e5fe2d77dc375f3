package cli

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"curtsy/frontier/judge"
	"curtsy/internal/near"
)

// config has all settings: of a file, of CURTSY_… variables and, for the most common, of flags.
// config.example.yaml explains every key.
type config struct {
	Agent       string        `yaml:"agent" flag:"agent"`
	Contact     string        `yaml:"contact" flag:"contact"`
	Archive     string        `yaml:"archive"`
	Delay       time.Duration `yaml:"delay" flag:"delay"`
	Concurrency int           `yaml:"concurrency" flag:"concurrency"`
	Limits      limitsConfig  `yaml:"limits"`
	Scope       scopeConfig   `yaml:"scope"`
	Traps       trapsConfig   `yaml:"traps"`
	Politeness  politeConfig  `yaml:"politeness"`
	Fetch       fetchConfig   `yaml:"fetch"`
	Render      renderConfig  `yaml:"render"`
	Login       loginConfig   `yaml:"login" json:"-"`
	Storage     storageConfig `yaml:"storage"`

	LoggedIn string   `yaml:"-" json:",omitempty"` // the kinds of login of the crawl
	Signed   bool     `yaml:"-" json:",omitempty"` // the crawl had an --identity
	Known    []string `yaml:"-" json:",omitempty"` // absolute paths of indexes of other archives
}

type limitsConfig struct {
	MaxPages int           `yaml:"max_pages" flag:"max-pages"`
	MaxBytes size          `yaml:"max_bytes" flag:"max-bytes"`
	MaxTime  time.Duration `yaml:"max_time" flag:"max-time"`
}

type scopeConfig struct {
	Include        []string `yaml:"include" flag:"include"`
	Exclude        []string `yaml:"exclude" flag:"exclude"`
	MaxDepth       int      `yaml:"max_depth" flag:"max-depth"`
	Requisites     string   `yaml:"requisites" flag:"requisites"`
	Reach          string   `yaml:"reach" flag:"scope"`
	FollowSeed     bool     `yaml:"follow_seed" flag:"follow-seed"`
	Aliases        []string `yaml:"aliases" flag:"alias"`
	AllowHosts     []string `yaml:"allow_hosts" flag:"allow-host"`
	SkipTypes      []string `yaml:"skip_types" flag:"skip-type"`
	SkipAlternates bool     `yaml:"skip_alternates" flag:"skip-alternates"`
	SkipLarger     size     `yaml:"skip_larger" flag:"skip-larger"`
}

type trapsConfig struct {
	PathDepth     int  `yaml:"path_depth"`
	Repeats       int  `yaml:"repeats"`
	Length        int  `yaml:"length"`
	Ahead         int  `yaml:"months_ahead"`
	QueryVariants int  `yaml:"query_variants"`
	Facets        int  `yaml:"facets"`
	Versions      int  `yaml:"versions"`
	Archives      int  `yaml:"archives"`
	Products      int  `yaml:"products"`
	Discovered    int  `yaml:"discovered"`
	Calendar      int  `yaml:"calendar"`
	Pattern       int  `yaml:"pattern"`
	Twins         bool `yaml:"twins"`
	SameBody      int  `yaml:"same_body"`
	SoftNotFound  int  `yaml:"soft_404"`
}

type politeConfig struct {
	Dialect       string        `yaml:"dialect"`
	Agents        []string      `yaml:"agents"`
	Adaptive      float64       `yaml:"adaptive"`
	MaxCrawlDelay time.Duration `yaml:"max_crawl_delay"`
	MaxRetryAfter time.Duration `yaml:"max_retry_after"`
	MaxSlowdown   time.Duration `yaml:"max_slowdown"`
	MaxFailures   int           `yaml:"max_failures"`
	Quiet         []string      `yaml:"quiet"`
	RelNofollow   bool          `yaml:"rel_nofollow"`
	LimitRate     size          `yaml:"limit_rate" flag:"limit-rate"`
	RobotsMaxAge  time.Duration `yaml:"robots_max_age"`
	GuessSitemap  bool          `yaml:"guess_sitemap"`
	UsageFiles    bool          `yaml:"usage_files"`
	SitemapHosts  int           `yaml:"sitemap_hosts"`
}

type fetchConfig struct {
	ConnectTimeout time.Duration     `yaml:"connect_timeout"`
	HeadTimeout    time.Duration     `yaml:"head_timeout"`
	IdleTimeout    time.Duration     `yaml:"idle_timeout"`
	TotalTimeout   time.Duration     `yaml:"total_timeout"`
	MaxBody        size              `yaml:"max_body"`
	Proxy          string            `yaml:"proxy" flag:"proxy"`
	CA             string            `yaml:"ca" flag:"ca" json:"-"`
	Identity       string            `yaml:"identity" flag:"identity" json:"-"`
	Cookies        cookieMode        `yaml:"cookies"`
	Language       string            `yaml:"language" flag:"language"`
	Header         map[string]string `yaml:"header"`
	Retries        int               `yaml:"retries" flag:"retries"`
	RetryBase      time.Duration     `yaml:"retry_base"`
}

// renderConfig says which pages a browser renders. The path of the browser comes only from the
// person who runs the command, never from an archive, which may come from somebody else.
type renderConfig struct {
	Pages   string        `yaml:"pages" flag:"render"`
	Browser string        `yaml:"browser" flag:"browser" json:"-"`
	Timeout time.Duration `yaml:"timeout"`

	MaxMemory size `yaml:"max_memory"`
}

type storageConfig struct {
	SegmentSize size   `yaml:"segment_size"`
	Prefix      string `yaml:"prefix"`
	MinFree     size   `yaml:"min_free"`
	Digest      string `yaml:"digest" flag:"digest"`
}

// defaults returns the default settings.
func defaults() config {
	return config{
		Agent: "curtsy", Delay: time.Second, Concurrency: 1,
		Scope: scopeConfig{Requisites: "same-host", Reach: "host"},
		Traps: trapsConfig(judge.DefaultTraps()),
		Politeness: politeConfig{Dialect: "rfc9309", Adaptive: 2, MaxRetryAfter: time.Hour,
			MaxSlowdown: time.Minute, GuessSitemap: true, UsageFiles: true, SitemapHosts: 5, MaxFailures: 10,
			RelNofollow: true},
		Fetch: fetchConfig{ConnectTimeout: 20 * time.Second, HeadTimeout: time.Minute, IdleTimeout: 30 * time.Second,
			TotalTimeout: 20 * time.Minute, MaxBody: 1 << 30, Cookies: autoCookies, Retries: 3,
			RetryBase: 5 * time.Second},
		Render:  renderConfig{Pages: "none", Timeout: 30 * time.Second, MaxMemory: 1 << 30},
		Storage: storageConfig{SegmentSize: 1 << 30, Prefix: "curtsy", MinFree: 100 << 20, Digest: digestSHA256},
	}
}

// setting is a key of the configuration with its value.
type setting struct {
	key, flag string // flag of crawl; "" if there is none
	value     reflect.Value
}

// keys lists all settings.
func (c *config) keys() []setting { return settingsOf(reflect.ValueOf(c).Elem(), "") }

func settingsOf(v reflect.Value, prefix string) (list []setting) {
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		key := prefix + tag.Get("yaml")
		switch field := v.Field(i); {
		case tag.Get("yaml") == "-":
		case field.Kind() == reflect.Struct:
			list = append(list, settingsOf(field, key+".")...)
		default:
			list = append(list, setting{key, tag.Get("flag"), field})
		}
	}
	return list
}

// register registers the flags of the keys that have one.
func (c *config) register(fl *pflag.FlagSet) {
	for _, k := range c.keys() {
		if k.flag != "" {
			flags(fl, vars{k.flag: k.value.Addr().Interface()})
		}
	}
}

// readEnv applies CURTSY_… variables to c: the key a.b is CURTSY_A_B. lookup is os.LookupEnv
// except in tests.
func readEnv(c *config, lookup func(string) (string, bool)) error {
	for _, k := range c.keys() {
		name := variable(k.key)
		s, ok := lookup(name)
		switch {
		case !ok:
		case k.value.Kind() == reflect.Map && s == "":
		case k.value.Kind() == reflect.Map:
			return usagef(k.key+" in a file given by --config, and unset "+name,
				"%s: %s can be set only in a configuration file", name, k.key)
		default:
			if err := setValue(k.value, s); err != nil {
				return usagef("unset "+name, "%s=%s: %v", name, s, err)
			}
		}
	}
	return nil
}

// variable returns the name of a key's variable.
func variable(key string) string {
	return "CURTSY_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// unknownVariables describes, by name, the environment variables that look like settings but
// are not.
func unknownVariables(environ []string) map[string]string {
	wrong := map[string]string{}
	known := map[string]bool{failpointVariable: true}
	c := defaults()
	for _, k := range c.keys() {
		known[variable(k.key)] = true
	}
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		rest, ok := strings.CutPrefix(name, "CURTSY_")
		if !ok || value == "" || known[name] || strings.HasPrefix(rest, "TEST_") {
			continue
		}
		wrong[name] = name + " is not a setting"
		names := slices.Sorted(maps.Keys(known))
		meant := near.Name(name, names)
		isEnd := func(k string) bool { return strings.HasSuffix(k, "_"+strings.ToUpper(rest)) }
		if i := slices.IndexFunc(names, isEnd); i >= 0 {
			meant = names[i]
		}
		if meant != "" {
			wrong[name] += "; is " + meant + " meant?"
		}
	}
	return wrong
}

var errForm = errors.New("wrong type for this key")

func setValue(v reflect.Value, s string) error {
	if t, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return t.UnmarshalText([]byte(s))
	}
	switch p := v.Addr().Interface().(type) {
	case *string:
		*p = s
	case *[]string: // a regular expression with a blank can only be set by a flag or file
		*p = strings.Fields(s)
	case *time.Duration:
		return parse(p, s, time.ParseDuration, "a duration (write 1s, 500ms, 1h30m)")
	case *int:
		return parse(p, s, strconv.Atoi, "a whole number")
	case *float64:
		return parse(p, s, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }, "a number")
	case *bool:
		return parse(p, s, strconv.ParseBool, "true or false")
	default:
		return errForm
	}
	return nil
}

// parse parses a value. The error says what it should have been.
func parse[T any](p *T, s string, by func(string) (T, error), want string) (err error) {
	if *p, err = by(s); err != nil {
		return fmt.Errorf("%q is not %s", s, want)
	}
	return nil
}

// cookieMode says when cookies are kept: "true", "false", or "auto", only for sites that
// otherwise put session ids into links. In JSON, the first two are booleans.
type cookieMode string

const autoCookies cookieMode = "auto"

// UnmarshalText parses the form used in files and variables.
func (m *cookieMode) UnmarshalText(b []byte) error {
	if *m = cookieMode(b); *m == autoCookies {
		return nil
	}
	var on bool
	err := parse(&on, string(b), strconv.ParseBool, "auto, true or false")
	*m = cookieMode(strconv.FormatBool(on))
	return err
}

// UnmarshalJSON parses the output of MarshalJSON.
func (m *cookieMode) UnmarshalJSON(b []byte) error { return m.UnmarshalText(bytes.Trim(b, `"`)) }

// MarshalJSON writes true, false or "auto".
func (m cookieMode) MarshalJSON() ([]byte, error) {
	if m == autoCookies {
		return []byte(`"auto"`), nil
	}
	return strconv.AppendBool(nil, m == "true"), nil
}

// size is a number of octets: "1073741824", "1GiB", "20 MB".
type size int64

// UnmarshalText reads a size.
func (z *size) UnmarshalText(b []byte) error {
	n, err := humanize.ParseBytes(string(b))
	if err != nil || n > 1<<62 {
		return fmt.Errorf("%q is not a size (write 500MB, 2GiB, or a number of bytes)", b)
	}
	*z = size(n)
	return nil
}

// MarshalText writes the number of octets.
func (z size) MarshalText() ([]byte, error) { return strconv.AppendInt(nil, int64(z), 10), nil }

// String, Set and Type implement pflag.Value.
func (z *size) String() string     { return strconv.FormatInt(int64(*z), 10) }
func (z *size) Set(s string) error { return z.UnmarshalText([]byte(s)) }
func (z *size) Type() string       { return "bytes" }
