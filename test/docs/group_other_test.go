//go:build !unix

package docs

import "os"

// endGroup ends a process.
func endGroup(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}
