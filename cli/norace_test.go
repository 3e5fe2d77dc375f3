//go:build !race

package cli

// heavier is 1 without the race detector.
const heavier = 1
