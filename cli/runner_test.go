package cli

import (
	"encoding/gob"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// Starting the program takes longer than most commands of a script. So each script has one
// process, which runs the commands one after the other, each with its own directory and
// environment. "exec curtsy" starts a separate process, for what depends on a pipe, a signal or
// the end of the process.

// runnerCommand is the argument that makes the test binary that process.
const runnerCommand = "run-commands-of-a-script"

// Commands as typed in a script, and their results.
type (
	typed struct {
		Args  []string
		Dir   string
		Env   []string
		Stdin string
	}
	ran struct {
		Code           int
		Stdout, Stderr string
	}
)

// runCommands runs the commands that it reads from in until in ends.
func runCommands(in io.Reader, out io.Writer) {
	commands, results := gob.NewDecoder(in), gob.NewEncoder(out)
	for {
		var c typed
		if err := commands.Decode(&c); err == io.EOF {
			return
		} else if err != nil {
			panic(err)
		}
		if err := errors.Join(os.Chdir(c.Dir), results.Encode(c.run())); err != nil {
			panic(err)
		}
	}
}

func (c *typed) run() (r ran) {
	os.Clearenv()
	for _, pair := range c.Env {
		name, value, _ := strings.Cut(pair, "=")
		os.Setenv(name, value)
	}
	var stdout, stderr strings.Builder
	// An empty slice, not nil: given nil, cobra takes the arguments of the process.
	r.Code = Main(append([]string{}, c.Args...), strings.NewReader(c.Stdin), &stdout, &stderr)
	r.Stdout, r.Stderr = stdout.String(), stderr.String()
	return r
}

// runner is the process of one script.
type runner struct {
	commands *gob.Encoder
	results  *gob.Decoder
	stderr   strings.Builder // the output of a panic
	wait     func() error
	names    []string // environment variables of the script
}

// runners has the runners of running scripts by their directories.
var runners sync.Map

var setVariable = regexp.MustCompile(`\b([A-Z][A-Z0-9_]*)=`)

// runCurtsy runs "curtsy ARG... [<FILE]" in the process of the script. The next commands of the
// script see its stdout and stderr.
func runCurtsy(ts *testscript.TestScript, args []string) ran {
	if args[0] != "curtsy" {
		ts.Fatalf("%s is not curtsy", args[0])
	}
	p := runnerOf(ts)
	c := typed{Args: args[1:], Dir: ts.MkAbs(".")}
	if last := len(c.Args) - 1; last >= 0 && strings.HasPrefix(c.Args[last], "<") {
		c.Stdin, c.Args = ts.ReadFile(c.Args[last][1:]), c.Args[:last]
	}
	for _, name := range p.names {
		if v := ts.Getenv(name); v != "" {
			c.Env = append(c.Env, name+"="+v)
		}
	}
	var r ran
	if err := errors.Join(p.commands.Encode(c), p.results.Decode(&r)); err != nil {
		ts.Fatalf("curtsy %q ended the process: %v, %v\n%s", c.Args, err, p.wait(), p.stderr.String())
	}
	_, _ = io.WriteString(ts.Stdout(), r.Stdout)
	_, _ = io.WriteString(ts.Stderr(), r.Stderr)
	return r
}

// runnerOf finds or starts the process of a script.
func runnerOf(ts *testscript.TestScript) *runner {
	if p, ok := runners.Load(ts.Getenv("WORK")); ok {
		return p.(*runner)
	}
	self, err := os.Executable()
	ts.Check(err)
	script, err := os.ReadFile(filepath.Join("testdata", ts.Name()+".txtar"))
	ts.Check(err)
	p := &runner{names: []string{"HOME", "PATH", "TMPDIR", "WORK", "GOCOVERDIR", "CURTSY_POLITENESS_USAGE_FILES"}}
	for _, m := range setVariable.FindAllStringSubmatch(string(script), -1) {
		p.names = append(p.names, m[1])
	}
	cmd := exec.Command(self, runnerCommand)
	cmd.Stderr, p.wait = &p.stderr, sync.OnceValue(cmd.Wait)
	in, err := cmd.StdinPipe()
	ts.Check(err)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	p.commands, p.results = gob.NewEncoder(in), gob.NewDecoder(out)
	ts.Check(cmd.Start())
	runners.Store(ts.Getenv("WORK"), p)
	ts.Defer(func() { in.Close(); _ = p.wait() })
	return p
}
