package regulate

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	sigsjson "sigs.k8s.io/json"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// JournalKind is what a stored journal calls itself, with the apiVersion of manifests.
const JournalKind = "Journal"

const (
	journalKey = "journal.json"
	zippedKey  = "journal.json.gz"
	heldKey    = "held"

	// zipAbove is the size from which the document is compressed. Below it people can read
	// it where it is.
	zipAbove = 256 << 10
	// mostBytes is what an API server takes for the data of a ConfigMap.
	mostBytes = 1 << 20
	// mostUnzipped bounds what is unpacked: what somebody else put there may be anything.
	mostUnzipped = 64 << 20
	// mostHeld bounds the lines for people.
	mostHeld = 100
)

// document is a journal as it is stored.
type document struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	*Journal   `json:",inline"`
}

// encode returns the ConfigMap of a journal: the same bytes for the same journal.
func (s *ConfigMapStore) encode(j *Journal) (*corev1.ConfigMap, error) {
	text, err := json.Marshal(document{APIVersion: system.APIVersion, Kind: JournalKind, Journal: j})
	if err != nil {
		return nil, err
	}
	o := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: system.JournalName(s.system), Namespace: s.namespace, Labels: map[string]string{system.Label: s.system}},
		Data:       map[string]string{heldKey: heldText(j)},
	}
	size := len(text)
	if size > zipAbove {
		if text, err = zipped(text); err != nil {
			return nil, err
		}
		o.BinaryData = map[string][]byte{zippedKey: text}
	} else {
		o.Data[journalKey] = string(text)
	}
	if len(text)+len(o.Data[heldKey]) > mostBytes {
		return nil, fmt.Errorf("it has %d bytes, %d compressed, and a ConfigMap holds %d: %d apps are held, by %d operations; let some go (regulate recover APP), or make two systems of it",
			size, len(text), mostBytes, len(j.Holds), operations(j))
	}
	return o, nil
}

func operations(j *Journal) int {
	n := 0
	for _, h := range j.Holds {
		n += len(h.Operations)
	}
	return n
}

// decode reads a journal. A field that is not known is an error as well: it is of a newer
// version, and would be lost with the next write.
func decode(o *corev1.ConfigMap) (*Journal, error) {
	text, plain := []byte(o.Data[journalKey]), o.Data[journalKey] != ""
	if zip, ok := o.BinaryData[zippedKey]; ok {
		if plain {
			return nil, fmt.Errorf("it has both %s and %s", journalKey, zippedKey)
		}
		var err error
		if text, err = unzipped(zip); err != nil {
			return nil, fmt.Errorf("%s: %w", zippedKey, err)
		}
	} else if !plain {
		return nil, fmt.Errorf("it has no %s", journalKey)
	}
	d := document{Journal: new(Journal)}
	wrong, err := sigsjson.UnmarshalStrict(text, &d) // whole numbers stay whole, as they are in objects
	switch {
	case err != nil:
		return nil, err
	case d.APIVersion != system.APIVersion || d.Kind != JournalKind:
		return nil, fmt.Errorf("it is a %q of %q, not a %s of %s: it is of another version of kubectl sysop", d.Kind, d.APIVersion, JournalKind, system.APIVersion)
	case len(wrong) > 0:
		return nil, fmt.Errorf("%w: it is of a newer version of kubectl sysop", errors.Join(wrong...))
	}
	if err := d.valid(); err != nil {
		return nil, fmt.Errorf("%s: %w", journalKey, err)
	}
	return d.Journal, nil
}

// isShell says that nothing was ever written into it: a first write went no further.
func isShell(o *corev1.ConfigMap) bool { return len(o.Data) == 0 && len(o.BinaryData) == 0 }

func sameData(a, b *corev1.ConfigMap) bool {
	return a.Data[journalKey] == b.Data[journalKey] && bytes.Equal(a.BinaryData[zippedKey], b.BinaryData[zippedKey])
}

func zipped(text []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out) // no name, no time: same text, same bytes
	_, err := w.Write(text)
	err = errors.Join(err, w.Close()) // which writes the rest
	return out.Bytes(), err
}

func unzipped(zip []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(zip))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, mostUnzipped+1))
	if len(text) > mostUnzipped {
		return nil, fmt.Errorf("it has more than %d bytes", mostUnzipped)
	}
	return text, err
}

// heldText says for people who is held, a line an app and signal, and then what was left.
func heldText(j *Journal) string {
	var lines []string
	if len(j.Holds) == 0 {
		lines = append(lines, "nothing is held\n")
	}
	for _, h := range j.Holds {
		why := ""
		if len(h.Causes) > 0 {
			why = ": " + truncated(strings.Join(strings.Fields(h.Causes[0].Why), " "), 200)
		}
		lines = append(lines, fmt.Sprintf("%s %s since %s (%s)%s\n", h.App, h.Signal, h.At.UTC().Format(time.RFC3339), h.Phase, why))
	}
	slices.Sort(lines)
	for _, h := range j.Left {
		lines = append(lines, fmt.Sprintf("%s %s left: %s\n", h.App, h.Signal, truncated(leftText(h), 200)))
	}
	if more := len(lines) - mostHeld; more > 0 {
		lines = append(lines[:mostHeld], fmt.Sprintf("and %d more\n", more))
	}
	return strings.Join(lines, "")
}

// truncated returns at most n bytes of s, whole runes, and says by three dots that it was cut.
func truncated(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	const dots = "..."
	end := 0
	for i := range s {
		if i > n-len(dots) {
			break
		}
		end = i
	}
	return s[:end] + dots
}
