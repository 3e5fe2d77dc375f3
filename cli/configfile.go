package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// readConfig applies a file to c. An unknown key, a repeated key or an invalid value is an
// error with file and line.
func readConfig(c *config, path string) error {
	_, err := readAllowed(c, path, nil)
	return err
}

// readAllowed applies a file, each of whose keys may must allow, and returns it; nil allows all.
func readAllowed(c *config, path string, may func(key string) error) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, usagef("--config with a readable file", "config: %v", err)
	}
	if err = decodeAllowed(c, b, may); err == nil {
		return b, nil
	}
	const try = "compare it with config.example.yaml"
	if at, ok := errors.AsType[yaml.Error](err); ok && at.GetToken() != nil {
		return nil, usagef(try, "config %s:%d: %s", path, at.GetToken().Position.Line, at.GetMessage())
	}
	return nil, usagef(try, "config %s: %v", path, err)
}

// atLine adds the line to an error in a text without file name.
func atLine(err error) error {
	if at, ok := errors.AsType[yaml.Error](err); ok && at.GetToken() != nil {
		return fmt.Errorf("line %d: %s", at.GetToken().Position.Line, at.GetMessage())
	}
	return err
}

func decodeAllowed(c *config, b []byte, may func(key string) error) error {
	if t := tooDeep(b); t != nil {
		return &yaml.SyntaxError{Message: fmt.Sprintf("more than %d levels deep", maxLevels), Token: t}
	}
	d := yaml.NewDecoder(bytes.NewReader(b), yaml.Strict())
	for {
		doc := reflect.New(asWritten(reflect.TypeOf(*c)))
		if err := d.Decode(doc.Interface()); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := c.fill(settingsOf(doc.Elem(), ""), may); err != nil {
			return err
		}
	}
}

// maxLevels is the deepest nesting of a file. The parser takes time quadratic in the depth, the
// lexer does not.
const maxLevels = 100

// tooDeep finds the first token that is nested deeper than maxLevels, in brackets or after as
// many indicators on one line.
func tooDeep(b []byte) *token.Token {
	brackets, indicators, line := 0, 0, 0
	for _, t := range lexer.Tokenize(string(b)) {
		if t.Position.Line != line {
			line, indicators = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets--
		case token.SequenceEntryType, token.MappingKeyType, token.MappingValueType, token.TagType, token.AnchorType:
			indicators++
		}
		if brackets+indicators > maxLevels {
			return t
		}
	}
	return nil
}

// written is a value as in the file: `agent: 007` is not a number.
type written struct{ node ast.Node }

// UnmarshalYAML stores the node.
func (w *written) UnmarshalYAML(n ast.Node) error {
	w.node = n
	return nil
}

// asWritten returns the configuration type with values of type *written, which setValue parses
// like variables.
func asWritten(t reflect.Type) reflect.Type {
	fields := make([]reflect.StructField, t.NumField())
	for i := range fields {
		f := t.Field(i)
		if f.Type.Kind() == reflect.Struct {
			f.Type = asWritten(f.Type)
		} else {
			f.Type = reflect.TypeFor[*written]()
		}
		fields[i] = f
	}
	return reflect.StructOf(fields)
}

// fill applies the values of a file; may must allow each key, nil allows all.
func (c *config) fill(doc []setting, may func(key string) error) error {
	for i, k := range c.keys() {
		w := doc[i].value.Interface().(*written)
		if w == nil {
			continue
		}
		err := setNode(k.value, w.node)
		if may != nil && err == nil {
			err = may(k.key)
		}
		if err != nil {
			return &yaml.SyntaxError{Message: fmt.Sprintf("%s: %v", k.key, err), Token: w.node.GetToken()}
		}
	}
	return nil
}

// setNode parses a value according to its key; a null value changes nothing.
func setNode(v reflect.Value, n ast.Node) error {
	switch n := n.(type) {
	case *ast.NullNode:
		return nil
	case *ast.SequenceNode:
		p, ok := v.Addr().Interface().(*[]string)
		if !ok {
			return errors.New("expected a single value, not a list")
		}
		*p = nil
		for _, value := range n.Values {
			*p = append(*p, scalar(value))
		}
		return nil
	case *ast.MappingNode:
		p, ok := v.Addr().Interface().(*map[string]string)
		if !ok {
			return errors.New("expected a value, not a mapping")
		}
		*p = map[string]string{}
		for _, entry := range n.Values {
			(*p)[scalar(entry.Key)] = scalar(entry.Value)
		}
		return nil
	}
	return setValue(v, scalar(n))
}

// scalar returns a value without its quotes.
func scalar(n ast.Node) string {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	}
	return n.GetToken().Value
}
