// Command cachedir prints the cache directory of the project: tools and the control plane for
// tests.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	dir, err := os.UserCacheDir()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(filepath.Join(dir, "kubectl-sysop"))
}
