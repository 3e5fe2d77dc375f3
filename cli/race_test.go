//go:build race

package cli

// heavier is by how much a command takes more memory under the race detector,
// which keeps a shadow of what is touched.
const heavier = 3
