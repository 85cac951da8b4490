package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

const (
	changelog = "CHANGELOG.md"
	// heading is that under which the section on top tells programs what breaks.
	heading = "### Changed in the library"
)

// announced says whether the section on top of the changelog tells of breaks: it has the
// heading, and something below it. Without a changelog nothing is announced.
func announced(top string) (bool, error) {
	text, err := os.ReadFile(filepath.Join(top, changelog))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	sections, below := 0, false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "## "):
			if sections++; sections > 1 {
				return false, nil
			}
		case strings.HasPrefix(line, "### "):
			below = sections == 1 && line == heading
		case below && line != "":
			return true, nil
		}
	}
	return false, nil
}
