package export

import (
	"bytes"

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
