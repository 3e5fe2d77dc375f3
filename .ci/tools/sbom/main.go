// Command sbom writes the modules that a Go program was built from as a
// CycloneDX 1.6 document. It reads what "go version -m -json" prints.
package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"runtime/debug"
	"strings"
)

type document struct {
	Format     string      `json:"bomFormat"`
	Version    string      `json:"specVersion"`
	Serial     int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	PURL       string     `json:"purl,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Alg     string `json:"alg"`
	Content string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func main() {
	var info debug.BuildInfo
	if err := json.NewDecoder(os.Stdin).Decode(&info); err != nil {
		os.Stderr.WriteString("sbom: " + err.Error() + "\n")
		os.Exit(1)
	}
	e := json.NewEncoder(os.Stdout)
	e.SetIndent("", "  ")
	if err := e.Encode(of(&info)); err != nil {
		os.Exit(1)
	}
}

func of(info *debug.BuildInfo) document {
	main := component{Type: "application", Ref: info.Path, Name: info.Path, Version: info.Main.Version}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			main.Properties = append(main.Properties, property{s.Key, s.Value})
		}
	}
	d := document{Format: "CycloneDX", Version: "1.6", Serial: 1, Metadata: metadata{main}}
	std := strings.TrimPrefix(info.GoVersion, "go")
	d.Components = append(d.Components, component{Type: "library", Ref: "pkg:golang/std@" + std, Name: "std", Version: std, PURL: "pkg:golang/std@" + std})
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		purl := "pkg:golang/" + m.Path + "@" + m.Version
		c := component{Type: "library", Ref: purl, Name: m.Path, Version: m.Version, PURL: purl}
		if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(sum) == 32 {
			c.Hashes = []hash{{"SHA-256", hex.EncodeToString(sum)}}
		}
		d.Components = append(d.Components, c)
	}
	return d
}
