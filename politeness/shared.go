package politeness

import (
	"fmt"
	"math"
	"time"

	"golang.org/x/time/rate"
)

// Shared is one pace that several hosts keep together, each beside its own: at
// most one request begins in so long, whichever of them it goes to. It is a
// token bucket of one token. Its clock is the hosts' own: the times they are
// given.
type Shared struct {
	limiter *rate.Limiter
	why     string
}

// NewShared makes a pace of one request in so long; 0 or less is no limit, and
// gives nil.
func NewShared(every time.Duration) *Shared {
	if every <= 0 {
		return nil
	}
	return &Shared{
		limiter: rate.NewLimiter(rate.Every(min(every, maxPause)), 1),
		why:     fmt.Sprintf("one request per %v to all of them together", every),
	}
}

// next is when a token is there, not before now. It takes none.
func (s *Shared) next(now time.Time) time.Time {
	missing := 1 - s.limiter.TokensAt(now)
	if missing <= 0 {
		return now
	}
	wait := math.Ceil(missing / float64(s.limiter.Limit()) * float64(time.Second))
	return now.Add(time.Duration(min(wait, float64(maxPause))))
}

// take takes a token, on credit where there is none.
func (s *Shared) take(now time.Time) { s.limiter.ReserveN(now, 1) }

// NewBandwidth makes a ceiling on the bytes a second of a whole crawl, over all its
// connections; 0 or less is none, and gives nil. Its burst is how many bytes may be
// read at once, so that one read makes no long wait.
func NewBandwidth(bytesPerSecond int64) *rate.Limiter {
	if bytesPerSecond <= 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(bytesPerSecond), int(min(max(bytesPerSecond/10, 1<<10), 1<<20)))
}
