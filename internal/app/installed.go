package app

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/manual"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// installed describes the operator of a kind on this cluster.
type installed struct {
	running []manual.Running
	// versions are the ClusterServiceVersions that own the definition.
	versions []map[string]any
	// namespaces are those that it runs in.
	namespaces []string
}

var (
	serviceVersionKind = schema.GroupKind{Group: "operators.coreos.com", Kind: "ClusterServiceVersion"}
	workloadKinds      = []schema.GroupKind{{Group: "apps", Kind: "Deployment"}, {Group: "apps", Kind: "StatefulSet"}}
)

// operator finds the workloads that run the operator of the kind, by the labels and annotations of
// the definition. Without these, the operator is unknown.
func (m *ManualReader) operator(ctx context.Context) (*installed, error) {
	if m.installed != nil {
		return m.installed, nil
	}
	m.installed = &installed{}
	if !m.Definition.Known() {
		return m.installed, nil
	}
	marks := manual.MarksOf(m.Definition)
	for _, find := range []func(context.Context, manual.InstallerLabels) error{m.byServiceVersion, m.byRelease, m.byLabels, m.byWebhook} {
		if err := find(ctx, marks); err != nil {
			return nil, err
		}
	}
	return m.installed, nil
}

func (in *installed) add(r manual.Running, namespace string) {
	if namespace != "" && !slices.Contains(in.namespaces, namespace) {
		in.namespaces = append(in.namespaces, namespace)
	}
	i := slices.IndexFunc(in.running, func(other manual.Running) bool { return other.Workload == r.Workload && r.Workload != "" })
	if i < 0 {
		in.running = append(in.running, r)
		return
	}
	for _, e := range r.Evidence {
		if !slices.Contains(in.running[i].Evidence, e) {
			in.running[i].Evidence = append(in.running[i].Evidence, e)
		}
	}
}

// byServiceVersion finds the ClusterServiceVersions of the Operator Lifecycle
// Manager that own the definition, and what they deploy.
func (m *ManualReader) byServiceVersion(ctx context.Context, marks manual.InstallerLabels) error {
	if _, served := m.Session.Kinds.Kind(serviceVersionKind); !served {
		return nil
	}
	owners, err := m.owners(ctx, marks.ServiceVersions)
	if err != nil {
		return err
	}
	if len(owners) == 0 {
		// The annotation names an older version, or is missing.
		var refs []object.Ref
		for _, o := range m.list(ctx, serviceVersionKind, "") {
			if o.Meta.GetLabels()["olm.copiedFrom"] == "" {
				refs = append(refs, o.Ref)
			}
		}
		if owners, err = m.owners(ctx, refs); err != nil {
			return err
		}
	}
	for _, o := range owners {
		csv := o.fields
		m.installed.versions = append(m.installed.versions, csv)
		evidence := fmt.Sprintf("ClusterServiceVersion %s/%s owns the CRD", o.ref.Namespace, o.ref.Name)
		var refs []object.Ref
		for _, name := range manual.Deployments(csv) {
			refs = append(refs, object.Ref{Group: "apps", Kind: "Deployment", Namespace: o.ref.Namespace, Name: name})
		}
		if err := m.run(ctx, refs, manual.ServiceVersion(csv), evidence); err != nil {
			return err
		}
	}
	return nil
}

type picked struct {
	ref    object.Ref
	fields map[string]any
}

// owners returns the ClusterServiceVersions that own the definition.
func (m *ManualReader) owners(ctx context.Context, refs []object.Ref) ([]picked, error) {
	found, err := m.Get(ctx, refs...)
	if err != nil {
		return nil, err
	}
	var out []picked
	for _, ref := range refs {
		if csv := found[ref]; csv != nil && manual.Owns(csv, m.Definition.Name()) {
			out = append(out, picked{ref, csv})
		}
	}
	return out, nil
}

// run adds the workloads that exist; if none does, it adds what installed them.
func (m *ManualReader) run(ctx context.Context, refs []object.Ref, version, evidence string) error {
	found, err := m.Get(ctx, refs...)
	if err != nil {
		return err
	}
	slices.SortFunc(refs, object.Compare)
	any := false
	for _, ref := range refs {
		if o := found[ref]; o != nil {
			r := manual.RunningOf(ref, o, evidence)
			if version != "" {
				r.Version = version
			}
			m.installed.add(r, ref.Namespace)
			any = true
		}
	}
	if !any {
		m.installed.add(manual.Running{Images: []string{}, Version: version, Evidence: []string{evidence}}, "")
	}
	return nil
}

// byRelease finds what the Helm release that installed the definition runs.
func (m *ManualReader) byRelease(ctx context.Context, marks manual.InstallerLabels) error {
	if marks.Release == "" || marks.ReleaseNamespace == "" {
		return nil
	}
	evidence := fmt.Sprintf("Helm release %s/%s installed the CRD (annotation meta.helm.sh/release-name)", marks.ReleaseNamespace, marks.Release)
	if marks.Chart != "" {
		evidence += ", of chart " + marks.Chart
	}
	refs := m.workloads(ctx, marks.ReleaseNamespace, marks.Name, func(o object.Object) bool {
		notes := o.Meta.GetAnnotations()
		return notes[graph.HelmName] == marks.Release && notes[graph.HelmNamespace] == marks.ReleaseNamespace
	})
	return m.run(ctx, refs, "", evidence)
}

// byLabels finds workloads that carry the definition's own recommended labels. It is used only
// without a release, and needs both labels: every installation has the same name.
func (m *ManualReader) byLabels(ctx context.Context, marks manual.InstallerLabels) error {
	if marks.Release != "" || marks.Instance == "" || marks.Name == "" || len(m.installed.running) > 0 {
		return nil
	}
	refs := m.workloads(ctx, "", marks.Name, func(o object.Object) bool {
		labels := o.Meta.GetLabels()
		return labels[graph.InstanceLabel] == marks.Instance && labels["app.kubernetes.io/name"] == marks.Name
	})
	if len(refs) == 0 {
		return nil
	}
	return m.run(ctx, refs, "", fmt.Sprintf("it has the labels of the CRD, app.kubernetes.io/name=%s and %s=%s", marks.Name, graph.InstanceLabel, marks.Instance))
}

// byWebhook finds the workload behind the Service that converts the objects.
func (m *ManualReader) byWebhook(ctx context.Context, marks manual.InstallerLabels) error {
	if marks.Webhook.Name == "" {
		return nil
	}
	found, err := m.Get(ctx, marks.Webhook)
	if err != nil || found[marks.Webhook] == nil {
		return err
	}
	all := m.workloads(ctx, marks.Webhook.Namespace, "", func(object.Object) bool { return true })
	bodies, err := m.Get(ctx, all...)
	if err != nil {
		return err
	}
	for _, ref := range all {
		if o := bodies[ref]; o != nil && manual.Selects(found[marks.Webhook], o) {
			evidence := fmt.Sprintf("it serves Service %s/%s, which converts the objects (spec.conversion of the CRD)", marks.Webhook.Namespace, marks.Webhook.Name)
			m.installed.add(manual.RunningOf(ref, o, evidence), ref.Namespace)
		}
	}
	return nil
}

// workloads lists the Deployments and StatefulSets that want accepts: those with the name in their
// label, if there are any.
func (m *ManualReader) workloads(ctx context.Context, namespace, name string, want func(object.Object) bool) []object.Ref {
	var all, named []object.Ref
	for _, gk := range workloadKinds {
		for _, o := range m.list(ctx, gk, namespace) {
			if !want(o) {
				continue
			}
			all = append(all, o.Ref)
			if name != "" && o.Meta.GetLabels()["app.kubernetes.io/name"] == name {
				named = append(named, o.Ref)
			}
		}
	}
	if len(named) > 0 {
		all = named
	}
	slices.SortFunc(all, object.Compare)
	return all
}
