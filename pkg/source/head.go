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

// SnapshotHeader is the first document of our own snapshots. It records what the snapshot contains,
// so that a reader can distinguish what is missing from what was not saved.
type SnapshotHeader struct {
	metav1.TypeMeta `json:",inline"`
	// Objects is the number of objects that follow; with fewer the file was truncated.
	Objects int `json:"objects"`
	// Taken is when the snapshot was taken.
	Taken metav1.Time `json:"taken,omitzero"`
	// Covered lists the resources whose objects were all saved, in a namespace or in all.
	Covered []Scope `json:"covered,omitempty"`
	// Absent lists objects that are referenced and did not exist.
	Absent []string `json:"absent,omitempty"`
	// Gaps is what could not be read when the snapshot was taken.
	Gaps []object.Gap `json:"gaps,omitempty"`
	// Creators are the creators of objects without an owner, from managed fields.
	Creators []Creator `json:"creators,omitempty"`
}

// Creator is a field manager and the objects that it created.
type Creator struct {
	Manager string   `json:"manager"`
	Objects []string `json:"objects"`
}

// CreatorsOf returns the entries of a header for objects and their creators, in order.
func CreatorsOf(creators map[object.Ref]string) []Creator {
	byManager := map[string][]string{}
	for _, ref := range slices.SortedFunc(maps.Keys(creators), object.Compare) {
		byManager[creators[ref]] = append(byManager[creators[ref]], ref.String())
	}
	var out []Creator
	for _, manager := range slices.Sorted(maps.Keys(byManager)) {
		out = append(out, Creator{Manager: manager, Objects: byManager[manager]})
	}
	return out
}

// Scope is a kind in a namespace, or in all namespaces if that is empty.
type Scope struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
}

// APIVersion and HeadKind are those of the documents of this program.
const (
	APIVersion = "sysop.dev/v1alpha1"
	HeadKind   = "Snapshot"
)

func isHead(doc map[string]any) bool {
	version, _ := doc["apiVersion"].(string)
	return doc["kind"] == HeadKind && strings.HasPrefix(version, "sysop.dev/")
}

// takeHead reads a header. A directory of several snapshots has several.
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
