package warc

import (
	"io"
	"strings"
)

// maxFields bounds a block of fields that is read into memory.
const maxFields = 1 << 20

// ReadFields reads a block of type application/warc-fields.
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

// AppendField writes a field of such a block; what the value has of line ends and other
// controls becomes spaces, so that text from the network makes no fields of its own.
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
