//go:build !race

package cli

// heavier is 1 without the race detector; see race_test.go.
const heavier = 1
