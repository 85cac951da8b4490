package preflight

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

var update = flag.Bool("update", false, "write what is said into testdata")

// TestCases foresees the batches of testdata. A case is a cluster, a batch, what the API
// server said where that matters, and what is said of it all. The pods are placed by
// firstFit: what the scheduler would do is the matter of another package.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in := map[string]string{}
			for _, f := range archive.Files {
				in[f.Name] = string(f.Data)
			}
			q := question(t, in)
			got := dump(evaluate(q, firstFit))
			turned := q
			turned.Batch, turned.Admissions = slices.Clone(q.Batch), slices.Clone(q.Admissions)
			slices.Reverse(turned.Batch)
			slices.Reverse(turned.Admissions)
			if again := dump(evaluate(turned, firstFit)); again != got {
				t.Errorf("the other way round, it says\n%s\nand not\n%s", again, got)
			}
			if real := Evaluate(q); real.Verdict.String() != strings.SplitN(got, ",", 2)[0] {
				t.Errorf("with the rules of the scheduler it says\n%s\nand without\n%s", dump(real), got)
			}
			if got == in["want"] {
				return
			}
			if !*update {
				t.Fatalf("it says\n%s\nwant\n%s", got, in["want"])
			}
			for i := range archive.Files {
				if archive.Files[i].Name == "want" {
					archive.Files = append(archive.Files[:i], archive.Files[i+1:]...)
					break
				}
			}
			archive.Files = append(archive.Files, txtar.File{Name: "want", Data: []byte(got)})
			if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// question reads a case. The file options has a word a line: unread KIND, autoscaler,
// anew, snapshot. The file admissions has a line for each dry run that is told:
// KIND/NAMESPACE/NAME [pod] admitted | refused REASON MESSAGE | undecided MESSAGE.
func question(t *testing.T, in map[string]string) Request {
	t.Helper()
	var unread []string
	for line := range strings.Lines(in["options"]) {
		if kind, ok := strings.CutPrefix(strings.TrimSpace(line), "unread "); ok {
			unread = append(unread, kind)
		}
	}
	q := ask(t, in["cluster"], in["batch"], unread...)
	for line := range strings.Lines(in["options"]) {
		switch word := strings.TrimSpace(line); word {
		case "autoscaler":
			q.Autoscaler = true
		case "anew":
			q.FromScratch = true
		case "snapshot":
			q.Admissions = nil
		}
	}
	for line := range strings.Lines(in["admissions"]) {
		q.Admissions = append(q.Admissions, admissionOf(t, q, strings.TrimSpace(line)))
	}
	q.Footprints = map[object.Ref][]PodFootprint{}
	for name, data := range in {
		if ref, ok := strings.CutPrefix(name, "footprint "); ok {
			var f []PodFootprint
			if err := yaml.Unmarshal([]byte(data), &f); err != nil {
				t.Fatal(err)
			}
			q.Footprints[parse(t, ref)] = f
		}
	}
	q.Live = map[object.Ref]map[string]any{}
	for _, doc := range documents(t, in["cluster"]) {
		q.Live[refIn(doc)] = doc.Object
	}
	return q
}

func parse(t *testing.T, text string) object.Ref {
	t.Helper()
	ref, err := object.ParseRef(text)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func admissionOf(t *testing.T, q Request, line string) Admission {
	t.Helper()
	who, rest, _ := strings.Cut(line, " ")
	a := Admission{Ref: parse(t, who)}
	rest, a.Pod = strings.CutPrefix(rest, "pod ")
	word, rest, _ := strings.Cut(rest, " ")
	switch word {
	case "admitted":
		for _, it := range q.Batch {
			if it.Ref == a.Ref {
				a.Admitted = it.Object
			}
		}
		if a.Pod {
			template, _, _ := unstructured.NestedMap(a.Admitted.Object, "spec", "template")
			a.Admitted = &unstructured.Unstructured{Object: template}
		}
	case "refused":
		a.Reason, a.Message, _ = strings.Cut(rest, " ")
	case "undecided":
		a.Unknown = rest
	default:
		t.Fatalf("admission %q", line)
	}
	return a
}
