package visit

import (
	"strings"
	"testing"
)

func TestWhatIsCutIsCutBetweenLetters(t *testing.T) {
	title := "x" + strings.Repeat("ж", 300)
	if got := bounded(title, 500); got != title[:499] {
		t.Errorf("%d octets, the last %q", len(got), got[len(got)-4:])
	}
	if got := bounded("\xbf\xbf\xbf", 2); got != "" {
		t.Errorf("octets of no letter: %q", got)
	}
	if bounded("ж", 2) != "ж" {
		t.Error("what fits is cut")
	}
}
