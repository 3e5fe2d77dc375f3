package rules

import (
	"fmt"
	"slices"
	"time"
)

// Dialect is the standard by which a robots.txt is interpreted.
type Dialect int

// The dialects. The zero value is the default.
const (
	RFC9309     Dialect = iota // RFC 9309 with Google's leniency and the common extensions
	Yandex                     // as documented by Yandex
	Classic1994                // "A Standard for Robot Exclusion", 1994
)

// dialects are their names in a configuration.
var dialects = []string{RFC9309: "rfc9309", Yandex: "yandex", Classic1994: "1994"}

// ParseDialect parses the name of a dialect in a configuration.
func ParseDialect(s string) (Dialect, error) {
	if i := slices.Index(dialects, s); i >= 0 {
		return Dialect(i), nil
	}
	return RFC9309, fmt.Errorf("unknown dialect %q (rfc9309, yandex or 1994)", s)
}

// String returns the dialect's name in a configuration.
func (d Dialect) String() string { return dialects[d] }

// MaxAge returns how long a fetched robots.txt may be used: 24 hours (RFC 9309 §2.4); in 1994 it was seven
// days.
func (d Dialect) MaxAge() time.Duration {
	if d == Classic1994 {
		return 7 * 24 * time.Hour
	}
	return 24 * time.Hour
}

// maxBytes is how much of a file is parsed: RFC 9309 §2.5 requires at least 500 KiB. For Yandex a file over
// maxYandexBytes allows everything (see Parse).
const maxBytes = 500 << 10
const maxYandexBytes = 32 << 10

// Options say for whom, and by which dialect, to interpret the file.
type Options struct {
	// Agents are the product tokens, in order of preference. The groups of the first one that is
	// named in the file apply; if none is named, those of "*".
	Agents []string
	// Dialect is the standard to apply; zero is RFC 9309.
	Dialect Dialect
	// MaxCrawlDelay caps Crawl-delay; 0 is no cap.
	MaxCrawlDelay time.Duration
}
