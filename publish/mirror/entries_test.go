package mirror

import (
	"testing"
	"time"

	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/storage/crawllog"
)

// No page asks for what a challenge stands in the place of: it is none that is withheld.
func TestAChallengeIsNotWithheld(t *testing.T) {
	t.Parallel()
	v := &crawllog.Visit{Answer: crawllog.Answer{Status: 200}, Payload: crawllog.Payload{Blocked: "challenge"}}
	p := publish.Decide(v, time.Now())
	e := describe(v, weburl.MustParse("http://h/"), &p)
	if e.state != failed || e.why() != "blocked: challenge" {
		t.Errorf("state %d, %q", e.state, e.why())
	}
}
