package export

import (
	"bytes"
	"errors"

	"curtsy/publish/mirror"
)

func oursHTML(_ string, head []byte) bool { return bytes.Contains(head, []byte(mirror.SingleMark)) }

// writeHTML writes one page with everything that it embeds.
func writeHTML(j *job) error {
	m, err := j.o.mirror()
	if err != nil {
		return err
	}
	body, left, err := mirror.Single(j.a, j.o.Single, j.out.name+"-parts", m)
	if err != nil {
		return ofMirror(err)
	}
	j.r.Pages, j.r.TooLarge = 1, left
	_, err = j.w.Write(body)
	return err
}

// mirror returns the options of a mirror that holds what the export may hold.
func (o *Options) mirror() (mirror.Options, error) {
	m, err := o.Mirror()
	m.Now, m.At, m.Admits = o.Now, o.At, o.Consent.Admits
	return m, err
}

// ofMirror converts an error of a mirror to one of the export.
func ofMirror(err error) error {
	if disk, ok := errors.AsType[*mirror.DiskError](err); ok {
		return &DiskError{disk.Err}
	}
	return err
}
