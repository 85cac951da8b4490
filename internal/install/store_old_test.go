package install

import (
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// Journals as they were written before they were signed (testdata/journal is that output) are read, and say the same.
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
		j, err := formatOf(shopAt).Decode(o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r := j.Run
		if r == nil || len(r.Steps) != 2 || len(r.Steps[0].Changed) != 1 || r.Steps[1].Was != 1 || len(j.Runs) != 1 || j.Runs[0].Releases[0].Release != "shop-web" || j.Manifest == "" || !ownRun(r.ID, shopAt) {
			t.Errorf("%s: %+v", name, j)
		}
	}
}
