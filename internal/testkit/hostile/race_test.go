//go:build race

package hostile_test

// patience is by how much waits are longer where the race detector makes both
// sides several times as slow.
const patience = 5
