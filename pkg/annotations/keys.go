package annotations

import (
	"cmp"
	"slices"
	"strings"
)

type family uint8

const (
	usage family = iota
	composition
	annotationRelationship
	labelRelationship
	propertyRelationship
	relationships
)

// Relationships is the annotation of this project. Its value is a YAML list of
// relations (docs/rules-file.md).
const Relationships = "sysop.dev/relationships"

// keys are the annotations in the order in which they are read. Of usage and composition the first
// spelling with a valid value wins.
var keys = [...]struct {
	key      string
	family   family
	numbered bool
}{
	{"resource/usage", usage, false},
	{"platform-as-code/usage", usage, false},
	{"resource/composition", composition, false},
	{"platform-as-code/composition", composition, false},
	{"resource/annotation-relationship", annotationRelationship, true},
	{"platform-as-code/annotation-relationship", annotationRelationship, true},
	{"platform-as-code/annotation-relation", annotationRelationship, true},
	{"resource/label-relationship", labelRelationship, true},
	{"platform-as-code/label-relationship", labelRelationship, true},
	{"platform-as-code/label-relation", labelRelationship, true},
	{"resource/specproperty-relationship", propertyRelationship, true},
	{"platform-as-code/specproperty-relationship", propertyRelationship, true},
	{"platform-as-code/specprop-relation", propertyRelationship, true},
	{Relationships, relationships, false},
}

// entry is an annotation that is read.
type entry struct {
	row        int
	number     string // without leading zeros; empty for none
	family     family
	key, value string
}

// sortEntries returns the known annotations in order, and the sorted keys of unknown ones that look
// like a relationship.
func sortEntries(annotations map[string]string) (entries []entry, unknown []string) {
	for key, value := range annotations {
		e, ok := lookUp(key)
		switch {
		case ok:
			e.value = value
			entries = append(entries, e)
		case strings.Contains(key, "-relation") && (strings.HasPrefix(key, "resource/") || strings.HasPrefix(key, "platform-as-code/")):
			unknown = append(unknown, key)
		}
	}
	slices.Sort(unknown)
	slices.SortFunc(entries, func(a, b entry) int {
		// Numbers have no leading zeros, so the one with more digits is larger.
		return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(len(a.number), len(b.number)), cmp.Compare(a.number, b.number), cmp.Compare(a.key, b.key))
	})
	return entries, unknown
}

func lookUp(key string) (entry, bool) {
	for row, k := range keys {
		number, ok := strings.CutPrefix(key, k.key)
		if ok && strings.Trim(number, "0123456789") == "" && (number == "" || k.numbered) {
			return entry{row: row, number: strings.TrimLeft(number, "0"), family: k.family, key: key}, true
		}
	}
	return entry{}, false
}

func hasRelationships(entries []entry) bool {
	return slices.ContainsFunc(entries, func(e entry) bool { return e.family >= annotationRelationship })
}
