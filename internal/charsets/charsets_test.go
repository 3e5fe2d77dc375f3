package charsets

import (
	"testing"

	"golang.org/x/text/encoding"
)

// Octets decode as in the indexes of the Encoding Standard.
func TestOctetsAsBrowsersReadThem(t *testing.T) {
	for _, c := range []struct{ label, octets, text string }{
		{"windows-1252", "x\x81\x8d\x8f\x90\x9d\x80\xe9", "x\u0081\u008d\u008f\u0090\u009d€é"},
		{"latin1", "\x81", "\u0081"},
		{"windows-1251", "\x98\xff", "\u0098я"},
		{"windows-1253", "\x81\x98\xe1", "\u0081\u0098α"},
		{"windows-874", "\x9f", "\u009f"},
		{"iso-8859-7", "\x80\x9f\xe1", "\u0080\u009fα"},
		{"koi8-r", "\x80\xd1", "─я"},
		{"shift_jis", "\x83\x5c", "ソ"},
	} {
		enc, _ := Lookup(c.label)
		text, err := enc.NewDecoder().String(c.octets)
		if err != nil || text != c.text {
			t.Errorf("%s: %q is %q, %v; want %q", c.label, c.octets, text, err, c.text)
		}
		octets, err := enc.NewEncoder().String(c.text)
		if err != nil || octets != c.octets {
			t.Errorf("%s: %q is %q, %v; want %q", c.label, c.text, octets, err, c.octets)
		}
	}
	enc, _ := Lookup("windows-1253")
	if text, _ := enc.NewDecoder().String("\xaa"); text != "\ufffd" {
		t.Errorf("an octet that is undefined there too: %q", text)
	}
	if got, err := encoding.HTMLEscapeUnsupported(enc.NewEncoder()).String("ж\u0081"); got != "&#1078;\x81" {
		t.Errorf("a letter that it lacks: %q, %v", got, err)
	}
	if enc, _ := Lookup("x-none"); enc != nil {
		t.Error("a charset that nobody knows is found")
	}
}
