package cli

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"curtsy/internal/legible"
	"curtsy/internal/near"
)

func noUnknownCommand(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(c, args[0])
	}
	return nil
}

// unknownCommand suggests the command that was probably meant.
func unknownCommand(root *cobra.Command, word string) error {
	var names []string
	for _, c := range visibleCommands(root) {
		names = append(names, c.Name())
	}
	if meant := near.Name(word, names); meant != "" {
		return usagef(root.CommandPath()+" "+meant, "unknown command %q; did you mean %s?", word, meant)
	}
	return usagef(root.CommandPath()+" --help", "unknown command %q", word)
}

// arguments checks the arguments against the use line of a command. Names in brackets are
// optional; "NAME..." may be repeated.
func arguments(use string) cobra.PositionalArgs {
	names := strings.Fields(strings.ReplaceAll(use, "...", ""))[1:]
	repeated, least := strings.HasSuffix(use, "..."), len(names)
	for i, name := range names {
		if strings.HasPrefix(name, "[") {
			least = min(least, i)
		}
		names[i] = strings.ReplaceAll(name, "|", " or ")
	}
	return func(c *cobra.Command, args []string) error {
		path, needed := c.CommandPath(), slices.Clone(names[:least])
		switch {
		case len(args) >= least && (len(args) <= len(names) || repeated):
			return noURLs(c, names, args)
		case least == 0:
			return usagef(path+" --help", "%s accepts no arguments, not %d", path, len(args))
		case repeated:
			needed[least-1] = "at least one " + needed[least-1]
			return usagef(path+" --help", "%s accepts %s", path, strings.Join(needed, " and "))
		}
		return usagef(path+" --help", "%s accepts %s, %s, not %s", path, legible.Count(least, "argument"),
			strings.Join(needed, " and "), none(len(args)))
	}
}

// noURLs rejects a URL in place of an archive directory.
func noURLs(c *cobra.Command, names, args []string) error {
	for i, arg := range args {
		_, host, isURL := strings.Cut(arg, "://")
		name := names[min(i, len(names)-1)]
		if !isURL || !strings.HasPrefix(name, "DIR") || strings.HasSuffix(name, "URL") {
			continue
		}
		host, _, _ = strings.Cut(host, "/")
		return usagef(c.CommandPath()+" "+quoted(host),
			"%s is a URL; %s expects an archive directory, by default named after the host", arg, c.CommandPath())
	}
	return nil
}

// flagError explains an error in a flag.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(c, unknown)
	case errors.As(err, &invalid):
		return invalidValue(invalid)
	}
	return usagef(c.CommandPath()+" --help", "%v", err)
}

func unknownFlag(c *cobra.Command, unknown *pflag.NotExistError) error {
	word, err := unknown.GetSpecifiedName(), error(unknown)
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	written := "-" + strings.Repeat("-", min(len(word)-1, 1)) + word
	if cluster := unknown.GetSpecifiedShortnames(); cluster != "" {
		written = "-" + word
		if othersFlags()[cluster] != "" {
			word, written = cluster, "-"+cluster
		}
	}
	if err := ownWay(c, word, written); err != nil {
		return err
	}
	if meant := near.Name(word, names); meant != "" && len(word) > 1 {
		return usagef("--"+meant, "unknown flag: %s; did you mean --%s?", written, meant)
	}
	return usagef(c.CommandPath()+" --help", "%v", err)
}

// ownWay says how a command does what a flag of another program does: by a flag, an argument,
// or its output; otherwise it names the flag of crawl.
func ownWay(c *cobra.Command, word, written string) error {
	ways := strings.Fields(othersFlags()[word])
	crawl, _, _ := c.Root().Find([]string{"crawl"})
	for _, way := range ways {
		switch f := c.Flags().Lookup(way); {
		case f != nil && !f.Hidden:
			return usagef("--"+way, "unknown flag: %s; curtsy calls it --%s", written, way)
		case way == "OUT" && slices.Contains(strings.Fields(c.Use), way):
			return usagef("curtsy "+c.Use, "unknown flag: %s; for %s it is the argument OUT", written, c.CommandPath())
		case way == "stdout" && c.Flags().Lookup("json") != nil:
			return usagef("curtsy "+c.Use+" >FILE", "unknown flag: %s; %s prints to standard output", written,
				c.CommandPath())
		case crawl.Flags().Lookup(way) != nil && way == ways[len(ways)-1]:
			return usagef("curtsy crawl --help", "unknown flag: %s; it is --%s of curtsy crawl", written, way)
		}
	}
	return nil
}

// othersFlags maps flags of wget, wget2, HTTrack, curl and common tools to the equivalent flags
// here. The first that a command has is used; OUT is the argument of that name.
var othersFlags = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(othersFile) {
		ours, theirs, _ := strings.Cut(line, ":")
		for flag := range strings.FieldsSeq(theirs) {
			all[flag] = ours
		}
	}
	return all
})

//go:embed othersflags.txt
var othersFile string

// invalidValue says what value a flag expects.
func invalidValue(err *pflag.InvalidValueError) error {
	f, value := err.GetFlag(), err.GetValue()
	name := "--" + f.Name
	_, notNumber := strconv.ParseFloat(value, 64)
	switch kind := f.Value.Type(); {
	case kind == "duration" && notNumber == nil:
		return usagef(fmt.Sprintf("%s %ss, or %s %sms", name, value, name, value),
			"invalid argument %q for %s: a duration has a unit; write 5s or 500ms", value, name)
	case kind == "duration":
		return usagef(name+" 5s", "invalid argument %q for %s: not a duration; write 5s, 500ms or 1h30m", value, name)
	case kind == "int":
		return usagef(name+" 100", "invalid argument %q for %s: want a whole number", value, name)
	case kind == "bool":
		return usagef(name+", or "+name+"=false", "invalid argument %q for %s: want true or false", value, name)
	case kind == "bytes":
		return usagef(name+" 500MB", "invalid argument for %s: %v", name, err.Unwrap())
	}
	return usagef("curtsy help COMMAND, which explains what "+name+" wants", "invalid argument %q for %s: %v", value,
		name, err.Unwrap())
}

// globbed matches globs given where a regular expression is expected.
var globbed = regexp.MustCompile(`^[*?]|[/.][*?]|\*[./]`)

// patternError explains an invalid regular expression, and converts a glob to one.
func patternError(key, pattern string, err error) error {
	if globbed.MatchString(pattern) {
		re := globExpression(pattern)
		return usagef(quoted(re), "%s: %q is a glob, but a regular expression is expected: %s", key, pattern, re)
	}
	return usagef("an RE2 regular expression such as '^https://site/docs/'", "%s: %v", key, err)
}

// globExpression converts a glob to a regular expression.
func globExpression(glob string) string {
	re := strings.NewReplacer(`\*\*`, ".*", `\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(glob))
	return strings.TrimPrefix(re, ".*") + "$"
}
