package app

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/preflight"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

func objectOf(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

const statefulSet = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec:
  serviceName: dbs
  template:
    metadata: {labels: {app: db}, annotations: {a: b}}
    spec:
      serviceAccountName: app
      serviceAccount: app
      priorityClassName: high
      priority: 7
      runtimeClassName: gvisor
      overhead: {cpu: 10m}
      imagePullSecrets: [{name: mine}]
      containers: [{name: db, image: db, volumeMounts: [{name: data, mountPath: /d}]}]
      volumes: [{name: data, emptyDir: {}}, {name: other, emptyDir: {}}]
  volumeClaimTemplates:
  - metadata: {name: data}
`

// TestPodOf: pods are as their controllers make them, but for owner and name.
func TestPodOf(t *testing.T) {
	u := objectOf(t, statefulSet)
	pod, err := podOf(object.RefOf(u), u)
	if err != nil {
		t.Fatal(err)
	}
	if pod.Name != "" || pod.GenerateName != "db-" || pod.Namespace != "shop" || pod.Labels["app"] != "db" || pod.Annotations["a"] != "b" {
		t.Errorf("metadata %+v", pod.ObjectMeta)
	}
	if pod.Spec.Hostname != "db-0" || pod.Spec.Subdomain != "dbs" {
		t.Errorf("it is called %s in %s", pod.Spec.Hostname, pod.Spec.Subdomain)
	}
	volumes := map[string]string{}
	for _, v := range pod.Spec.Volumes {
		volumes[v.Name] = ""
		if v.PersistentVolumeClaim != nil {
			volumes[v.Name] = v.PersistentVolumeClaim.ClaimName
		}
	}
	if len(volumes) != 2 || len(pod.Spec.Volumes) != 2 || volumes["data"] != "data-db-0" {
		t.Errorf("volumes %v", volumes)
	}
	for text, want := range map[string]bool{
		"apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nspec: {jobTemplate: {spec: {template: {spec: {nodeName: x}}}}}": true,
		"apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {template: {spec: {nodeName: x}}}":                            true,
		"apiVersion: v1\nkind: ReplicationController\nmetadata: {name: a}\nspec: {replicas: 1}":                                    false,
		"apiVersion: example.org/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {spec: {nodeName: x}}}":               false,
		"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {nodeName: x}":                                                      false,
	} {
		u := objectOf(t, text)
		pod, err := podOf(object.RefOf(u), u)
		if err != nil || (pod != nil) != want || want && pod.Spec.NodeName != "x" {
			t.Errorf("%s: %+v, %v", text, pod, err)
		}
	}
	if _, err := podOf(object.Ref{Group: "apps", Kind: "Deployment"}, objectOf(t, "spec: {template: {spec: {containers: many}}}")); err == nil {
		t.Error("a template that is none makes a pod")
	}
}

// TestLend: what the batch is to make is left out of the trial, and is in the result.
func TestLend(t *testing.T) {
	u := objectOf(t, statefulSet)
	original, err := podOf(object.RefOf(u), u)
	if err != nil {
		t.Fatal(err)
	}
	pod := original.DeepCopy()
	lent := borrow(pod, func(object.Ref) bool { return true }, false)
	if pod.Spec.ServiceAccountName+pod.Spec.DeprecatedServiceAccount+pod.Spec.PriorityClassName != "" || pod.Spec.Priority != nil || pod.Spec.RuntimeClassName != nil || pod.Spec.Overhead != nil {
		t.Errorf("tried with what is not there: %+v", pod.Spec)
	}
	pod.Namespace = "default"
	pod.Spec.ServiceAccountName, pod.Spec.ImagePullSecrets = "default", append(pod.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: "of-default"})
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
	if err != nil {
		t.Fatal(err)
	}
	admitted := &unstructured.Unstructured{Object: fields}
	lent.restore(admitted, "shop")
	got := &corev1.Pod{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(admitted.Object, got); err != nil {
		t.Fatal(err)
	}
	s := got.Spec
	if got.Namespace != "shop" || s.ServiceAccountName != "app" || s.PriorityClassName != "high" || s.RuntimeClassName == nil || *s.RuntimeClassName != "gvisor" || len(s.ImagePullSecrets) != 1 {
		t.Errorf("got back %+v", s)
	}
	kept := original.DeepCopy()
	borrow(kept, func(object.Ref) bool { return false }, false)
	if kept.Spec.ServiceAccountName != "app" || kept.Spec.PriorityClassName != "high" || kept.Spec.RuntimeClassName == nil {
		t.Errorf("tried without what the batch does not make: %+v", kept.Spec)
	}
}

// TestHear: a refusal that is about where or when it was tried is none of the object.
func TestHear(t *testing.T) {
	quota := source.DryRunResult{Reason: "Forbidden", Code: 403, Message: `pods "web-" is forbidden: exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2`}
	security := source.DryRunResult{Reason: "Forbidden", Code: 403, Message: `pods "web-" is forbidden: violates PodSecurity "restricted:latest": x`}
	invalid := source.DryRunResult{Reason: "Invalid", Code: 422, Message: "spec.x: Required value"}
	ref := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	facts := check.NewCollector()
	ns := &corev1.Namespace{}
	ns.Name, ns.Labels = "shop", map[string]string{enforceLabel: "restricted"}
	facts.Add(object.Object{Ref: object.Ref{Kind: "Namespace", Name: "shop"}, Meta: ns, Body: ns})
	namespace := preflight.Item{Ref: object.Ref{Kind: "Namespace", Name: "shop"}, Object: objectOf(t, "metadata: {name: shop, labels: {pod-security.kubernetes.io/enforce: baseline}}"), Exists: true}
	same := preflight.Item{Ref: namespace.Ref, Object: objectOf(t, "metadata: {name: shop, labels: {pod-security.kubernetes.io/enforce: restricted}}"), Exists: true}
	limits := preflight.Item{Ref: object.Ref{Kind: "LimitRange", Namespace: "shop", Name: "l"}}
	for name, test := range map[string]struct {
		said            source.DryRunResult
		exists, pod     bool
		instead         string
		batch           []preflight.Item
		refused, silent bool
	}{
		"refused":                         {said: invalid, refused: true},
		"refused elsewhere for itself":    {said: invalid, instead: "default", refused: true},
		"refused elsewhere for the place": {said: security, instead: "default"},
		"a quota for a new pod":           {said: quota, pod: true, refused: true},
		"a quota for a pod of what runs":  {said: quota, pod: true, exists: true, silent: true},
		"a quota beside new limits":       {said: quota, pod: true, batch: []preflight.Item{limits}, silent: true},
		"a standard":                      {said: security, pod: true, refused: true},
		"a standard that changes":         {said: security, pod: true, batch: []preflight.Item{namespace}},
		"a standard that stays":           {said: security, pod: true, batch: []preflight.Item{same}, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			a := &Preflight{facts: facts, batch: test.batch}
			tried := &dryRunTrial{item: &preflight.Item{Ref: ref, Exists: test.exists}, replacement: test.instead}
			if test.pod {
				tried.pod = &podTrial{}
			}
			a.recordDryRun(tried, test.said)
			if (tried.result.Reason != "" && !tried.silent) != test.refused || tried.silent != test.silent {
				t.Errorf("silent %v, said %+v", tried.silent, tried.result)
			}
			if !test.refused && !test.silent && !strings.Contains(tried.result.Unknown, test.said.Message) {
				t.Errorf("the server's words are lost: %+v", tried.result)
			}
		})
	}
}

// TestHearOfAKindThatIsGone: a cached discovery still has it, and the batch brings it back.
func TestHearOfAKindThatIsGone(t *testing.T) {
	crd := objectOf(t, `
metadata: {name: toys.example.dev}
spec: {versions: [{name: v1, served: true, schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer}}}}}]}
`)
	gone := source.DryRunResult{Reason: "NotFound", Code: 404, Message: "the server could not find the requested resource"}
	hear := func(batch []preflight.Item, size string) *dryRunTrial {
		item := &preflight.Item{
			Ref:    object.Ref{Group: "example.dev", Kind: "Toy", Namespace: "shop", Name: "bear"},
			Object: objectOf(t, "apiVersion: example.dev/v1\nkind: Toy\nsize: "+size),
		}
		tried := &dryRunTrial{item: item, DryRunRequest: source.DryRunRequest{Resource: object.Resource{Group: "example.dev", Version: "v1", Kind: "Toy", Plural: "toys"}}}
		(&Preflight{facts: check.NewCollector(), batch: batch}).recordDryRun(tried, gone)
		return tried
	}
	with := []preflight.Item{{Ref: object.Ref{Group: DefinitionKind.Group, Kind: DefinitionKind.Kind, Name: "toys.example.dev"}, Object: crd}}
	if said := hear(with, "3").result; said.Reason != "" || said.Ref.Name != "bear" {
		t.Errorf("what fits is refused: %+v", said)
	}
	if said := hear(with, "large").result; said.Reason != "Invalid" {
		t.Errorf("what does not fit: %+v", said)
	}
	if said := hear(nil, "3").result; said.Reason != "NotFound" {
		t.Errorf("a kind that nobody brings: %+v", said)
	}
}

// TestBySchema: what the schema of the batch's own definition says, and where it cannot.
func TestBySchema(t *testing.T) {
	crd := objectOf(t, `
spec:
  versions:
  - {name: v1alpha1, served: false, schema: {openAPIV3Schema: {type: object}}}
  - name: v1
    served: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}, mode: {type: string, x-kubernetes-validations: [{rule: "self != 'x'"}]}}}}}}
`)
	for text, want := range map[string]string{
		"apiVersion: a/v1\nspec: {size: 3}":       "admitted",
		"apiVersion: a/v1\nspec: {size: many}":    "Invalid",
		"apiVersion: a/v1\nspec: {none: 3}":       "Invalid",
		"apiVersion: a/v1\nspec: {mode: other}":   "undecided",
		"apiVersion: a/v1alpha1\nspec: {size: 3}": "NotServed",
		"apiVersion: a/v2\nspec: {size: 3}":       "NotServed",
	} {
		said := checkedBySchema(crd, objectOf(t, text))
		got := said.Reason
		switch {
		case said.Admitted != nil:
			got = "admitted"
		case said.Unknown != "":
			got = "undecided"
		}
		if got != want {
			t.Errorf("%q: %s, want %s (%+v)", text, got, want, said)
		}
	}
}

// TestAsApplied: what a server adds is not part of what was applied.
func TestAsApplied(t *testing.T) {
	u := objectOf(t, `
apiVersion: v1
kind: Pod
metadata:
  name: a
  uid: x
  resourceVersion: "7"
  managedFields: []
  ownerReferences: [{name: gone}]
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}"}
spec: {nodeName: one, restartPolicy: Never}
status: {phase: Running}
`)
	asApplied(u)
	text, err := yaml.Marshal(u.Object)
	if err != nil {
		t.Fatal(err)
	}
	if want := "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  restartPolicy: Never\n"; string(text) != want {
		t.Errorf("got\n%s", text)
	}
}

func everyRead(schema.GroupKind, string) bool { return true }

// TestStandIn: only a namespace like a new one stands in for one.
func TestStandIn(t *testing.T) {
	for name, test := range map[string]struct {
		namespaces map[string]map[string]string
		limited    string
		want       string
	}{
		"default first":         {map[string]map[string]string{"a": nil, "default": {corev1.LabelMetadataName: "default"}}, "", "default"},
		"not what is selected":  {map[string]map[string]string{"a": nil, "default": {"istio-injection": "enabled"}}, "", "a"},
		"not what sets limits":  {map[string]map[string]string{"a": nil, "default": nil}, "default", "a"},
		"there may be none":     {map[string]map[string]string{"a": {"b": "c"}}, "", ""},
		"the first of the rest": {map[string]map[string]string{"b": nil, "a": nil}, "", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			a := &Preflight{facts: check.NewCollector(), state: &check.ClusterState{Read: everyRead}}
			for n, labels := range test.namespaces {
				ns := &corev1.Namespace{}
				ns.Name, ns.Labels = n, labels
				a.facts.Add(object.Object{Ref: object.Ref{Kind: "Namespace", Name: n}, Meta: ns, Body: ns})
			}
			if test.limited != "" {
				l := &corev1.LimitRange{}
				l.Name, l.Namespace = "l", test.limited
				a.facts.Add(object.Object{Ref: object.Ref{Kind: "LimitRange", Namespace: test.limited, Name: "l"}, Meta: l, Body: l})
			}
			if got := a.standIn(); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
