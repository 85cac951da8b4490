package source

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// SnapshotHeader is the first document of a snapshot that we wrote ourselves: what it
// holds, so that a reader can tell what is missing from what was not taken.
type SnapshotHeader struct {
	metav1.TypeMeta `json:",inline"`
	// Objects is how many follow; fewer mean that the file was cut.
	Objects int `json:"objects"`
	// Taken is when the snapshot was taken.
	Taken metav1.Time `json:"taken,omitzero"`
	// Covered lists the resources of which every object is here, in a namespace or
	// everywhere.
	Covered []Scope `json:"covered,omitempty"`
	// Absent lists objects that are named and were not there.
	Absent []string `json:"absent,omitempty"`
	// Gaps is what could not be read when the snapshot was taken.
	Gaps []object.Gap `json:"gaps,omitempty"`
	// Creators say who made the objects that have no owner, as managed fields told.
	Creators []Creator `json:"creators,omitempty"`
}

// Creator is a field manager and what it made.
type Creator struct {
	Manager string   `json:"manager"`
	Objects []string `json:"objects"`
}

// CreatorsOf returns who made what as a head notes it, in order.
func CreatorsOf(made map[object.Ref]string) []Creator {
	by := map[string][]string{}
	for _, ref := range slices.SortedFunc(maps.Keys(made), object.Compare) {
		by[made[ref]] = append(by[made[ref]], ref.String())
	}
	var out []Creator
	for _, who := range slices.Sorted(maps.Keys(by)) {
		out = append(out, Creator{Manager: who, Objects: by[who]})
	}
	return out
}

// Scope is a kind in a namespace, or everywhere without one.
type Scope struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
}

// APIVersion and HeadKind are those of our own documents.
const (
	APIVersion = "sysop.dev/v1alpha1"
	HeadKind   = "Snapshot"
)

func isHead(doc map[string]any) bool {
	version, _ := doc["apiVersion"].(string)
	return doc["kind"] == HeadKind && strings.HasPrefix(version, "sysop.dev/")
}

// takeHead reads a head. Of several snapshots that are read as one (a folder of
// them), each brings its own.
func (s *Snapshot) takeHead(d *Document) error {
	if d.Object["apiVersion"] != APIVersion {
		return fmt.Errorf("%s: a snapshot of version %v: this program reads %s", d.At, d.Object["apiVersion"], APIVersion)
	}
	var h SnapshotHeader
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(d.Object, &h); err != nil {
		return fmt.Errorf("%s: head of a snapshot: %w", d.At, err)
	}
	if s.head == nil {
		s.head = &h
		return nil
	}
	s.head.Objects += h.Objects
	s.head.Covered = append(s.head.Covered, h.Covered...)
	s.head.Absent = append(s.head.Absent, h.Absent...)
	s.head.Gaps = append(s.head.Gaps, h.Gaps...)
	s.head.Creators = append(s.head.Creators, h.Creators...)
	return nil
}
