package politeness

import (
	"fmt"
	"math"
	"time"

	"golang.org/x/time/rate"
)

// Shared is a pace that several hosts share, each besides its own: at most one request to any of them
// per interval. It is a token bucket with one token. Its clock are the times that the hosts pass.
type Shared struct {
	limiter *rate.Limiter
	why     string
}

// NewShared makes a pace of one request per interval; nil, which is no limit, if every is 0 or less.
func NewShared(every time.Duration) *Shared {
	if every <= 0 {
		return nil
	}
	return &Shared{
		limiter: rate.NewLimiter(rate.Every(min(every, maxPause)), 1),
		why:     fmt.Sprintf("one request per %v to all of them together", every),
	}
}

// next returns when a token is available, not before now. It takes none.
func (s *Shared) next(now time.Time) time.Time {
	missing := 1 - s.limiter.TokensAt(now)
	if missing <= 0 {
		return now
	}
	wait := math.Ceil(missing / float64(s.limiter.Limit()) * float64(time.Second))
	return now.Add(time.Duration(min(wait, float64(maxPause))))
}

// take takes a token, on credit if there is none.
func (s *Shared) take(now time.Time) { s.limiter.ReserveN(now, 1) }

// NewBandwidth makes a limit in bytes per second for all connections of a crawl together; nil, which is no
// limit, for 0 or less. Its burst, a tenth of a second's bytes within bounds, is the most that one read
// returns, so that no read causes a long wait.
func NewBandwidth(bytesPerSecond int64) *rate.Limiter {
	if bytesPerSecond <= 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(bytesPerSecond), int(min(max(bytesPerSecond/10, 1<<10), 1<<20)))
}
