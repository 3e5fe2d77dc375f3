package legible

import (
	"encoding/json"
	"strings"
	"testing"
)

// hidden returns all characters of the class.
func hidden() (s string) {
	for _, between := range [][2]rune{{0x7f, 0x9f}, {0x61c, 0x61c}, {0x200e, 0x200f}, {0x202a, 0x202e},
		{0x2066, 0x2069}} {
		for r := between[0]; r <= between[1]; r++ {
			s += string(r)
		}
	}
	return s
}

func TestNothingHiddenIsLeft(t *testing.T) {
	text := "a\x1b[2J" + hidden() + "\u05d0\u200d\u2764\n\tz"
	var b strings.Builder
	if _, err := (Writer{&b}).Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	for _, got := range []string{Text(text), b.String()} {
		if strings.ContainsAny(got, hidden()+"\x1b") || !strings.HasPrefix(got, "a‹U+001B›[2J‹U+007F›") ||
			!strings.HasSuffix(got, "‹U+2069›\u05d0\u200d\u2764\n\tz") {
			t.Errorf("%q", got)
		}
	}
}

func TestJSONStaysTheSameValue(t *testing.T) {
	text := "a\x1b\"" + hidden() + "z<\xff"
	plain, err := json.Marshal(map[string]string{text: text})
	if err != nil {
		t.Fatal(err)
	}
	got := JSON(plain)
	var m map[string]string
	if err := json.Unmarshal(got, &m); err != nil || m[strings.ToValidUTF8(text, "\ufffd")] != strings.ToValidUTF8(text,
		"\ufffd") {
		t.Errorf("%v: %q", err, m)
	}
	if strings.ContainsAny(string(got), hidden()) || !strings.Contains(string(got), `\u007f\u0080`) {
		t.Errorf("%s", got)
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 1_250_000: "1.2 MB", 1 << 60: "1.2 EB",
		1<<63 - 1: "9.2 EB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for s, want := range map[string]string{"": "", "four": "four", "привет": "при…", "ab c d": "ab…", " fives": " fi…", "fives": "fiv…"} {
		if got := Cut(s, 4); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

func TestFirst(t *testing.T) {
	title := "x" + strings.Repeat("ж", 300)
	if got := First(title, 500); got != title[:499] {
		t.Errorf("%d octets, the last %q", len(got), got[len(got)-4:])
	}
	if got := First("\xbf\xbf\xbf", 2); got != "" {
		t.Errorf("octets of no letter: %q", got)
	}
	if First("ж", 2) != "ж" {
		t.Error("what fits is cut")
	}
}
