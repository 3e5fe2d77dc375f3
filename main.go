// Command curtsy crawls one site the way its owner asked.
package main

import (
	"os"

	"curtsy/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
