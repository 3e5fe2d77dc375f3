//go:build !race

package hostile_test

const patience = 1
