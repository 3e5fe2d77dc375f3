package warc

import (
	"io"
	"strings"
)

// maxFields bounds a block of fields, in octets.
const maxFields = 1 << 20

// ReadFields parses a block of type application/warc-fields.
func ReadFields(r io.Reader) (map[string]string, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxFields))
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for line := range strings.SplitSeq(string(b), "\r\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			fields[name] = value
		}
	}
	return fields, nil
}

// AppendField appends a field to such a block. Line ends and other control characters of the value become
// spaces, so that text from the network cannot add fields.
func AppendField(b []byte, name, value string) []byte {
	b = append(b, name...)
	b = append(b, ": "...)
	b = append(b, oneLine(value)...)
	return append(b, "\r\n"...)
}

func oneLine(s string) string {
	if strings.IndexFunc(s, isControl) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return ' '
		}
		return r
	}, s)
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }
