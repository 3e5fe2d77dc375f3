package hostile_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain runs more tests in parallel than there are processors, as nearly all of them wait
// for a stalling server.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
