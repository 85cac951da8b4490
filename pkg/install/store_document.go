package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

const (
	// JournalKind is what a stored journal calls itself.
	JournalKind = "InstallJournal"
	// journalVersion is of its form.
	journalVersion = "sysop.dev/v1alpha1"

	journalKey = "journal.json"
	zippedKey  = "journal.json.gz"
	// zipAbove is the size from which the document is compressed. Below it people can read it
	// where it is.
	zipAbove = 128 << 10
	// mostBytes is what an API server takes for the data of a ConfigMap, less what goes around it.
	mostBytes = 1000 << 10
	// mostPast is how many runs that ended are remembered.
	mostPast = 10
)

type document struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	*Journal   `json:",inline"`
}

// encodeJournal returns the ConfigMap of a journal: the same bytes for the same journal.
func encodeJournal(j *Journal) (*corev1.ConfigMap, error) {
	text, err := json.Marshal(document{APIVersion: journalVersion, Kind: JournalKind, Journal: j})
	if err != nil {
		return nil, err
	}
	o := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: JournalName(j.Installation.Name), Namespace: j.Installation.Namespace, Labels: labelled(j.Installation, nil)},
	}
	size := len(text)
	if size <= zipAbove {
		o.Data = map[string]string{journalKey: string(text)}
		return o, nil
	}
	if text, err = regulate.Zipped(text); err != nil {
		return nil, err
	}
	if len(text) > mostBytes {
		return nil, fmt.Errorf("it has %d bytes, %d compressed, and a ConfigMap holds %d: make two systems of it", size, len(text), mostBytes)
	}
	o.BinaryData = map[string][]byte{zippedKey: text}
	return o, nil
}

// decodeJournal reads a journal. A field that is not known is an error as well: it is of a
// newer version, and would be lost with the next write.
func decodeJournal(o *corev1.ConfigMap) (*Journal, error) {
	text, plain := []byte(o.Data[journalKey]), o.Data[journalKey] != ""
	if zip, ok := o.BinaryData[zippedKey]; ok {
		if plain {
			return nil, fmt.Errorf("it has both %s and %s", journalKey, zippedKey)
		}
		var err error
		if text, err = regulate.Unzipped(zip); err != nil {
			return nil, fmt.Errorf("%s: %w", zippedKey, err)
		}
	} else if !plain {
		return nil, fmt.Errorf("it has no %s", journalKey)
	}
	var head struct{ APIVersion, Kind string }
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, err
	}
	if head.APIVersion != journalVersion || head.Kind != JournalKind {
		return nil, fmt.Errorf("it is a %q of %q, not an %s of %s: it is of another version of kubectl sysop", head.Kind, head.APIVersion, JournalKind, journalVersion)
	}
	d := document{Journal: new(Journal)}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return nil, fmt.Errorf("%w: it may be of a newer version of kubectl sysop", err)
	}
	if err := d.valid(); err != nil {
		return nil, err
	}
	d.version = o.ResourceVersion
	return d.Journal, nil
}

var (
	errNameless = errors.New("it names no installation")
	errNoRun    = errors.New("its run has no id")
)

func (j *Journal) valid() error {
	if j.Installation.Name == "" || j.Installation.Namespace == "" {
		return errNameless
	}
	for _, p := range j.Past {
		for _, r := range p.Releases {
			if r.App && (r.Namespace != j.Installation.Namespace || r.Release != j.Installation.Name+"-"+r.Part) {
				return fmt.Errorf("release %s/%s is not that of an app of %s", r.Namespace, r.Release, j.Installation.Name)
			}
		}
	}
	if j.Run == nil {
		return nil
	}
	if j.Run.ID == "" {
		return errNoRun
	}
	for i, s := range j.Run.Steps {
		switch {
		case !slices.Contains([]Phase{Begun, Done, Undone, Left}, s.Phase):
			return fmt.Errorf("step %d (%s): phase %q is not known", i, s.ID, s.Phase)
		case !slices.Contains(stepKinds(), s.Kind):
			return fmt.Errorf("step %d (%s): kind %q is not known", i, s.ID, s.Kind)
		case s.ofRelease() && (s.Release == "" || s.Namespace == ""):
			return fmt.Errorf("step %d (%s): it names no release", i, s.ID)
		}
		for _, b := range s.Changed {
			if b.Kept != keptName(j.Installation, j.Run.ID, b.Object) {
				return fmt.Errorf("step %d (%s): %s is not where %s is kept", i, s.ID, b.Kept, b.Object)
			}
		}
	}
	return nil
}

func stepKinds() []StepKind {
	return []StepKind{MakeNamespace, ApplyDefinitions, InstallRelease, UpgradeRelease, RollbackRelease, RemoveRelease, Await, DeleteObjects, DeleteDefinitions}
}

func (s *StepState) ofRelease() bool {
	switch s.Kind {
	case InstallRelease, UpgradeRelease, RollbackRelease, RemoveRelease:
		return true
	}
	return false
}

func sameJournal(a, b *corev1.ConfigMap) bool {
	return a.Data[journalKey] == b.Data[journalKey] && bytes.Equal(a.BinaryData[zippedKey], b.BinaryData[zippedKey])
}
