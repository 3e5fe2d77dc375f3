//go:build !unix

package fleet

import (
	"errors"
)

// Lock makes this process the only one over a fleet's directory, until its end.
func Lock(string) (release func(), err error) {
	return nil, errors.New("curtsy fleet serve needs a Unix system")
}
