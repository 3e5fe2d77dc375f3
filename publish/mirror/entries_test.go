package mirror

import (
	"testing"
	"time"

	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/storage/crawllog"
)

// A page answered with a bot challenge counts as failed, not as withheld.
func TestAChallengeIsNotWithheld(t *testing.T) {
	t.Parallel()
	v := &crawllog.Visit{Answer: crawllog.Answer{Status: 200}, Payload: crawllog.Payload{Blocked: "challenge"}}
	p := publish.Decide(v, time.Now())
	e := describe(v, weburl.MustParse("http://h/"), &p)
	if e.state != failed || e.why() != "blocked: challenge" {
		t.Errorf("state %d, %q", e.state, e.why())
	}
}
