package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

const (
	changelog = "CHANGELOG.md"
	// heading is the heading of breaking changes in the top section.
	heading = "### Changed in the library"
)

// announced reports whether the top section of the changelog announces breaking changes: it has the
// heading, with content. Without a changelog nothing is announced.
func announced(top string) (bool, error) {
	text, err := os.ReadFile(filepath.Join(top, changelog))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	sections, content := 0, false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "## "):
			if sections++; sections > 1 {
				return false, nil
			}
		case strings.HasPrefix(line, "### "):
			content = sections == 1 && line == heading
		case content && line != "":
			return true, nil
		}
	}
	return false, nil
}
