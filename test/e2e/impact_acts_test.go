package e2e

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// act is an object that acts when others are made: what is there stays as it is when it goes,
// and new ones are refused, or no longer are.
type act struct {
	name, text string
	object     string
	says       []string
	// try is a pod or a ConfigMap that is made before and after: it is refused with these words,
	// accepted where there are none.
	try           string
	before, after string
	// then is what is so afterwards besides.
	then func(t *testing.T, c *cluster.Cluster, ns string) error
}

const (
	userOfClasses = `
---
apiVersion: v1
kind: Pod
metadata: {name: user, namespace: NAMESPACE}
spec: {CLASS, containers: [{name: user, image: registry.example.com/user}]}
`
	anotherPod = "{apiVersion: v1, kind: Pod, metadata: {name: new}, spec: {CLASS containers: [{name: new, image: registry.example.com/new}]}}"
	anotherMap = "{apiVersion: v1, kind: ConfigMap, metadata: {name: new, labels: {forbidden: very}}}"

	forbids = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: NAMESPACE-forbids}
spec:
  failurePolicy: Fail
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAMESPACE}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations: [{expression: "!has(object.metadata.labels) || !('forbidden' in object.metadata.labels)", message: it is forbidden by a policy}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: NAMESPACE-forbids}
spec: {policyName: NAMESPACE-forbids, validationActions: [Deny]}
`
)

func classed(text, class string) string { return strings.ReplaceAll(text, "CLASS", class) }

func acts() []act {
	return []act{
		{
			name: "priority", object: "PriorityClass.scheduling.k8s.io/NAMESPACE-high", says: []string{"only new ones Pod/NAMESPACE/user"},
			text: "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: NAMESPACE-high}, value: 1000}" + classed(userOfClasses, "priorityClassName: NAMESPACE-high"),
			try:  classed(anotherPod, "priorityClassName: NAMESPACE-high,"), after: "no PriorityClass with name NAMESPACE-high was found",
		},
		{
			name: "runtime", object: "RuntimeClass.node.k8s.io/NAMESPACE-kata", says: []string{"only new ones Pod/NAMESPACE/user"},
			text: "{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: NAMESPACE-kata}, handler: kata}" + classed(userOfClasses, "runtimeClassName: NAMESPACE-kata"),
			try:  classed(anotherPod, "runtimeClassName: NAMESPACE-kata,"), after: `RuntimeClass "NAMESPACE-kata" not found`,
		},
		{
			name: "storage", object: "StorageClass.storage.k8s.io/NAMESPACE-fast", says: []string{"only new ones PersistentVolumeClaim/NAMESPACE/data"},
			text: `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: NAMESPACE-fast}
provisioner: kwok.x-k8s.io/volume
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: NAMESPACE}
spec: {storageClassName: NAMESPACE-fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`,
			then: waitsForClass,
		},
		{
			name: "ingress", object: "IngressClass.networking.k8s.io/NAMESPACE-front", says: []string{"only new ones Ingress.networking.k8s.io/NAMESPACE/web"},
			text: `
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: NAMESPACE-front}
spec: {controller: example.com/front}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: NAMESPACE}
spec: {ingressClassName: NAMESPACE-front, defaultBackend: {service: {name: web, port: {number: 80}}}}
status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}
`,
		},
		{
			name: "limits", object: "LimitRange/NAMESPACE/small", text: "{apiVersion: v1, kind: LimitRange, metadata: {name: small, namespace: NAMESPACE}, spec: {limits: [{type: Container, max: {cpu: 1}}]}}" + classed(userOfClasses, "priority: 0"),
			try: strings.ReplaceAll(classed(anotherPod, ""), "image:", "resources: {limits: {cpu: 2}}, image:"), before: "maximum cpu usage per Container is 1",
		},
		{
			name: "quota", object: "ResourceQuota/NAMESPACE/small",
			text: strings.ReplaceAll(classed(userOfClasses, "priority: 0"), "image:", "resources: {requests: {cpu: 100m}}, image:") +
				"---\n{apiVersion: v1, kind: ResourceQuota, metadata: {name: small, namespace: NAMESPACE}, spec: {hard: {requests.cpu: 1}}}",
			try: strings.ReplaceAll(classed(anotherPod, ""), "image:", "resources: {requests: {cpu: 2}}, image:"), before: "exceeded quota: small",
		},
		{
			name: "policy", object: "ValidatingAdmissionPolicy.admissionregistration.k8s.io/NAMESPACE-forbids", text: forbids,
			try: anotherMap, before: "it is forbidden by a policy",
		},
		{
			name: "binding", object: "ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io/NAMESPACE-forbids", text: forbids,
			says: []string{"loses it ValidatingAdmissionPolicy.admissionregistration.k8s.io/NAMESPACE-forbids"},
			try:  anotherMap, before: "it is forbidden by a policy",
		},
	}
}

// What acts when others are made leaves what is there as it is, and new ones go without it.
func TestImpactOfWhatActs(t *testing.T) {
	t.Parallel()
	for _, a := range acts() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			c := shared.Cluster(t)
			ns := c.Namespace(t)
			in := func(s string) string { return strings.ReplaceAll(s, "NAMESPACE", ns) }
			applyText(t, c, in(a.text))
			t.Cleanup(func() { removed(t, c, in(a.object)) })
			atRest(t, c, ns)
			a.tried(t, c, ns, in(a.before))
			r := newRealm(t, c, ns)
			im := r.asks(a.object, a.says)
			if im.AppliesWhen == "" {
				t.Error("it does not say when it acts")
			}
			was := alive(t, c, ns)
			r.deletes(im)
			a.tried(t, c, ns, in(a.after))
			if a.then != nil {
				cluster.Eventually(t, limit, func() error { return a.then(t, c, ns) })
			}
			if is := alive(t, c, ns); !maps.Equal(was, is) {
				t.Errorf("what was there changed from %v to %v", was, is)
			}
		})
	}
}

// tried waits until the API server refuses a new object with these words, or accepts it, if
// there are none. It is not made.
func (a *act) tried(t *testing.T, c *cluster.Cluster, ns, words string) {
	t.Helper()
	if a.try == "" {
		return
	}
	answered(t, c, ns, strings.ReplaceAll(a.try, "NAMESPACE", ns), words)
}

func answered(t *testing.T, c *cluster.Cluster, ns, text, words string) {
	t.Helper()
	cluster.Eventually(t, limit, func() error {
		switch err := tryOut(t.Context(), c, ns, text); {
		case err == nil && words != "":
			return fmt.Errorf("it is accepted, and was to be refused with %q", words)
		case err != nil && (words == "" || !strings.Contains(err.Error(), words)):
			return err
		}
		return nil
	})
}

// tryOut has the API server judge a pod or a ConfigMap.
func tryOut(ctx context.Context, c *cluster.Cluster, ns, text string) error {
	dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	if strings.Contains(text, "kind: Pod") {
		var p corev1.Pod
		if err := yaml.Unmarshal([]byte(text), &p); err != nil {
			return err
		}
		_, err := admin(c).CoreV1().Pods(ns).Create(ctx, &p, dry)
		return err
	}
	var m corev1.ConfigMap
	if err := yaml.Unmarshal([]byte(text), &m); err != nil {
		return err
	}
	_, err := admin(c).CoreV1().ConfigMaps(ns).Create(ctx, &m, dry)
	return err
}

// alive is what pods, claims and Ingresses there are in a namespace, and how they are.
func alive(t *testing.T, c *cluster.Cluster, ns string) map[string]string {
	t.Helper()
	out := map[string]string{}
	pods, err := admin(c).CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pods.Items {
		out["Pod/"+p.Name] = fmt.Sprint(p.UID, p.Status.Phase, *p.Spec.Priority)
	}
	claims, err := admin(c).CoreV1().PersistentVolumeClaims(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range claims.Items {
		if p.Name != "new" {
			out["PersistentVolumeClaim/"+p.Name] = fmt.Sprint(p.UID, p.Status.Phase, p.Spec.VolumeName)
		}
	}
	ingresses, err := admin(c).NetworkingV1().Ingresses(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ingresses.Items {
		out["Ingress/"+p.Name] = fmt.Sprint(p.UID, p.ResourceVersion)
	}
	return out
}

// removed deletes a cluster-scoped object of a test that did not come so far.
func removed(t *testing.T, c *cluster.Cluster, id string) {
	t.Helper()
	kind, name, _ := strings.Cut(id, "/")
	ctx, none := context.Background(), metav1.DeleteOptions{} // the test's context has ended by now
	switch kind {
	case "PriorityClass.scheduling.k8s.io":
		deleted(t, admin(c).SchedulingV1().PriorityClasses().Delete(ctx, name, none))
	case "RuntimeClass.node.k8s.io":
		deleted(t, admin(c).NodeV1().RuntimeClasses().Delete(ctx, name, none))
	case "StorageClass.storage.k8s.io":
		deleted(t, admin(c).StorageV1().StorageClasses().Delete(ctx, name, none))
	case "IngressClass.networking.k8s.io":
		deleted(t, admin(c).NetworkingV1().IngressClasses().Delete(ctx, name, none))
	case "ValidatingAdmissionPolicy.admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io":
		deleted(t, admin(c).AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(ctx, name, none))
		deleted(t, admin(c).AdmissionregistrationV1().ValidatingAdmissionPolicies().Delete(ctx, name, none))
	}
}

// waitsForClass makes a claim of the class that has gone: the controller manager says that there is
// none. kwok, which would play the provisioner, leaves it alone.
func waitsForClass(t *testing.T, c *cluster.Cluster, ns string) error {
	all := admin(c).CoreV1().PersistentVolumeClaims(ns)
	claim, err := all.Get(t.Context(), "new", metav1.GetOptions{})
	if err != nil {
		applyText(t, c, strings.ReplaceAll(`
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: new, namespace: NAMESPACE, annotations: {sysop.dev/fail: Pending}}
spec: {storageClassName: NAMESPACE-fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`, "NAMESPACE", ns))
		return err
	}
	events, err := admin(c).CoreV1().Events(ns).List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=new"})
	if err != nil {
		return err
	}
	for _, e := range events.Items {
		if e.Reason == "ProvisioningFailed" && strings.Contains(e.Message, "not found") && claim.Status.Phase == corev1.ClaimPending {
			return nil
		}
	}
	return fmt.Errorf("the new claim is %s, and nobody says that its class is missing", claim.Status.Phase)
}
