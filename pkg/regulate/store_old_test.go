package regulate

import (
	"os"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// Journals as they were written before they were signed (testdata/journal is that output) are read, and written the same.
func TestJournalOfOlderVersions(t *testing.T) {
	for _, name := range []string{"plain", "compressed"} {
		text, err := os.ReadFile("testdata/journal/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		o := new(corev1.ConfigMap)
		if err := yaml.Unmarshal(text, o); err != nil {
			t.Fatal(err)
		}
		format := formatOf("shop", "prod")
		j, err := format.Decode(o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if want := someJournal(); len(j.Holds) != 1 || !patch.Equal(j.Holds[0].Operations[0], want.Holds[0].Operations[0]) || j.Next != want.Next || name == "compressed" && len(j.History) != 1 {
			t.Errorf("%s: %+v", name, j)
		}
		again, err := format.Encode(j)
		if err != nil || again.Data["journal.json"] != o.Data["journal.json"] || again.Data["held"] != o.Data["held"] || string(again.BinaryData["journal.json.gz"]) != string(o.BinaryData["journal.json.gz"]) {
			t.Errorf("%s: written otherwise: %v %.500v", name, err, again.Data)
		}
	}
}
