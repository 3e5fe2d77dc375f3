package storage

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// Guard makes a damaged crawl.db an error where it would end the process:
// bbolt trusts its file, and one that was overwritten makes it panic or read
// where nothing is. It is for the goroutine it is called in:
//
//	defer storage.Guard(&err)()
func Guard(err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		p := recover()
		if p == nil {
			return
		}
		_, isFault := p.(interface{ Addr() uintptr })
		if !isFault && !strings.Contains(string(debug.Stack()), "go.etcd.io/bbolt") {
			panic(p) // a mistake of ours
		}
		*err = &DamageError{File: dbName, What: fmt.Sprint("damaged: ", p)}
	}
}
