package cli

import (
	"errors"
	"fmt"
	"os"
	"reflect"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// readConfig reads a file over the values in c. An unknown key, a key given
// twice or a value of another form is an error with file and line.
func readConfig(c *config, path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return usagef("--config FILE, with a file that can be read", "config: %v", err)
	}
	file, err := parser.ParseBytes(b, 0)
	if err == nil {
		for _, doc := range file.Docs {
			if err = readNode(reflect.ValueOf(c).Elem(), "", doc.Body); err != nil {
				break
			}
		}
	}
	if err == nil {
		return nil
	}
	place, what := path, err.Error()
	var at interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &at) && at.GetToken() != nil {
		place, what = fmt.Sprintf("%s:%d", path, at.GetToken().Position.Line), at.GetMessage()
	}
	return usagef("compare it with config.example.yaml", "config %s: %s", place, what)
}

// configError is a mistake at a place in a file.
type configError struct {
	at   *token.Token
	what string
}

func (e *configError) Error() string          { return e.what }
func (e *configError) GetToken() *token.Token { return e.at }
func (e *configError) GetMessage() string     { return e.what }

func mistake(n ast.Node, format string, args ...any) error {
	return &configError{n.GetToken(), fmt.Sprintf(format, args...)}
}

// readNode reads a mapping over the keys of v.
func readNode(v reflect.Value, prefix string, n ast.Node) error {
	switch n := n.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		return nil
	case *ast.MappingNode:
		seen := map[string]bool{}
		for _, entry := range n.Values {
			key := prefix + scalar(entry.Key)
			if seen[key] {
				return mistake(entry.Key, "%s is given twice", key)
			}
			seen[key] = true
			if err := readEntry(v, prefix, key, entry); err != nil {
				return err
			}
		}
		return nil
	}
	return mistake(n, "%s holds keys, not a value", orFile(prefix))
}

func orFile(prefix string) string {
	if prefix == "" {
		return "the file"
	}
	return prefix[:len(prefix)-1]
}

func readEntry(v reflect.Value, prefix, key string, entry *ast.MappingValueNode) error {
	field, ok := fieldOf(v, key[len(prefix):])
	if !ok {
		return mistake(entry.Key, "unknown key %s", key)
	}
	if field.Kind() == reflect.Struct {
		return readNode(field, key+".", entry.Value)
	}
	if err := readValue(field, entry.Value); err != nil {
		return mistake(entry.Value, "%s: %v", key, err)
	}
	return nil
}

// fieldOf finds the field of a key.
func fieldOf(v reflect.Value, name string) (reflect.Value, bool) {
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("yaml") == name {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

// readValue reads a value in the form of its key; an empty one stays as it is.
func readValue(v reflect.Value, n ast.Node) error {
	switch n := n.(type) {
	case *ast.NullNode:
		return nil
	case *ast.SequenceNode:
		p, ok := v.Addr().Interface().(*[]string)
		if !ok {
			return errors.New("a list, where one value is wanted")
		}
		*p = nil
		for _, value := range n.Values {
			*p = append(*p, scalar(value))
		}
		return nil
	case *ast.MappingNode:
		p, ok := v.Addr().Interface().(*map[string]string)
		if !ok {
			return errors.New("keys, where a value is wanted")
		}
		*p = map[string]string{}
		for _, entry := range n.Values {
			(*p)[scalar(entry.Key)] = scalar(entry.Value)
		}
		return nil
	}
	return setValue(v, scalar(n))
}

// scalar is a value as it was written, without its quotes.
func scalar(n ast.Node) string {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	}
	return n.GetToken().Value
}
