package hostile_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain lets more tests wait at a time than there are processors: nearly
// all that they do is wait for a server that stalls.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
