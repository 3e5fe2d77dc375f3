//go:build race

package cli

// heavier is the factor by which commands use more memory under the race detector, which keeps
// shadow memory.
const heavier = 3
