package htmlmeta

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// scriptUse is the syntactic context of a literal, which determines its base.
type scriptUse uint8

const (
	asString scriptUse = iota // other: may be a file name
	// import, export … from, import(), new URL(x, import.meta.url), importScripts: relative to the script
	asModule
	asPage // new Worker(x), serviceWorker.register(x): relative to the page
)

// scriptRef is a string literal of a script.
type scriptRef struct {
	text string // decoded
	at   span   // with quotes
	use  scriptUse
	attr string // the syntax around it: "import", "new Worker"
}

// eachScriptRef calls f with the string literals of a script, in order, until f returns false.
// It skips comments, regular expressions, and templates with substitutions.
func eachScriptRef(src []byte, f func(scriptRef) bool) {
	in := parse.NewInputBytes(src[:len(src):len(src)]) // the lexer writes a NUL after its input
	w := scriptWalk{in: in, lex: js.NewLexer(in)}
	for errors := 0; errors < maxScriptErrors && in.Offset() < len(src); {
		kind, data := w.next()
		if kind == js.ErrorToken {
			errors++
			continue
		}
		if !w.take(kind, data, f) {
			return
		}
	}
	w.flush(f)
}

// maxScriptErrors is the number of syntax errors after which reading stops.
const maxScriptErrors = 100

// scriptWalk tracks as much of a script as tells the context of its literals.
type scriptWalk struct {
	in   *parse.Input
	lex  *js.Lexer
	at   int            // offset after the current token
	last [4]scriptToken // previous tokens, latest first, without white space and comments
	// waits is the literal of a new URL(x: the tokens after it tell whether it is relative to
	// the script.
	waits  *scriptRef
	behind int  // tokens seen after it
	list   bool // within importScripts(
}

type scriptToken struct {
	kind js.TokenType
	text string
}

// next returns the next token. A slash after a value is a division, otherwise it begins a
// regular expression.
func (w *scriptWalk) next() (kind js.TokenType, data []byte) {
	defer func() {
		if recover() != nil { // after an error the lexer may exceed its bounds
			kind, data = js.ErrorToken, nil
		}
	}()
	kind, data = w.lex.Next()
	if (kind == js.DivToken || kind == js.DivEqToken) && !w.behindValue() {
		if k, d := w.lex.RegExp(); k == js.RegExpToken {
			kind, data = k, d
		}
	}
	w.at = w.in.Offset()
	return kind, data
}

func (w *scriptWalk) behindValue() bool {
	switch k := w.last[0].kind; {
	case k == js.CloseParenToken, k == js.CloseBracketToken, k == js.CloseBraceToken, k == js.StringToken,
		k == js.RegExpToken,
		k == js.TemplateToken, k == js.TemplateEndToken, k == js.IncrToken, k == js.DecrToken, js.IsNumeric(k):
		return true
	case k == js.ThisToken, k == js.SuperToken, k == js.NullToken, k == js.TrueToken, k == js.FalseToken:
		return true
	case js.IsReservedWord(k):
		return false
	default:
		return js.IsIdentifierName(k)
	}
}

// take handles a token; false ends the walk.
func (w *scriptWalk) take(kind js.TokenType, data []byte, f func(scriptRef) bool) bool {
	switch kind {
	case js.WhitespaceToken, js.LineTerminatorToken, js.CommentToken, js.CommentLineTerminatorToken:
		return true
	}
	if !w.behindURL(kind, data, f) {
		return false
	}
	// After an error, a token may include what the lexer skipped.
	whole := len(data) >= 2 && strings.IndexByte("\"'`", data[0]) >= 0
	if whole && (kind == js.StringToken || kind == js.TemplateToken) {
		ref := scriptRef{text: unescapeScript(data[1 : len(data)-1]), at: span{w.at - len(data), w.at}}
		if ref.use, ref.attr = w.use(); ref.attr == "new URL" {
			w.waits, w.behind = &ref, 0
		} else if !f(ref) {
			return false
		}
	}
	w.list = w.list && (kind == js.CommaToken || kind == js.StringToken) || kind == js.OpenParenToken &&
		w.last[0].text == "importScripts"
	copy(w.last[1:], w.last[:])
	w.last[0] = scriptToken{kind: kind}
	if js.IsIdentifierName(kind) {
		w.last[0].text = string(data)
	}
	return true
}

// metaURL are the tokens after the literal of new URL(x, import.meta.url).
var metaURL = [...]string{",", "import", ".", "meta", ".", "url"}

// behindURL handles the tokens after the literal of a new URL(.
func (w *scriptWalk) behindURL(_ js.TokenType, data []byte, f func(scriptRef) bool) bool {
	if w.waits == nil {
		return true
	}
	if string(data) != metaURL[w.behind] {
		return w.flush(f)
	}
	if w.behind++; w.behind < len(metaURL) {
		return true
	}
	w.waits.use = asModule
	return w.flush(f)
}

// flush passes on the waiting literal.
func (w *scriptWalk) flush(f func(scriptRef) bool) bool {
	ref := w.waits
	w.waits = nil
	if ref == nil {
		return true
	}
	if ref.use == asString {
		ref.attr = "string"
	}
	return f(*ref)
}

// use returns the context of a literal at the current position.
func (w *scriptWalk) use() (scriptUse, string) {
	a, b, c, d := &w.last[0], &w.last[1], &w.last[2], &w.last[3]
	switch {
	case a.text == "import" || a.text == "from" && b.kind != js.DotToken:
		return asModule, "import"
	case w.list:
		return asModule, "importScripts"
	case a.kind != js.OpenParenToken:
		return asString, "string"
	case b.text == "import":
		return asModule, "import()"
	case c.text == "new" && (b.text == "Worker" || b.text == "SharedWorker"):
		return asPage, "new Worker"
	case c.text == "new" && b.text == "URL":
		return asString, "new URL"
	case b.text == "register" && c.kind == js.DotToken && d.text == "serviceWorker":
		return asPage, "register"
	}
	return asString, "string"
}

// unescapeScript decodes the escapes of a literal (ECMA-262 §12.9.4).
func unescapeScript(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	b := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 == len(raw) {
			b = append(b, raw[i])
			continue
		}
		i++
		digits := 0
		switch raw[i] {
		case 'x':
			digits = 2
		case 'u':
			digits = 4
		case 'n', 'r', 't', 'b', 'f', 'v', '0':
			b = append(b, ' ') // such a literal cannot be a URL here
			continue
		}
		if digits > 0 && i+digits < len(raw) {
			if r, err := strconv.ParseUint(string(raw[i+1:i+1+digits]), 16, 32); err == nil {
				b = utf8.AppendRune(b, rune(r))
				i += digits
				continue
			}
		}
		b = append(b, raw[i])
	}
	return string(b)
}

// isSpecifier reports whether the text of an import is a URL rather than a bare name (HTML
// §8.1.6.2).
func isSpecifier(text string) bool {
	return strings.HasPrefix(text, "/") || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") ||
		hasPrefixFold(text, "http://") || hasPrefixFold(text, "https://")
}

// scriptType classifies a script element by its type attribute.
func scriptType(typ string) (script, importMap bool) {
	typ, _, _ = strings.Cut(strings.ToLower(strings.Trim(typ, asciiBlank)), ";")
	switch typ = strings.Trim(typ, asciiBlank); {
	case typ == "importmap":
		return false, true
	case typ == "", typ == "module", typ == "application/json", strings.HasSuffix(typ, "javascript"),
		strings.HasSuffix(typ, "ecmascript"):
		return true, false
	}
	return false, false
}

// importMap is an import map.
type importMap struct {
	Imports lenient[map[string]lenient[string]]                     `json:"imports"`
	Scopes  lenient[map[string]lenient[map[string]lenient[string]]] `json:"scopes"`
}

// eachImport calls f with the URLs of an import map, except directories, which end with a
// slash.
func eachImport(src []byte, f func(string)) {
	var m importMap
	if len(src) > maxManifest || json.Unmarshal(src, &m) != nil {
		return
	}
	each := func(m map[string]lenient[string]) {
		for _, key := range sortedKeys(m) {
			if to := m[key].is; isSpecifier(to) && !strings.HasSuffix(to, "/") {
				f(to)
			}
		}
	}
	each(m.Imports.is)
	for _, key := range sortedKeys(m.Scopes.is) {
		each(m.Scopes.is[key].is)
	}
}

// importPrefixes returns the directories of an import map, whose names end with a slash.
func importPrefixes(src []byte) map[string]string {
	var m importMap
	if len(src) > maxManifest || json.Unmarshal(src, &m) != nil {
		return nil
	}
	of := map[string]string{}
	for name, to := range m.Imports.is {
		if strings.HasSuffix(name, "/") && strings.HasSuffix(to.is, "/") {
			of[name] = to.is
		}
	}
	return of
}
