//go:build !unix

package storage

const dontBlock = 0
