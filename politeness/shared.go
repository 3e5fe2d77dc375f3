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

// Bandwidth is a ceiling on the bytes a second of a whole crawl, over all its
// connections. It is safe for concurrent use.
type Bandwidth struct{ limiter *rate.Limiter }

// NewBandwidth makes a ceiling; 0 or less is none, and gives nil.
func NewBandwidth(bytesPerSecond int64) *Bandwidth {
	if bytesPerSecond <= 0 {
		return nil
	}
	most := int(min(max(bytesPerSecond/10, 1<<10), 1<<20)) // what may come at once
	return &Bandwidth{rate.NewLimiter(rate.Limit(bytesPerSecond), most)}
}

// Most is how many bytes may be read at once, so that one read makes no long
// wait.
func (b *Bandwidth) Most() int { return b.limiter.Burst() }

// Take counts n bytes that came at now, and says how long to wait before more
// are read.
func (b *Bandwidth) Take(now time.Time, n int) (wait time.Duration) {
	for n > 0 {
		some := min(n, b.Most())
		wait = b.limiter.ReserveN(now, some).DelayFrom(now)
		n -= some
	}
	return wait
}
