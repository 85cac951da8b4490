// Command tiny prints its version, with nothing but the runtime: it compiles in seconds.
package main

import "example.org/tiny/internal/cli"

func main() { println("tiny", cli.Version) }
