// Package pdf extracts the text of PDF documents. Hostile documents make readers loop, unpack
// bombs and panic, so each document is read in a child process with limits on time, memory and
// output.
//
//	text.go   in the child: Main reads a document and writes its text
//	child.go  in the program: Reader starts a child for each document
package pdf

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/ledongthuc/pdf"
)

// Limits of one document.
const (
	MaxSize  = 32 << 20  // octets of the document
	maxText  = 1 << 20   // octets of its text
	maxPages = 5000      // pages read
	maxHeap  = 256 << 20 // octets of memory beyond what the process starts with
	maxStack = 32 << 20
	maxCPU   = 10 // seconds
)

// Main runs the child: it reads a document and writes the text of its pages, each followed by a
// form feed. args[0] is the limit of processor time in seconds; messages on why are for people.
func Main(args []string, in io.Reader, out, why io.Writer) (code int) {
	cpu := uint64(maxCPU)
	if len(args) > 0 {
		cpu, _ = strconv.ParseUint(args[0], 10, 64)
	}
	debug.SetMaxStack(maxStack)
	debug.SetMemoryLimit(maxHeap / 2)
	go watch(time.Duration(cpu) * 3 * time.Second)
	if err := limit(cpu); err != nil {
		fmt.Fprintln(why, err)
		return 1
	}
	body, err := io.ReadAll(io.LimitReader(in, MaxSize+1))
	if err == nil {
		err = write(out, body)
	}
	if err != nil {
		fmt.Fprintln(why, err)
		return 1
	}
	return 0
}

// watch ends the process at its limits of wall-clock time and memory, for systems where limit
// does nothing or allows more. The exit code is that of a fatal error of Go's runtime.
func watch(most time.Duration) {
	began := time.Now()
	for range time.Tick(20 * time.Millisecond) {
		var m runtime.MemStats
		if runtime.ReadMemStats(&m); m.Sys > maxHeap || time.Since(began) > most {
			os.Exit(2)
		}
	}
}

// write writes the text of a document. The PDF reader panics on unexpected input.
func write(out io.Writer, body []byte) (err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("malformed: %v", e)
		}
	}()
	r, err := pdf.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return err
	}
	size, w := 0, bufio.NewWriter(out)
	for n := 1; n <= min(r.NumPage(), maxPages) && size < maxText; n++ {
		text, failed := pageText(r, n)
		if failed != nil {
			err = fmt.Errorf("page %d: %w", n, failed)
			continue
		}
		text = strings.ToValidUTF8(text[:min(len(text), maxText-size)], " ")
		size += len(text)
		if _, err := w.WriteString(strings.ReplaceAll(text, "\f", " ") + "\f"); err != nil {
			return err
		}
		if err := w.Flush(); err != nil { // keep what was read if a later page fails
			return err
		}
	}
	return err
}

// pageText returns the text of one page. A panic affects this page only.
func pageText(r *pdf.Reader, n int) (text string, err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("malformed: %v", e)
		}
	}()
	p := r.Page(n)
	if p.V.IsNull() {
		return "", nil
	}
	return p.GetPlainText(nil)
}
