package rules

import (
	"fmt"
	"time"
)

// Dialect is the standard that a robots.txt is read by.
type Dialect int

// The dialects. The zero value is the default one.
const (
	RFC9309     Dialect = iota // RFC 9309, Google's leniency, the common extensions
	Yandex                     // as Yandex documents its robots
	Classic1994                // "A Standard for Robot Exclusion", 1994
)

// ParseDialect reads the name of a dialect as configuration has it.
func ParseDialect(s string) (Dialect, error) {
	for _, d := range []Dialect{RFC9309, Yandex, Classic1994} {
		if s == d.String() {
			return d, nil
		}
	}
	return RFC9309, fmt.Errorf("unknown dialect %q (rfc9309, yandex or 1994)", s)
}

// String is the dialect's name in configuration.
func (d Dialect) String() string {
	switch d {
	case Yandex:
		return "yandex"
	case Classic1994:
		return "1994"
	}
	return "rfc9309"
}

// MaxAge is how long a fetched robots.txt may be used: 24 hours (RFC 9309
// §2.4); robots of 1994 kept it for seven days.
func (d Dialect) MaxAge() time.Duration {
	if d == Classic1994 {
		return 7 * 24 * time.Hour
	}
	return 24 * time.Hour
}

// maxBytes is how much of a file is read: RFC 9309 §2.5 asks for at least
// 500 KiB. A file over Yandex's 32 KiB is no robots.txt to it (see Parse).
const maxBytes = 500 << 10
const maxYandexBytes = 32 << 10

// Options say who reads and how.
type Options struct {
	// Agents are the product tokens to read for, the most wanted first. The first one
	// that any group names chooses; if none is named, the groups of "*" do.
	Agents []string
	// Dialect is the standard to read by; zero is RFC 9309.
	Dialect Dialect
	// MaxCrawlDelay caps Crawl-delay; 0 is no cap.
	MaxCrawlDelay time.Duration
}
