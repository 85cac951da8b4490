package web

import (
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
)

// entrance hands the address of the page to the user's browser by a file that only the user may
// read. The arguments of a process are visible to all users of the machine, and the address has the
// token; so the browser gets the path of a file that leads there.
type entrance struct {
	mu  sync.Mutex
	dir string // with the file in it; empty where there is none
}

// open writes the file and has the browser open it.
func (e *entrance) open(url string) error {
	file, err := e.write(url)
	if err != nil {
		return err
	}
	return browse(file)
}

func (e *entrance) write(url string) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	dir, err := os.MkdirTemp("", "kubectl-sysop-") // 0700
	if err != nil {
		return "", err
	}
	e.dir = dir
	name, to := filepath.Join(dir, "open.html"), html.EscapeString(url)
	// There is no script in it, so that it works in a browser that runs none from files.
	text := fmt.Sprintf(`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer">`+
		`<meta http-equiv="refresh" content="0; url=%s"><title>kubectl sysop ui</title><a href="%s">kubectl sysop ui</a></html>`+"\n", to, to)
	return name, os.WriteFile(name, []byte(text), 0o600)
}

// remove takes the file away: once the page was opened, and in any case at the end.
func (e *entrance) remove() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.dir != "" {
		_ = os.RemoveAll(e.dir) // The token in it is worth nothing afterwards.
		e.dir = ""
	}
}

// browse opens a file in the user's browser.
func browse(file string) error {
	name, args := "xdg-open", []string{file}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", file}
	}
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // A browser may stay; whether it liked the address, it says itself.
	return nil
}
