//go:build !linux

package storage

import (
	"errors"
	"os"
)

// unnamed cannot be done on this system without a name for a moment.
func (d *directory) unnamed() (*os.File, error) { return nil, errors.ErrUnsupported }
