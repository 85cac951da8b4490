package cli

import (
	"os/exec"
	"runtime"
)

// browse opens an address in the user's browser. Others on this machine may see it among the
// processes: it works once, and the browser is the first.
func browse(url string) error {
	name, args := "xdg-open", []string{url}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", url}
	}
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // A browser may stay; whether it liked the address, it says itself.
	return nil
}
