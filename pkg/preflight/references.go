package preflight

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// fate is what becomes of an object of which a reference leads nowhere. What Kubernetes
// itself refuses, or waits for, is impossible; what others make of it is not decided.
type fate struct {
	verdict schedule.Verdict
	reason  string
	message string
}

const refusesPods = "the API server refuses every pod"

// fates are those of the built-in rules, by name. A rule that is not here is not decided;
// one with no verdict is judged elsewhere, or does not matter.
var fates = map[string]fate{
	"pod-env-configmap":           {impossible, "CreateContainerConfigError", "containers cannot start"},
	"pod-env-secret":              {impossible, "CreateContainerConfigError", "containers cannot start"},
	"pod-envfrom-configmap":       {impossible, "CreateContainerConfigError", "containers cannot start"},
	"pod-envfrom-secret":          {impossible, "CreateContainerConfigError", "containers cannot start"},
	"pod-volume-configmap":        {impossible, "FailedMount", "the volume cannot be mounted, and containers do not start"},
	"pod-volume-secret":           {impossible, "FailedMount", "the volume cannot be mounted, and containers do not start"},
	"pod-projected-configmap":     {impossible, "FailedMount", "the volume cannot be mounted, and containers do not start"},
	"pod-projected-secret":        {impossible, "FailedMount", "the volume cannot be mounted, and containers do not start"},
	"pod-trust-bundle":            {impossible, "FailedMount", "the volume cannot be mounted, and containers do not start"},
	"pod-csi-secret":              {impossible, "FailedMount", "the volume cannot be mounted, and containers do not start"},
	"pod-legacy-volume-secret":    {impossible, "FailedMount", "the volume cannot be mounted, and containers do not start"},
	"pod-secret-provider":         {impossible, "FailedMount", "the volume cannot be mounted, and containers do not start"},
	"pod-csi-driver":              {undecided, "DriverUnknown", "a driver need not have such an object, but most have"},
	"pod-volume-claim":            {impossible, "ClaimMissing", "pods stay Pending"},
	"pod-resource-claim":          {impossible, "ClaimMissing", "pods stay Pending"},
	"pod-resource-claim-template": {impossible, "ClaimMissing", "pods stay Pending"},
	"pod-service-account":         {impossible, "ServiceAccountMissing", refusesPods},
	"pod-priority-class":          {impossible, "PriorityClassMissing", refusesPods},
	"pod-runtime-class":           {impossible, "RuntimeClassMissing", refusesPods},
	"pod-node":                    {impossible, "NodeMissing", "the pod is taken away"},
	"pod-pull-secret":             {undecided, "PullSecretMissing", "images that need it cannot be pulled; others can"},
	"statefulset-service":         {undecided, "ReferenceMissing", "pods start, but have no names in DNS"},
	"claim-class":                 {}, // storage.go knows volumes that suit without it
	"claim-volume":                {},
	"volume-class":                {},
	"pod-ephemeral-claim":         {},
	"statefulset-claim":           {},
	"pod-nominated-node":          {},
	"claim-node":                  {},
	"claim-provisioner":           {},
	"claim-data-source":           {impossible, "DataSourceMissing", "no volume is made, and the claim stays Pending"},
	"ingress-class":               {undecided, "IngressClassMissing", "nobody answers for it, unless a controller goes by the bare name"},
}

// references says what objects of the batch name and what is not there: in the cluster and
// the batch together.
func (f *foresight) references() {
	f.served()
	f.namespaces()
	if f.Graph == nil {
		return
	}
	edges := 0
	for _, it := range f.order {
		id, ok := f.Graph.Find(it.Ref)
		if !ok {
			continue
		}
		for e := range f.Graph.Out(id) {
			if e.Relation != relation.Needs || e.Inferred || e.Backward {
				continue
			}
			edges++
			f.reference(it, e)
		}
	}
	f.keys()
	f.looked[References] = fmt.Sprintf("%s of %s: all that must be there is there, or in the batch", many(edges, "reference"), many(len(f.order), "object"))
}

// reference judges one edge of an object of the batch.
func (f *foresight) reference(it *Item, e graph.Edge) {
	to, state := f.Graph.Ref(e.To), f.Graph.State(e.To)
	what, known := fates[e.Rule]
	if state == graph.Present || state == graph.Virtual || e.Optional || known && what.verdict == 0 || givenToAll(to) {
		return
	}
	if idle(f, it) && strings.HasPrefix(e.Rule, "pod-") {
		return
	}
	if !known {
		what = fate{undecided, "ReferenceMissing", f.follows(it, e)}
	}
	if what.message == "" {
		return
	}
	j := Judgement{
		Topic: References, Verdict: what.verdict, Object: it.Ref, Field: e.Field, Value: e.Value, Reason: what.reason,
		Message: fmt.Sprintf("needs %s, which does not exist: %s", near(to, it.Ref.Namespace), what.message),
		Remedy:  fmt.Sprintf("create %s, add it to the batch, or correct %s", near(to, it.Ref.Namespace), e.Field),
	}
	if state == graph.Unread && !(f.newNamespace(to.Namespace) && !f.inBatch(to)) {
		j.Verdict, j.Reason = undecided, "Unread"
		j.Message = fmt.Sprintf("needs %s, of which it is not known whether it exists: it was not read", near(to, it.Ref.Namespace))
		j.Remedy = "ask somebody who may read it"
	} else if by := f.maker(it, to, e.To); by != "" {
		j.Verdict, j.Reason = undecided, "MadeLater"
		j.Message = fmt.Sprintf("needs %s, which does not exist yet: %s; until then: %s", near(to, it.Ref.Namespace), by, what.message)
		j.Remedy = ""
	}
	if j.Verdict == impossible {
		f.lose(it, what.refuses())
	}
	f.add(j)
}

// refuses says that the pods are not made at all.
func (w fate) refuses() bool {
	return w.message == refusesPods
}

// follows is what a diagnosis says of a reference that no rule of ours is about; nothing
// where it says nothing.
func (f *foresight) follows(it *Item, e graph.Edge) string {
	if f.Graph.State(e.To) == graph.Unread {
		return "it cannot work without"
	}
	id, _ := f.Graph.Find(it.Ref)
	to := f.Graph.Ref(e.To)
	if _, asked := f.says[it]; !asked {
		f.says[it] = f.Graph.Stack([]graph.ID{id}, graph.StackOptions{}).Diagnose()
	}
	for _, p := range f.says[it] {
		if p.Object != it.Ref || p.Related != to || p.Severity > graph.Warning {
			continue
		}
		_, after, found := strings.Cut(p.Message, ": ")
		if words, _, ok := strings.Cut(after, ";"); found && ok {
			return words
		}
		return "it cannot work without"
	}
	return ""
}

// idle says that an object runs no pods: what they would need does not matter now.
func idle(f *foresight, it *Item) bool {
	for _, c := range f.crews {
		if c.item == it {
			return c.wanted == 0 && !c.later
		}
	}
	return false
}

// lose marks the pods of an object as judged: no room is looked for. Those that are refused
// are not even made.
func (f *foresight) lose(it *Item, refused bool) {
	for _, c := range f.crews {
		if c.item == it {
			c.lost, c.refused = true, c.refused || refused
		}
	}
}

func (f *foresight) refuse(it *Item) { f.lose(it, true) }

// givenToAll tells what the control plane makes in every namespace.
func givenToAll(r object.Ref) bool {
	return r.GroupKind() == accountKind && r.Name == "default" || r.GroupKind() == configMapKind && r.Name == "kube-root-ca.crt" ||
		r.GroupKind() == priorityKind && strings.HasPrefix(r.Name, "system-")
}

// served says which kinds of the batch nobody serves.
func (f *foresight) served() {
	defined := f.definitions()
	by := map[string][]*Item{}
	for _, it := range f.order {
		gk := it.Ref.GroupKind()
		if _, ok := f.World.Kinds.Kind(gk); !ok && defined[gk] == nil {
			by[gk.String()] = append(by[gk.String()], it)
		}
	}
	for _, it := range f.order {
		gk := it.Ref.GroupKind()
		items := by[gk.String()]
		if len(items) == 0 || items[0] != it {
			continue
		}
		j := Judgement{
			Topic: References, Verdict: impossible, Object: it.Ref, Field: "kind", Value: gk.String(), Reason: "KindNotServed",
			Message: fmt.Sprintf("the cluster does not serve %s, and no CustomResourceDefinition of the batch defines it: %s cannot be created", gk, many(len(items), "object")),
			Remedy:  "install what brings the kind first, or add its CustomResourceDefinition to the batch",
		}
		if !f.World.Kinds.NotServed(gk) {
			j.Verdict, j.Reason, j.Remedy = undecided, "KindUnknown", ""
			j.Message = fmt.Sprintf("whether the cluster serves %s is not known", gk)
		}
		f.add(j)
	}
}

// namespaces says which namespaces of the batch are not there.
func (f *foresight) namespaces() {
	told := map[string]bool{}
	for _, it := range f.order {
		name := it.Ref.Namespace
		ref := object.Ref{Kind: "Namespace", Name: name}
		if name == "" || told[name] || f.inBatch(ref) {
			continue
		}
		told[name] = true
		n := 0
		for _, other := range f.order {
			if other.Ref.Namespace == name {
				n++
			}
		}
		j := Judgement{Topic: References, Verdict: impossible, Object: it.Ref, Field: "metadata.namespace", Value: name}
		is, known := f.there(ref)
		switch ns, ok := check.Of[*corev1.Namespace](f.World.Facts, ref); {
		case ok && (ns.DeletionTimestamp != nil || ns.Status.Phase == corev1.NamespaceTerminating):
			j.Reason, j.Message = "NamespaceTerminating", fmt.Sprintf("Namespace/%s is being deleted: nothing can be created in it (%s)", name, many(n, "object"))
			j.Remedy = "wait until it is gone, and create it anew"
		case is || ok:
			continue
		case known:
			j.Reason, j.Message = "NamespaceMissing", fmt.Sprintf("Namespace/%s does not exist, and is not in the batch: %s cannot be created", name, many(n, "object"))
			j.Remedy = "create the namespace first, or add it to the batch"
		case f.asked(name):
			continue
		default:
			j.Verdict, j.Reason, j.Message = undecided, "Unread", fmt.Sprintf("whether Namespace/%s exists is not known: it was not read", name)
		}
		if j.Verdict == impossible {
			f.loseAll(name)
		}
		f.add(j)
	}
}

// asked says that the API server admitted an object of the namespace, so that it is there.
func (f *foresight) asked(namespace string) bool {
	return slices.ContainsFunc(f.Admissions, func(a Admission) bool { return a.Ref.Namespace == namespace && a.Admitted != nil })
}

func (f *foresight) loseAll(namespace string) {
	for _, it := range f.order {
		if it.Ref.Namespace == namespace {
			f.refuse(it)
		}
	}
}

// keys finds containers that take a key from a ConfigMap or Secret of the batch that has no
// such key. Those of the cluster are never read that far.
func (f *foresight) keys() {
	for _, c := range f.crews {
		if c.wanted == 0 && !c.later {
			continue
		}
		for _, list := range [][]corev1.Container{c.pod.Spec.InitContainers, c.pod.Spec.Containers} {
			for i := range list {
				for j := range list[i].Env {
					f.keyOf(c, &list[i], &list[i].Env[j])
				}
			}
		}
	}
}

func (f *foresight) keyOf(c *crew, in *corev1.Container, env *corev1.EnvVar) {
	if env.ValueFrom == nil {
		return
	}
	ref, key, optional := object.Ref{Namespace: c.pod.Namespace}, "", (*bool)(nil)
	switch from := env.ValueFrom; {
	case from.ConfigMapKeyRef != nil:
		ref.Kind, ref.Name, key, optional = "ConfigMap", from.ConfigMapKeyRef.Name, from.ConfigMapKeyRef.Key, from.ConfigMapKeyRef.Optional
	case from.SecretKeyRef != nil:
		ref.Kind, ref.Name, key, optional = "Secret", from.SecretKeyRef.Name, from.SecretKeyRef.Key, from.SecretKeyRef.Optional
	default:
		return
	}
	it := f.items[ref]
	if optional != nil && *optional || it == nil && !f.known(ref) {
		return
	}
	if it == nil || it.Exists {
		f.note("whether %s has the keys that containers take from it", plain(ref))
		return
	}
	var keys []string
	for _, part := range []string{"data", "stringData", "binaryData"} {
		within, _, _ := unstructured.NestedMap(it.Object.Object, part)
		for k := range within {
			keys = append(keys, k)
		}
	}
	if slices.Contains(keys, key) {
		return
	}
	slices.Sort(keys)
	c.lost = true
	f.add(Judgement{
		Topic: References, Verdict: impossible, Object: c.of, Reason: "CreateContainerConfigError",
		Field: fmt.Sprintf(c.spec()+".containers[%s].env[%s].valueFrom", in.Name, env.Name), Value: key,
		Message: fmt.Sprintf("container %s takes key %q of %s, which the batch makes without it (keys: %s): the container cannot start", in.Name, key, near(ref, ref.Namespace), strings.Join(keys, ", ")),
		Remedy:  "correct the key, or add it",
	})
}

func (f *foresight) known(ref object.Ref) bool { is, _ := f.there(ref); return is }
