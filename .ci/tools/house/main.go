// Command house counts what a change may not let grow: lines of code by package,
// without comments and blanks, structs of many fields, long lines and exported names.
//
//	go run .ci/tools/house/main.go [DIR]
//
// It fails where a line is over 120 columns or a struct is over 20 fields.
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

const maxFields, maxColumns = 20, 120

type counts struct{ code, tests, exported int }

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	byPackage, sum, bad := map[string]*counts{}, &counts{}, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != root) {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dir := filepath.Dir(path)
		if byPackage[dir] == nil {
			byPackage[dir] = &counts{}
		}
		lines := linesOf(src)
		n := byPackage[dir]
		if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testkit") {
			n.tests, sum.tests = n.tests+lines, sum.tests+lines
			return nil
		}
		n.code, sum.code = n.code+lines, sum.code+lines
		for i, line := range bytes.Split(src, []byte("\n")) {
			if columns := utf8.RuneCount(bytes.ReplaceAll(line, []byte("\t"), []byte("    "))); columns > maxColumns {
				bad++
				fmt.Printf("%s:%d: %d columns\n", path, i+1, columns)
			}
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, src, 0)
		if err != nil {
			return err
		}
		e, b := declared(file)
		n.exported, sum.exported, bad = n.exported+e, sum.exported+e, bad+b
		return nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%7s %7s %7s  package\n", "code", "tests", "names")
	var dirs []string
	for dir := range byPackage {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	for _, dir := range append(dirs, "all") {
		n := byPackage[dir]
		if dir == "all" {
			n = sum
		}
		fmt.Printf("%7d %7d %7d  %s\n", n.code, n.tests, n.exported, dir)
	}
	if bad > 0 {
		os.Exit(1)
	}
}

// linesOf counts the lines on which a token stands.
func linesOf(src []byte) int {
	var s scanner.Scanner
	set := token.NewFileSet()
	file := set.AddFile("", set.Base(), len(src))
	s.Init(file, src, nil, 0)
	on := map[int]bool{}
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return len(on)
		}
		if tok == token.SEMICOLON && text == "\n" {
			continue
		}
		for i := range strings.Count(text, "\n") + 1 {
			on[file.Line(pos)+i] = true
		}
	}
}

// declared counts the exported names of a file and its structs of too many fields.
func declared(file *ast.File) (exported, bad int) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || isExportedType(d.Recv.List[0].Type)) {
				exported++
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				t, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				if t.Name.IsExported() {
					exported++
				}
				s, ok := t.Type.(*ast.StructType)
				if !ok {
					continue
				}
				if fields := s.Fields.NumFields(); fields > maxFields {
					bad++
					fmt.Printf("%s.%s has %d fields\n", file.Name.Name, t.Name.Name, fields)
				}
			}
		}
	}
	return exported, bad
}

// isExportedType says whether a receiver's type has a name that others can use.
func isExportedType(t ast.Expr) bool {
	switch t := t.(type) {
	case *ast.StarExpr:
		return isExportedType(t.X)
	case *ast.IndexExpr: // of a generic type
		return isExportedType(t.X)
	case *ast.IndexListExpr:
		return isExportedType(t.X)
	case *ast.Ident:
		return t.IsExported()
	}
	return true
}
