package credentials

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestCookies(t *testing.T) {
	const file = "# Netscape HTTP Cookie File\n\n" +
		"wiki.example.org\tFALSE\t/\tTRUE\t0\tsession\ts3\r\n" +
		"#HttpOnly_.example.org\tTRUE\t/wiki\tFALSE\t1900000000\ttoken\tt=4\n" +
		".example.org\tTRUE\t/\tFALSE\t1000\told\tx\n" +
		"example.org\tFALSE\t/\tFALSE\t0\tparent\tx\n" +
		"evilwiki.example.org\tTRUE\t/\tFALSE\t0\tother\tx\n"
	list, others, expired, err := Cookies(strings.NewReader(file), "wiki.example.org", time.Unix(1800000000, 0))
	if err != nil || others != 2 || expired != 1 || len(list) != 2 {
		t.Fatalf("got %d cookies, %d for others, %d expired, %v", len(list), others, expired, err)
	}
	if c := list[0]; c.Name != "session" || c.Value != "s3" || !c.Secure || c.Path != "/" {
		t.Errorf("first: %+v", c)
	}
	if c := list[1]; c.Name != "token" || c.Value != "t=4" || c.Path != "/wiki" || c.Domain != "" {
		t.Errorf("second: %+v", c)
	}
}

func TestBrokenCookiesAreNamedByLineAlone(t *testing.T) {
	for _, file := range []string{"a b c s3cret\n", "example.org\tTRUE\t/\tTRUE\tsoon\tn\ts3cret\n",
		"{\"cookies\":\"s3cret\"}"} {
		_, _, _, err := Cookies(strings.NewReader(file), "example.org", time.Now())
		if err == nil || !strings.Contains(err.Error(), "line 1") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", file, err)
		}
	}
}

func TestNetrc(t *testing.T) {
	const file = "# mine\nmachine other login o password p1\nmacdef init\ncd /\nmachine example.org login wrong password wrong\n\n" +
		"machine example.org\n  login anna\n  account x\n  password p2\ndefault login guest password p3\n"
	for host, want := range map[string]string{"example.org": "anna:p2", "other": "o:p1", "else": "guest:p3"} {
		name, password, err := Netrc(strings.NewReader(file), host)
		if err != nil || name+":"+password != want {
			t.Errorf("%s: got %s:%s, %v; want %s", host, name, password, err, want)
		}
	}
	for _, file := range []string{"", "machine", "machine a", "machine a login", "login x password y",
		"machine a password p", "default"} {
		if _, _, err := Netrc(strings.NewReader(file), "a"); !errors.Is(err, ErrNoEntry) {
			t.Errorf("%q: %v", file, err)
		}
	}
}

func FuzzFiles(f *testing.F) {
	f.Add("machine a login b password c macdef x\n\n")
	f.Add("a\tTRUE\t/\tFALSE\t0\tn\tv\n")
	f.Fuzz(func(_ *testing.T, text string) {
		_, _, _ = Netrc(strings.NewReader(text), "a")
		_, _, _, _ = Cookies(strings.NewReader(text), "a", time.Unix(0, 0))
	})
}
