package release

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// ReadChecksums reads the output of sha256sum: sums in lower-case hexadecimal by file name. A line
// of another form, and a duplicate name, are errors.
func ReadChecksums(path string) (map[string]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	line := regexp.MustCompile(`^([0-9a-f]{64}) [ *]([^/\\]+)$`)
	sums := map[string]string{}
	scanner := bufio.NewScanner(bytes.NewReader(b))
	for n := 1; scanner.Scan(); n++ {
		m := line.FindStringSubmatch(scanner.Text())
		switch {
		case m == nil:
			return nil, fmt.Errorf("%s:%d: %q: expected a sum of 64 lower-case hexadecimal digits, two spaces and the name of a file", path, n, scanner.Text())
		case sums[m[2]] != "":
			return nil, fmt.Errorf("%s:%d: %s occurs twice", path, n, m[2])
		}
		sums[m[2]] = m[1]
	}
	return sums, scanner.Err()
}

// WriteChecksums writes the sums as sha256sum does, ordered by name.
func WriteChecksums(path string, artifacts []Artifact) error {
	var text strings.Builder
	for _, a := range slices.SortedFunc(slices.Values(artifacts), byName) {
		fmt.Fprintf(&text, "%s  %s\n", a.SHA256, a.Name)
	}
	return os.WriteFile(path, []byte(text.String()), 0o644)
}

func byName(a, b Artifact) int { return cmp.Compare(a.Name, b.Name) }

func sumFile(path string) (sum string, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), size, err
}
