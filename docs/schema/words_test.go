package schema_test

import (
	"slices"
	"strings"
	"testing"
)

// formerFields are the names that fields of documents had before the glossary. CHANGELOG.md has
// the name of each of now, under "JSON fields".
var formerFields = strings.Fields(`
	acts again against anew aside because below bereft by crosses elsewhere follows freed grows hand is isSaid
	judgements kept leaf left leftAlone lost mayGo notJudged now of open own proofs remaker right says settable
	stayed through together undecided unlooked waits was way what why within words wrong zonesThere absent
`)

// inputs are the schemas of what people write and files hold: their fields are names that stay.
var inputs = []string{"entry", "system", "snapshot"}

// fieldsThatStay are the former names that are still right, by schema and place, and why.
var fieldsThatStay = map[string]string{
	"monitor-plan monitorTarget.why":         "the evidence that it serves metrics",
	"monitor-plan monitorTarget.by":          "the monitor that scrapes it",
	"graph edge.why":                         "the evidence of an edge",
	"path step.why":                          "the evidence of an edge",
	"impact edge.why":                        "the evidence of an edge",
	"rules-explain explainedEdge.why":        "the evidence of an edge",
	"impact deletion.why":                    "the evidence of an edge",
	"health cause.why":                       "the evidence of the edge that leads to it",
	"regulate-neighbours need.why":           "the evidence of an edge; reason is what the manifest says",
	"colocation colocationConfigurable.open": "the field whose schema is open: it takes anything",
	"drain drainPod.lost":                    "the pod is lost: nothing creates it again",
	"drain drainPod.waits":                   "the pod waits until others run",
}

// TestFormerFieldsStayAway holds that no document has a field by a name that was given up.
func TestFormerFieldsStayAway(t *testing.T) {
	used := map[string]bool{}
	for _, name := range schemas {
		if slices.Contains(inputs, name) {
			continue
		}
		for _, at := range propertiesOf(read(t, name), "") {
			field := at[strings.LastIndex(at, ".")+1:]
			place := name + " " + at
			switch {
			case !slices.Contains(formerFields, field):
			case fieldsThatStay[place] == "":
				t.Errorf("%s.json has the field %s again: CHANGELOG.md says what it is called now, and fieldsThatStay takes a reason to keep it", name, at)
			default:
				used[place] = true
			}
		}
	}
	for place := range fieldsThatStay {
		if !used[place] {
			t.Errorf("no schema has %s: remove it from fieldsThatStay", place)
		}
	}
}

// TestPropertiesOfFindsAll holds that the walk sees what is nested: in $defs, items and lists of
// choices.
func TestPropertiesOfFindsAll(t *testing.T) {
	got := propertiesOf(map[string]any{
		"properties": map[string]any{"a": map[string]any{"items": map[string]any{"properties": map[string]any{"b": map[string]any{}}}}},
		"$defs": map[string]any{"d": map[string]any{"anyOf": []any{
			map[string]any{"properties": map[string]any{"c": map[string]any{}}}, map[string]any{"additionalProperties": map[string]any{"properties": map[string]any{"e": true}}},
		}}},
	}, "")
	slices.Sort(got)
	if want := []string{"a", "a.b", "d.c", "d.e"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// propertiesOf are the properties of a schema and of all schemas in it, by place.
func propertiesOf(schema any, at string) []string {
	var out []string
	switch s := schema.(type) {
	case []any:
		for _, one := range s {
			out = append(out, propertiesOf(one, at)...)
		}
	case map[string]any:
		for key, v := range s {
			named, isMap := v.(map[string]any)
			if !isMap || key != "properties" && key != "$defs" {
				out = append(out, propertiesOf(v, at)...)
				continue
			}
			for name, one := range named {
				place := strings.TrimPrefix(at+"."+name, ".")
				if key == "properties" {
					out = append(out, place)
				}
				out = append(out, propertiesOf(one, place)...)
			}
		}
	}
	return out
}
