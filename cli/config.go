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

	"curtsy/frontier/judge"
	"curtsy/internal/near"
)

// config is all that can be set, by a file, by CURTSY_… variables and, for
// the most used, by flags. config.example.yaml explains every key.
type config struct {
	Agent       string        `yaml:"agent"`
	Contact     string        `yaml:"contact"`
	Archive     string        `yaml:"archive"`
	Delay       time.Duration `yaml:"delay"`
	Concurrency int           `yaml:"concurrency"`
	Limits      limitsConfig  `yaml:"limits"`
	Scope       scopeConfig   `yaml:"scope"`
	Traps       trapsConfig   `yaml:"traps"`
	Politeness  politeConfig  `yaml:"politeness"`
	Fetch       fetchConfig   `yaml:"fetch"`
	Render      renderConfig  `yaml:"render"`
	Login       loginConfig   `yaml:"login" json:"-"`
	Storage     storageConfig `yaml:"storage"`

	LoggedIn string `yaml:"-" json:",omitempty"` // the kinds of login that the crawl has
}

type limitsConfig struct {
	MaxPages int           `yaml:"max_pages"`
	MaxBytes size          `yaml:"max_bytes"`
	MaxTime  time.Duration `yaml:"max_time"`
}

type scopeConfig struct {
	Include        []string `yaml:"include"`
	Exclude        []string `yaml:"exclude"`
	MaxDepth       int      `yaml:"max_depth"`
	Requisites     string   `yaml:"requisites"`
	Reach          string   `yaml:"reach"`
	FollowSeed     bool     `yaml:"follow_seed"`
	Aliases        []string `yaml:"aliases"`
	AllowHosts     []string `yaml:"allow_hosts"`
	SkipTypes      []string `yaml:"skip_types"`
	SkipAlternates bool     `yaml:"skip_alternates"`
	SkipLarger     size     `yaml:"skip_larger"`
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
	LimitRate     size          `yaml:"limit_rate"`
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
	Proxy          string            `yaml:"proxy"`
	CA             string            `yaml:"ca" json:"-"`
	Identity       string            `yaml:"identity" json:"-"`
	Cookies        cookieMode        `yaml:"cookies"`
	Language       string            `yaml:"language"`
	Header         map[string]string `yaml:"header"`
	Retries        int               `yaml:"retries"`
	RetryBase      time.Duration     `yaml:"retry_base"`
}

// renderConfig says which pages a browser renders. What the browser is comes
// from who runs the command, never from an archive, which may be a stranger's.
type renderConfig struct {
	Pages   string        `yaml:"pages"`
	Browser string        `yaml:"browser" json:"-"`
	Timeout time.Duration `yaml:"timeout"`

	MaxMemory size `yaml:"max_memory"`
}

type storageConfig struct {
	SegmentSize size   `yaml:"segment_size"`
	Prefix      string `yaml:"prefix"`
	MinFree     size   `yaml:"min_free"`
	Digest      string `yaml:"digest"`
}

// defaults are the values of keys that nobody sets.
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

// readEnv reads CURTSY_… variables over the values in c: the key a.b is
// CURTSY_A_B. lookup is os.LookupEnv, but in tests.
func readEnv(c *config, lookup func(string) (string, bool)) error {
	return eachKey(reflect.ValueOf(c).Elem(), "", func(key string, v reflect.Value) error {
		name := variable(key)
		s, ok := lookup(name)
		if !ok {
			return nil
		}
		if v.Kind() == reflect.Map {
			if s == "" {
				return nil
			}
			return usagef(key+" in a file given by --config, and unset "+name,
				"%s: %s can be set only in a configuration file", name, key)
		}
		if err := setValue(v, s); err != nil {
			return usagef("unset "+name, "%s=%s: %v", name, s, err)
		}
		return nil
	})
}

// variable is the name of a key's variable.
func variable(key string) string {
	return "CURTSY_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// unknownVariables says, by name, which variables of an environment look like
// settings and are none.
func unknownVariables(environ []string) map[string]string {
	wrong := map[string]string{}
	known := map[string]bool{failpointVariable: true}
	c := defaults()
	_ = eachKey(reflect.ValueOf(&c).Elem(), "", func(key string, _ reflect.Value) error {
		known[variable(key)] = true
		return nil
	})
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		rest, ok := strings.CutPrefix(name, "CURTSY_")
		if !ok || value == "" || known[name] || strings.HasPrefix(rest, "TEST_") {
			continue
		}
		wrong[name] = name + " is not a setting"
		names := slices.Sorted(maps.Keys(known))
		meant := near.Name(name, names)
		if i := slices.IndexFunc(names, func(k string) bool {
			return strings.HasSuffix(k,
				"_"+strings.ToUpper(rest))
		}); i >= 0 {
			meant = names[i]
		}
		if meant != "" {
			wrong[name] += "; is " + meant + " meant?"
		}
	}
	return wrong
}

// eachKey calls f for every key that holds a value.
func eachKey(v reflect.Value, prefix string, f func(key string, v reflect.Value) error) error {
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag.Get("yaml")
		if tag == "-" {
			continue
		}
		key := prefix + tag
		if field := v.Field(i); field.Kind() == reflect.Struct {
			if err := eachKey(field, key+".", f); err != nil {
				return err
			}
		} else if err := f(key, field); err != nil {
			return err
		}
	}
	return nil
}

var errForm = errors.New("wrong type for this key")

func setValue(v reflect.Value, s string) error {
	if t, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return t.UnmarshalText([]byte(s))
	}
	switch p := v.Addr().Interface().(type) {
	case *string:
		*p = s
	case *[]string: // a regular expression with a blank is for a flag or a file
		*p = strings.Fields(s)
	case *time.Duration:
		d, err := time.ParseDuration(s)
		*p = d
		return form(err, s, "a duration (write 1s, 500ms, 1h30m)")
	case *int:
		n, err := strconv.Atoi(s)
		*p = n
		return form(err, s, "a whole number")
	case *float64:
		n, err := strconv.ParseFloat(s, 64)
		*p = n
		return form(err, s, "a number")
	case *bool:
		b, err := strconv.ParseBool(s)
		*p = b
		return form(err, s, "true or false")
	default:
		return errForm
	}
	return nil
}

// form says what a value should have been.
func form(err error, s, want string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%q is not %s", s, want)
}

// cookieMode says when cookies are kept: "true", "false", or "auto", for a site that
// puts the ids of sessions into its links otherwise. In JSON the first two are
// booleans.
type cookieMode string

const autoCookies cookieMode = "auto"

// UnmarshalText reads the form of a file or a variable.
func (m *cookieMode) UnmarshalText(b []byte) error {
	if *m = cookieMode(b); *m == autoCookies {
		return nil
	}
	on, err := strconv.ParseBool(string(b))
	*m = cookieMode(strconv.FormatBool(on))
	return form(err, string(b), "auto, true or false")
}

// UnmarshalJSON reads what MarshalJSON wrote.
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

var sizeUnits = []struct {
	suffix string
	octets int64
}{{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"kb", 1000}, {"mb", 1000_000}, {"gb", 1000_000_000}, {"b", 1}}

// UnmarshalText reads a size.
func (z *size) UnmarshalText(b []byte) error {
	s, unit := strings.ToLower(strings.TrimSpace(string(b))), int64(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(s, u.suffix); ok {
			s, unit = strings.TrimSpace(rest), u.octets
			break
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > (1<<62)/unit {
		return fmt.Errorf("%q is not a size (write 500MB, 2GiB, or a number of bytes)", b)
	}
	*z = size(n * unit)
	return nil
}

// MarshalText writes what UnmarshalText reads.
func (z size) MarshalText() ([]byte, error) { return strconv.AppendInt(nil, int64(z), 10), nil }

// String, Set and Type make a size a flag.
func (z *size) String() string     { return strconv.FormatInt(int64(*z), 10) }
func (z *size) Set(s string) error { return z.UnmarshalText([]byte(s)) }
func (z *size) Type() string       { return "bytes" }
