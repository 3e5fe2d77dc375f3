//go:build unix

package hostile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"curtsy/frontier/judge"
	"curtsy/internal/testkit/hostile"
)

// TestTable writes docs/hostile.md: each attack against the built program,
// and against wget2 and HTTrack where they are installed. It takes a while:
//
//	HOSTILE_TABLE=../../../docs/hostile.md go test ./internal/testkit/hostile -run TestTable -timeout 60m
func TestTable(t *testing.T) {
	path := os.Getenv("HOSTILE_TABLE")
	if path == "" {
		t.Skip("set HOSTILE_TABLE to the file to write")
	}
	dir := t.TempDir()
	bin := filepath.Join(dir, "curtsy")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", bin, "curtsy").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	config := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(config, []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	_, noPeers := os.LookupEnv("HOSTILE_NO_PEERS")
	var b bytes.Buffer
	b.WriteString(preface)
	line := 0
	attacks, results := map[string][]string{}, []string{} // of a section: attacks by their result
	section := func() {
		for _, result := range results {
			fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(attacks[result], "; "), result)
		}
		attacks, results = map[string][]string{}, nil
	}
	for _, f := range hostile.List() {
		if only := os.Getenv("HOSTILE_ONLY"); only != "" && only != f.Name {
			continue
		}
		if f.Line != line {
			section()
			line = f.Line
			fmt.Fprintf(&b, "| **%d. %s** | | |\n", line, hostile.Lines[line])
		}
		c := curtsy(t, f, bin, config)
		var ends []string
		for i, peer := range peers {
			if noPeers {
				break
			}
			if end := peer(t, f).end(); end != "" {
				ends = append(ends, []string{"wget2 ", "HTTrack "}[i]+end)
			}
		}
		came := strings.Trim(c.said+"; "+c.figures(), "; ")
		result := strings.ReplaceAll(came, "|", "\\|") + " | " + strings.Join(ends, ", ")
		if attacks[result] == nil {
			results = append(results, result)
		}
		attacks[result] = append(attacks[result], strings.ReplaceAll(f.Attack, "|", "\\|"))
		t.Logf("%s: %s", f.Name, result)
	}
	section()
	b.WriteString(after)
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

const preface = `# Hostile sites

What a hostile server can do, and what Curtsy does then. Written by the tests (November 2026):

` + "```" + `
HOSTILE_TABLE=../../../docs/hostile.md go test ./internal/testkit/hostile -run TestTable -timeout 60m
` + "```" + `

Each line is a server on loopback with one attack and a good page behind it ([internal/testkit/hostile](../internal/testkit/hostile)), crawled by the built program with timeouts of a second, 5 s for one response, bodies cut at 64 MB, one retry and no delay. Every test run holds each line against what it must say, and all of them against each other on one server.

*Curtsy* is what it says of URLs that failed or were skipped, by reason, and time and peak memory from a second or 50 MB on; nothing where all was fetched. *Others* are wget2 and HTTrack with the same timeouts, where they did not end well: **lost** means that the good page was not fetched, **killed** that the program had not ended after 6 s (HTTrack: 15 s), **crashed** that it wanted more than 3 GB of memory or a file of more than 1 GB.

What a site's names and the machine itself can do is in [faults.md](faults.md).

| attack | Curtsy | others |
|---|---|---|
`

// after is the text of the page after its table.
const after = `
Of section 5: an answer that nobody asked for ends its connection, and the origin gets no kept connections from then on; what it answered on one is discarded and asked for again. A kept connection is watched for 20 to 250 ms the first four times that it is used again within 100 ms; a server that begins later can have a wrong answer stay until the surplus is seen. With a ` + "`delay`" + ` of 1 s it cannot (` + "`go test ./crawler/fetch -run Unasked`" + `).
`

const settings = `delay: 0s
concurrency: 2
politeness: {max_failures: 1000, max_retry_after: 1s}
fetch: {connect_timeout: 1s, head_timeout: 1s, idle_timeout: 1s, total_timeout: 5s, max_body: 64MB, retries: 1, retry_base: 10ms}
`

// measured is the result of one program for one fixture.
type measured struct {
	took   time.Duration
	memory int64 // octets at the peak
	lost   bool
	killed bool
	exit   int
	said   string
	none   bool
}

// figures formats the resources that a program used, and end how it ended unless it ended well.
func (m measured) figures() string {
	if m.took < time.Second && m.memory < 50<<20 {
		return m.end()
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f s, %d MB, %s", m.took.Seconds(), m.memory>>20, m.end()), ", ")
}

func (m measured) end() string {
	var list []string
	switch {
	case m.none:
		return "–"
	case m.killed:
		list = append(list, "**killed**")
	case m.exit < 0 || m.exit > 128:
		list = append(list, "**crashed**")
	}
	if m.lost {
		list = append(list, "**lost**")
	}
	return strings.Join(list, ", ")
}

// measure runs a command against the server of a fixture, with a time limit.
func measure(t *testing.T, f *hostile.Fixture, most time.Duration,
	command func(origin, dir string) *exec.Cmd) (measured, string) {
	t.Helper()
	s, err := hostile.Start("127.0.0.1:0", f)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dir := t.TempDir()
	cmd := command(s.Origin, dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Dir = dir
	ctx, cancel := context.WithTimeout(t.Context(), most)
	defer cancel()
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return measured{none: true}, dir
	}
	stop := context.AfterFunc(ctx, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	ended := make(chan struct{})
	peak := make(chan int64)
	go func() { peak <- peakOf(cmd.Process.Pid, ended) }()
	cmd.Wait()
	close(ended)
	m := measured{took: time.Since(began), killed: !stop(), exit: cmd.ProcessState.ExitCode(), memory: <-peak}
	requests := s.Requests()
	m.lost = f.Exit == 0 && requests["/last"] == 0
	return m, dir
}

// peakOf samples the peak memory of a process. (The rusage of wait includes the memory of the
// process that forked it.)
func peakOf(pid int, ended chan struct{}) (most int64) {
	for {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if _, rest, ok := strings.Cut(string(b), "VmHWM:"); ok {
			var kb int64
			fmt.Sscan(rest, &kb)
			most = max(most, kb<<10)
		}
		select {
		case <-ended:
			return most
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// curtsy crawls a fixture and returns the reasons that status gives.
func curtsy(t *testing.T, f *hostile.Fixture, bin, config string) measured {
	t.Helper()
	m, dir := measure(t, f, 60*time.Second, func(origin, dir string) *exec.Cmd {
		cmd := exec.Command(bin, "crawl", origin+"/", "--archive", filepath.Join(dir, "archive"), "--config", config)
		cmd.Env = append(os.Environ(), fmt.Sprintf("CURTSY_FETCH_COOKIES=%t", f.Cookies))
		if f.Requisites {
			cmd.Env = append(cmd.Env, "CURTSY_SCOPE_REQUISITES=any")
		}
		return cmd
	})
	if m.exit != f.Exit || m.killed || m.memory > 200<<20 {
		t.Errorf("%s: exit %d, want %d; %s", f.Name, m.exit, f.Exit, m.figures())
	}
	out, err := exec.Command(bin, "status", filepath.Join(dir, "archive"), "--json").Output()
	var status struct {
		Why     string
		Reasons []judge.Count
	}
	if err == nil {
		err = json.Unmarshal(out, &status)
	}
	if err != nil {
		t.Errorf("%s: status: %v", f.Name, err)
	}
	var said []string
	for _, r := range status.Reasons {
		if slices.Contains(judge.InVain, r.Rule) {
			continue // the same for every site here
		}
		short, _, _ := strings.Cut(r.String(), " (")
		short = strings.ReplaceAll(short, ": unavailable: ", " unavailable, ")
		short = strings.ReplaceAll(short, "scope: another scheme, host or port", "another origin")
		if len(short) > 60 {
			short = short[:60] + "…"
		}
		said = append(said, fmt.Sprintf("%d %s", r.Count, short))
	}
	if f.Exit != 0 {
		said = append([]string{fmt.Sprintf("exit %d", f.Exit)}, append(said, status.Why)...)
	}
	if m.said = anonymous(strings.Join(said, "; ")); len(m.said) > 100 {
		m.said = m.said[:100] + "…"
	}
	return m
}

// anonymous removes the address of the server, whose port differs between runs.
func anonymous(s string) string {
	return strings.ReplaceAll(ports.ReplaceAllString(s, "$1:PORT"), "http://127.0.0.1:PORT", "")
}

var ports = regexp.MustCompile(`([0-9]|\]|localhost):[0-9]{4,5}\b`)

// peers are run with limits on memory and file size, so that an attack on them does not harm
// the machine.
var peers = []func(t *testing.T, f *hostile.Fixture) measured{
	func(t *testing.T, f *hostile.Fixture) measured {
		m, _ := measure(t, f, 6*time.Second, func(origin, dir string) *exec.Cmd {
			return bounded("wget2 -q -r -l inf -T 1 --tries=1 --max-threads=2 -P . "+cookies(f.Cookies, "",
				"--no-cookies"), origin+"/")
		})
		return m
	},
	func(t *testing.T, f *hostile.Fixture) measured {
		m, _ := measure(t, f, 15*time.Second, func(origin, dir string) *exec.Cmd {
			return bounded("httrack -q -O . -c2 -T1 -R0 -s2 -A100000000 -%c100 --disable-security-limits "+
				cookies(f.Cookies, "-b1", "-b0"), origin+"/")
		})
		return m
	},
}

func cookies(on bool, with, without string) string {
	if on {
		return with
	}
	return without
}

func bounded(command, url string) *exec.Cmd {
	return exec.Command("bash", "-c", "command -v ${1%% *} >/dev/null || exit 127; ulimit -v 3000000 -f 1000000; exec $1 \"$2\" >/dev/null 2>&1 </dev/null", "bounded", command, url)
}
