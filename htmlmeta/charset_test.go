package htmlmeta

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"

	"curtsy/internal/weburl"
)

// encoded returns UTF-8 text in another charset.
func encoded(tb testing.TB, label, text string) []byte {
	tb.Helper()
	enc, _ := charset.Lookup(label)
	b, err := encoding.HTMLEscapeUnsupported(enc.NewEncoder()).Bytes([]byte(text))
	if err != nil {
		tb.Fatalf("%s: %v", label, err)
	}
	return b
}

func TestCharsetOrder(t *testing.T) {
	const cp1251, koi8 = "\xcf\xf0\xe8\xe2\xe5\xf2", "\xf0\xd2\xc9\xd7\xc5\xd4" // Привет
	for _, c := range []struct{ name, contentType, body, charset, title string }{
		{"a mark wins", "text/html; charset=koi8-r", bomUTF8 + "<meta charset=windows-1251><title>Привет</title>",
			"utf-8", "Привет"},
		{"the header wins over the meta", "text/html; charset=KOI8-R", "<meta charset=windows-1251><title>" + koi8 +
			"</title>", "koi8-r", "Привет"},
		{"header in quotes", `text/html; charset="windows-1251"`, "<title>" + cp1251 + "</title>", "windows-1251",
			"Привет"},
		{"broken header", `text/html; x; charset=cp1251; ;`, "<title>" + cp1251 + "</title>", "windows-1251", "Привет"},
		{"unknown header", `text/html; charset=none`, "<meta charset=koi8-r><title>" + koi8 + "</title>", "koi8-r",
			"Привет"},
		{"the meta", "text/html", "<meta charset=windows-1251><title>" + cp1251 + "</title>", "windows-1251", "Привет"},
		{"the pragma", "text/html", `<meta content="text/html; charset=koi8-r" http-equiv=Content-Type><title>` + koi8 +
			"</title>", "koi8-r", "Привет"},
		{"a late meta", "text/html", "<title>" + cp1251 + "</title>" + strings.Repeat("<p>x", 3000) +
			"<meta charset=windows-1251>", "windows-1251", "Привет"},
		{"the first known meta", "text/html",
			"<meta charset=x><meta charset=koi8-r><meta charset=windows-1251><title>" + koi8 + "</title>", "koi8-r",
			"Привет"},
		{"a meta that says UTF-16 cannot be right", "text/html", "<meta charset=utf-16><title>Привет</title>", "utf-8",
			"Привет"},
		{"a comment declares nothing", "text/html", "<!-- <meta charset=koi8-r> --><title>Привет</title>", "utf-8",
			"Привет"},
		{"ASCII", "text/html", "<title>x</title>", "utf-8", "x"},
		{"UTF-8", "text/html", "<title>Привет</title>", "utf-8", "Привет"},
		{"UTF-8, cut within a letter", "text/html", "<title>Привет</title>\xd0", "utf-8", "Привет"},
		{"UTF-8, one octet broken", "text/html", "<title>Привет, мир, это я, твой старый друг</title>\xff", "utf-8",
			"Привет, мир, это я, твой старый друг"},
		{"XML declaration", "application/xhtml+xml", `<?xml version="1.0" encoding='koi8-r'?><html><title>` + koi8 +
			"</title></html>", "koi8-r", "Привет"},
	} {
		d := Read(Page{Header: http.Header{"Content-Type": {c.contentType}}, Body: []byte(c.body)}, Options{})
		if d.Charset != c.charset || d.Title != c.title {
			t.Errorf("%s: got %s %q, want %s %q", c.name, d.Charset, d.Title, c.charset, c.title)
		}
	}
}

func TestWideCharsets(t *testing.T) {
	const page = `<title>Привет</title><meta name=robots content=noindex><a href="/я?я">`
	for _, c := range []struct {
		name, contentType string
		enc               encoding.Encoding
	}{
		{"utf-16le", "text/html", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)},
		{"utf-16be", "text/html", unicode.UTF16(unicode.BigEndian, unicode.UseBOM)},
		{"utf-16le", "text/html; charset=utf-16", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
		{"utf-16be", "text/html; charset=utf-16be", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
	} {
		body, err := c.enc.NewEncoder().Bytes([]byte(page))
		if err != nil {
			t.Fatal(err)
		}
		d := Read(Page{URL: weburl.MustParse("http://h/"), Header: http.Header{"Content-Type": {c.contentType}},
			Body: body}, Options{})
		if d.Charset != c.name || d.Title != "Привет" || !d.Directives.NoIndex ||
			linkLines(d) != "/%D1%8F?%D1%8F a.href page" {
			t.Errorf("%s: got %s %q %v %s", c.contentType, d.Charset, d.Title, d.Directives.NoIndex, linkLines(d))
		}
	}
	body := append([]byte("<meta charset=iso-2022-jp>"), encoded(t, "iso-2022-jp", "<title>日本語</title><a href=/日>")...)
	d := Read(Page{URL: weburl.MustParse("http://h/"), Header: htmlHeader, Body: body}, Options{})
	if d.Title != "日本語" || linkLines(d) != "/%E6%97%A5 a.href page" {
		t.Errorf("iso-2022-jp: got %q %s", d.Title, linkLines(d))
	}
}

// TestCharsetsAsBrowsersHaveThem checks that octets that windows-1252 leaves undefined become
// C1 controls, and that queries of an ISO-2022-JP page are encoded in ISO-2022-JP.
func TestCharsetsAsBrowsersHaveThem(t *testing.T) {
	for contentType, c := range map[string]struct{ body, want string }{
		"text/html; charset=windows-1252": {"<a href='/x\x8dy?z\x8d'>", "/x%C2%8Dy?z%8D a.href page"},
		"text/html; charset=iso-2022-jp": {"<a href='/\x1b$BF|\x1b(B?q=\x1b$BF|K\\\x1b(B'>",
			"/%E6%97%A5?q=%1B$BF|K\\%1B(B a.href page"},
		"text/html; charset=windows-1251": {"<a href='/?q=&#9731;\xff'>", "/?q=%26%239731%3B%FF a.href page"},
		"text/html; charset=utf-16le": {"<\x00a\x00 \x00h\x00r\x00e\x00f\x00=\x00?\x00\xe9\x00>\x00",
			"/?%C3%A9 a.href page"},
	} {
		d := Read(Page{URL: weburl.MustParse("http://h/"), Header: http.Header{"Content-Type": {contentType}},
			Body: []byte(c.body)}, Options{})
		if got := linkLines(d); got != c.want {
			t.Errorf("%s: %s, want %s", contentType, got, c.want)
		}
	}
}

// TestQueryCharset checks that the query of a link is encoded in the charset of the page, and
// its path in UTF-8 (URL Standard, query state).
func TestQueryCharset(t *testing.T) {
	for charset, want := range map[string]string{
		"windows-1251": "/%D1%8F?q=%FF&r=%26%23169%3B a.href page", // © is in windows-1251 as %A9
		"koi8-r":       "/%D1%8F?q=%D1&r=%BF a.href page",
		"utf-8":        "/%D1%8F?q=%D1%8F&r=%C2%A9 a.href page",
	} {
		if charset == "windows-1251" {
			want = "/%D1%8F?q=%FF&r=%A9 a.href page"
		}
		body := encoded(t, charset, `<a href="/я?q=я&amp;r=&copy;#я">`)
		d := Read(Page{URL: weburl.MustParse("http://h/"),
			Header: http.Header{"Content-Type": {"text/html; charset=" + charset}}, Body: body}, Options{})
		if got := linkLines(d); got != want {
			t.Errorf("%s: got %s, want %s", charset, got, want)
		}
	}
}

// Russian texts, from long ones to a few words.
var russian = []string{
	`Поисковый робот обходит страницы сайта по ссылкам и сохраняет их содержимое. Владелец сайта может попросить его не заходить в некоторые разделы: для этого в корне сайта кладут файл robots.txt. Вежливый робот читает этот файл первым, соблюдает его правила и не торопится.`,
	`Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему.`,
	`Мороз и солнце; день чудесный! Ещё ты дремлешь, друг прелестный`,
	`Новости и объявления нашего города`,
	`Добро пожаловать на наш сайт`,
	`Главная страница`,
	`О компании`,
	`Контакты`,
	`Привет, мир!`,
	`ГЛАВНАЯ СТРАНИЦА`,
	`КОНТАКТЫ И АДРЕСА`,
	`Страница не найдена`,
}

// TestRussianUndeclared checks that windows-1251 and KOI8-R are detected where nothing declares
// them.
func TestRussianUndeclared(t *testing.T) {
	for _, text := range russian {
		for _, label := range []string{"windows-1251", "koi8-r"} {
			page := "<html><head><title>" + text + "</title></head><body class=x><p>" + text + "</p></body></html>"
			d := Read(Page{Header: htmlHeader, Body: encoded(t, label, page)}, Options{})
			if d.Title != text {
				t.Errorf("%s: got %s %q, want %q", label, d.Charset, d.Title, text)
			}
		}
	}
}

var declaration = regexp.MustCompile(`(?i)<meta[^>]*charset[^>]*>|<\?xml[^>]*>`)

// TestRussianCorpus does the same with the pages of a real manual.
func TestRussianCorpus(t *testing.T) {
	files, _ := filepath.Glob(corpora["gimp-help-ru"] + "/*.html")
	if len(files) == 0 {
		t.Skip("gimp-help-ru is not installed (apt-get install gimp-help-ru)")
	}
	for i := 0; i < len(files); i += 5 {
		src, err := os.ReadFile(files[i])
		if err != nil {
			t.Fatal(err)
		}
		plain := declaration.ReplaceAllString(string(src), "")
		want := Read(Page{Header: htmlHeader, Body: []byte(plain)}, Options{})
		if want.Charset != "utf-8" {
			t.Fatalf("%s: %s", files[i], want.Charset)
		}
		for _, label := range []string{"windows-1251", "koi8-r"} {
			d := Read(Page{Header: htmlHeader, Body: encoded(t, label, plain)}, Options{})
			if d.Title != want.Title {
				t.Errorf("%s in %s: got %s %q", files[i], label, d.Charset, d.Title)
			}
		}
	}
}

// TestOtherUndeclared checks that texts in other languages are not detected as Russian.
func TestOtherUndeclared(t *testing.T) {
	for _, c := range []struct{ label, text string }{
		{"windows-1252", "Grüße aus München, wir hören uns später. Die Straße ist sehr schön und größer als früher."},
		{"windows-1252", "Le café est fermé à midi, les élèves sont allés à l'école et leurs mères aussi."},
		{"windows-1252", "El niño pequeño comió una manzana en el jardín de su abuela, según dijo después."},
		{"windows-1253", "Καλώς ήλθατε στην ιστοσελίδα μας. Εδώ θα βρείτε πληροφορίες για το μουσείο και τις εκθέσεις του."},
		{"windows-1255", "ברוכים הבאים לאתר שלנו. כאן תמצאו מידע על המוזיאון ועל התערוכות שלו ועל שעות הפתיחה."},
		{"gbk", "欢迎来到我们的网站。这里有关于博物馆及其展览的信息,还有开放时间和地址,请阅读以下内容。"},
		{"big5", "歡迎來到我們的網站。這裡有關於博物館及其展覽的資訊,還有開放時間和地址,請閱讀以下內容。"},
		{"shift_jis", "私たちのウェブサイトへようこそ。ここには博物館とその展示についての情報があります。"},
		{"euc-jp", "私たちのウェブサイトへようこそ。ここには博物館とその展示についての情報があります。"},
		{"euc-kr", "우리 웹사이트에 오신 것을 환영합니다. 여기에는 박물관과 전시회에 대한 정보가 있습니다."},
		{"windows-1251", "Добре дошли в нашия сайт. Тук ще намерите информация за музея и неговите изложби."},
		{"windows-1251", "Ласкаво просимо на наш сайт. Тут ви знайдете інформацію про музей та його виставки."},
	} {
		d := Read(Page{Header: htmlHeader, Body: encoded(t, c.label, "<title>"+c.text+"</title><p>"+c.text)}, Options{})
		if d.Title != c.text {
			t.Errorf("got %s %q, want %q", d.Charset, d.Title, c.text)
		}
	}
}
