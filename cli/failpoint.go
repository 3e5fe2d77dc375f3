package cli

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// failpointVariable is for tests only.
const failpointVariable = "CURTSY_FAILPOINT"

// failpoint kills the process like kill -9 at the named point of a commit:
// CURTSY_FAILPOINT=NAME, or NAME:COUNT for the COUNTth time. It is used to test durability; see
// storage.Options.
func failpoint() func(string) {
	name, count, _ := strings.Cut(os.Getenv(failpointVariable), ":")
	if name == "" {
		return nil
	}
	after, err := strconv.ParseInt(count, 10, 64)
	if err != nil {
		after = 1
	}
	var passed atomic.Int64
	return func(point string) {
		if point == name && passed.Add(1) == after {
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Kill()
			}
			select {} // until the signal takes effect
		}
	}
}
