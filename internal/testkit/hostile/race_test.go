//go:build race

package hostile_test

// patience is the factor for timeouts under the race detector, which slows down both sides.
const patience = 5
