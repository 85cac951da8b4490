package source

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/lazyregexp"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// toJSON reads YAML as kubectl apply does: YAML 1.1 with the restrictions of Kubernetes, and
// duplicate fields are errors. The growth by aliases is charged to grows.
func toJSON(doc []byte, grows *strict.Growth) ([]byte, error) {
	if err := checkDensity(doc); err != nil {
		return nil, err
	}
	if mayAlias(doc) {
		var root yamlv3.Node
		if err := yamlv3.Unmarshal(doc, &root); err != nil {
			return nil, err
		}
		if err := grows.Take(&root); err != nil {
			return nil, err
		}
	}
	if bytes.Contains(doc, []byte("<<")) {
		// In strict mode the parser reports a field that overrides a merged one as a duplicate.
		return yaml.YAMLToJSON(doc)
	}
	return yaml.YAMLToJSONStrict(doc)
}

// trailing reports content after the first node of a document, which is all that the parser reads.
// A block at the start of its lines cannot be followed by anything.
func trailing(doc []byte) error {
	for line := range bytes.Lines(doc) {
		if !speaks(line) {
			continue
		}
		if strings.IndexByte(" \t{[\"'|>&!*", line[0]) < 0 {
			return nil
		}
		break
	}
	var node yamlv3.Node
	dec := yamlv3.NewDecoder(bytes.NewReader(doc))
	for {
		switch err := dec.Decode(&node); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// growth returns the limit of what aliases may add to a stream: a dump that repeats values by
// aliases stays close to the size of its text.
func growth(stream []byte) *strict.Growth {
	return &strict.Growth{Left: max(strict.MaxGrowth, len(stream))}
}

// checkDensity refuses a large document that consists mostly of indicators: its nodes would take a
// hundred times its size. Objects have one in nine bytes.
func checkDensity(doc []byte) error {
	if len(doc) <= strict.MaxNodes {
		return nil
	}
	if n := strict.CountNodes(doc); n > max(strict.MaxNodes, len(doc)/4) {
		return fmt.Errorf("it has about %d nodes (keys, values, items) in %d bytes: too many for objects", n, len(doc))
	}
	return nil
}

// mayAlias reports whether a document may have an alias; dumps rarely have anything like it. Blanks
// and breaks before one may be those of Unicode, or zeros of UTF-16.
func mayAlias(doc []byte) bool {
	for at := 0; ; at++ {
		n := bytes.IndexByte(doc[at:], '*')
		if n < 0 {
			return false
		}
		at += n
		if at+1 < len(doc) && (at == 0 || doc[at-1] <= ' ' || doc[at-1] >= 0x80 || strings.IndexByte("[{,:", doc[at-1]) >= 0) && strings.IndexByte(" \t\r\n*/,]}", doc[at+1]) < 0 {
			return true
		}
	}
}

var yamlLine = lazyregexp.New(`\bline (\d+): ?`)

// yamlError returns an error in YAML with its line in the file.
func yamlError(at Position, err error) error {
	msg := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	msg = strings.TrimPrefix(strings.TrimPrefix(msg, "yaml: "), "unmarshal errors:")
	msg, _, _ = strings.Cut(strings.TrimSpace(msg), "\n")
	end := false // the error is at the end
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		n, _ := strconv.Atoi(m[1])
		// The parser counts from 0 and the scanner, and the later steps, from 1.
		if strings.Contains(msg, "did not find expected") && !strings.Contains(msg, "expected ':'") {
			n++
		}
		lines := bytes.Count(bytes.TrimRight(at.text.bytes, "\r\n"), []byte("\n")) + 1
		end = n > lines
		at.Line += min(max(n, 1), lines) - 1
		msg = yamlLine.ReplaceAllString(msg, "")
	}
	if end || strings.Contains(msg, "found unexpected end of stream") {
		return fmt.Errorf("%s: incomplete: %s", at, msg)
	}
	return fmt.Errorf("%s: not YAML: %s", at, cmp.Or(msg, "no reason given"))
}
