package regulate_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

const upgraded = `apiVersion: sysop.dev/v1alpha1
kind: System
metadata: {name: shop, namespace: shop}
spec:
  apps:
  - name: web
    roots: [deployment/web]
    on:
      Stop:
      - patch: {type: strategic, body: {spec: {template: {spec: {priorityClassName: low}}}}}
  - name: db
    roots: [database/db]
    on:
      Stop:
      - patch: {type: merge, body: {spec: {mode: readonly}}}
      - patch: {type: json, body: [{op: add, path: /spec/parts/0/asleep, value: true}]}
  - name: parts
    roots: [cluster/c]
`

const upgradedObjects = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, uid: web, generation: 1, labels: {app.kubernetes.io/version: "1"}, annotations: {a: "1"}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {checksum: "1"}}
    spec: {priorityClassName: high, containers: [{name: web, image: "web:1"}]}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: databases.example.dev}
spec: {group: example.dev, scope: Namespaced, names: {kind: Database, listKind: DatabaseList, plural: databases, singular: database}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusters.example.dev}
spec: {group: example.dev, scope: Namespaced, names: {kind: Cluster, listKind: ClusterList, plural: clusters, singular: cluster}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}
---
apiVersion: example.dev/v1
kind: Database
metadata: {name: db, namespace: shop, uid: db, generation: 1}
spec: {version: "8.4", replicas: 3, size: 1, hold: false, mode: normal, parts: [{name: a, asleep: false}], storage: {class: fast}}
status: {observedGeneration: 1}
---
apiVersion: example.dev/v1
kind: Cluster
metadata: {name: c, namespace: shop, uid: c}
spec: {parts: [{name: a, hold: false}, {name: b}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: made, namespace: shop, uid: made, generation: 1, ownerReferences: [{apiVersion: example.dev/v1, kind: Database, name: db, uid: db}]}
spec:
  replicas: 3
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: db, image: "mysql:8.4"}]}}
`

// What holds write, and what changes by itself, is no upgrade; versions, images and what
// else people write is one.
func TestFingerprint(t *testing.T) {
	of := func(objects string) string {
		w := regulate.Observe(look(t, upgraded, objects).in)
		text := ""
		for i := range w.Apps {
			text += fmt.Sprint(w.Apps[i].Name, w.Apps[i].Fingerprint)
		}
		return text
	}
	before := of(upgradedObjects)
	for _, c := range []struct {
		what, old, with string
		upgrade         bool
	}{
		{"an image", "web:1", "web:2", true},
		{"the image of what it makes", "mysql:8.4", "mysql:9", true},
		{"a version", `version: "8.4"`, `version: "9"`, true},
		{"a label of the version", `version: "1"`, `version: "2"`, true},
		{"another field of the spec", "size: 1", "size: 2", true},
		{"a checksum in the template", `checksum: "1"`, `checksum: "2"`, true},
		{"a new part", "{name: b}", "{name: b}, {name: c}", true},
		{"replicas of a workload", "replicas: 2", "replicas: 0", false},
		{"replicas of a custom resource", "replicas: 3, size", "replicas: 0, size", false},
		{"a rollout that is paused", "replicas: 2", "replicas: 2\n  paused: true", false},
		{"a restart", `checksum: "1"`, `checksum: "1", kubectl.kubernetes.io/restartedAt: now`, false},
		{"an annotation", `a: "1"`, `b: "1"`, false},
		{"what the signal of the kind sets", "hold: false, mode", "hold: true, mode", false},
		{"what the signal sets of each part", "{name: a, hold: false}", "{name: a, hold: true}", false},
		{"what an action patches", "mode: normal", "mode: readonly", false},
		{"what an action patches in a list", "asleep: false", "asleep: true", false},
		{"what an action patches in a template", "priorityClassName: high", "priorityClassName: low", false},
		{"the status", "observedGeneration: 1", "observedGeneration: 1, phase: x", false},
		{"the generation", "uid: db, generation: 1}", "uid: db, generation: 2}", false},
	} {
		t.Run(c.what, func(t *testing.T) {
			changed := strings.Replace(upgradedObjects, c.old, c.with, 1)
			if changed == upgradedObjects {
				t.Fatalf("%q is not there", c.old)
			}
			if after := of(changed); (after != before) != c.upgrade {
				t.Errorf("looks like an upgrade: %v, want %v:\n%s\n%s", after != before, c.upgrade, before, after)
			}
		})
	}
}

// Pods, ReplicaSets and Jobs come and go, and so do custom resources that stand for a run.
func TestComingAndGoing(t *testing.T) {
	before := regulate.Observe(look(t, upgraded, upgradedObjects).in)
	owned := "ownerReferences: [{apiVersion: example.dev/v1, kind: Database, name: db, uid: db}]"
	more := upgradedObjects + fmt.Sprintf(`---
apiVersion: example.dev/v1
kind: Database
metadata: {name: backup-1, namespace: shop, uid: b, %[1]s}
spec: {at: night}
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: shop, uid: p, %[1]s}
spec: {containers: [{name: c, image: "x:1"}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: shop, uid: j, %[1]s}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: "x:1"}]}}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: rs, namespace: shop, uid: rs, %[1]s}
spec: {selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: "x:1"}]}}}
`, owned)
	after := regulate.Observe(look(t, upgraded, more).in)
	for i := range before.Apps {
		if b, a := before.Apps[i].Fingerprint, after.Apps[i].Fingerprint; len(b) == 0 || !maps.Equal(b, a) {
			t.Errorf("%s: %v, and then %v", before.Apps[i].Name, b, a)
		}
	}
}

// The same objects give the same world, in whatever order they come; and a world of what
// was read without its facts still says who needs whom.
func TestSameWorld(t *testing.T) {
	s := look(t, upgraded, upgradedObjects)
	docs := strings.Split(upgradedObjects, "---\n")
	for range 5 {
		docs = append(docs[1:], strings.TrimSuffix(docs[0], "\n")+"\n")
		if got, want := told(regulate.Observe(look(t, upgraded, strings.Join(docs, "---\n")).in)), told(regulate.Observe(s.in)); got != want {
			t.Fatalf("got\n%swant\n%s", got, want)
		}
	}
	s.in.Facts, s.in.Signals = nil, nil
	if w := regulate.Observe(s.in); len(w.Apps) != 3 || w.Apps[1].Roots == nil || w.Apps[1].Actions["Stop"][0].Refused != "" {
		t.Errorf("without facts: %+v", w.Apps)
	}
}
