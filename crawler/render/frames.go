package render

import (
	"bufio"
	"io"
)

// maxFrame bounds one message of the browser, in octets: a page can make a title, a URL or a console
// line as long as its memory.
const maxFrame = 16 << 20

// copyFrames copies zero-terminated messages and drops those longer than most.
func copyFrames(to io.Writer, from io.Reader, most int) error {
	r := bufio.NewReaderSize(from, 64<<10)
	var frame []byte
	for long := false; ; {
		piece, err := r.ReadSlice(0)
		if long = long || len(frame)+len(piece) > most; !long {
			frame = append(frame, piece...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil {
			return err
		}
		if !long {
			if _, err := to.Write(frame); err != nil {
				return err
			}
		}
		if frame, long = frame[:0], false; cap(frame) > 1<<20 {
			frame = nil
		}
	}
}
