package export

import (
	"bytes"
	"context"

	"curtsy/publish/mirror"
	"curtsy/storage"
)

func oursHTML(_ string, head []byte) bool { return bytes.Contains(head, []byte(mirror.SingleMark)) }

// writeHTML writes one page with all that it is made of.
func writeHTML(_ context.Context, a *storage.Archive, out *outFile, o *Options, r *Result) error {
	m, err := o.mirror()
	if err != nil {
		return err
	}
	body, left, err := mirror.Single(a, o.Single, out.name+"-parts", m)
	if err != nil {
		return asDisk(err)
	}
	r.Pages, r.TooLarge = 1, left
	_, err = out.Write(body)
	return err
}
