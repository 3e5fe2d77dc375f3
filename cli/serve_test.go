package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

func TestServeAnswersAndEnds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "site")
	if code := Main([]string{"demo", "--keep", dir}, strings.NewReader(""), io.Discard, io.Discard); code != 0 {
		t.Fatalf("demo ended with %d", code)
	}
	r, w := io.Pipe()
	defer r.Close()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	var said bytes.Buffer
	go func() {
		ended <- serve(ctx, &ui{out: &dataWriter{w: w}, err: &said}, &serveFlags{listen: "127.0.0.1:0"}, []string{dir})
	}()
	line, err := bufio.NewReader(r).ReadString('\n')
	at, ok := strings.CutPrefix(strings.TrimSpace(line), "serving "+dir+" at ")
	if err != nil || !ok || !strings.HasPrefix(at, "http://127.0.0.1:") || !strings.HasSuffix(at, "/") {
		t.Fatalf("%v: %q", err, line)
	}
	resp, err := http.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || resp.StatusCode != 200 || !strings.Contains(string(body), "Open the start page") {
		t.Errorf("%v: %d %s", err, resp.StatusCode, body)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("ended with %v; %s", err, said.String())
	}
}
