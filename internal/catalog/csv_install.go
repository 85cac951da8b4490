package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// bundle reads the other manifests.
func (im *Imported) bundle(manifests [][]byte) ([]map[string]any, error) {
	var all []map[string]any
	for i, data := range manifests {
		file := fmt.Sprintf("manifest %d", i+1)
		if len(data) > maxFileBytes {
			return nil, &InvalidError{File: file, Manifest: i + 1, Problems: []strict.Problem{{Line: 1, Column: 1, Message: fmt.Sprintf("it has %d bytes: expected at most %d", len(data), maxFileBytes)}}}
		}
		documents, problem := strict.Documents(data)
		if problem != nil {
			return nil, &InvalidError{File: file, Manifest: i + 1, Problems: []strict.Problem{*problem}}
		}
		for _, d := range documents {
			wrong := notObject(d)
			switch {
			case d.Kind == yaml.ScalarNode && d.ShortTag() == "!!null":
				continue
			case wrong == "" && textOf(d, "kind") == csvName:
				continue
			case wrong != "":
				return nil, &InvalidError{File: file, Manifest: i + 1, Problems: []strict.Problem{strict.At(d, "%s", wrong)}}
			}
			m := &strict.Mapping{}
			o, _ := free(m, d).(map[string]any)
			if len(m.Problems) > 0 {
				return nil, &InvalidError{File: file, Manifest: i + 1, Problems: m.Problems}
			}
			all = append(all, o)
		}
	}
	return all, nil
}

// install makes the objects that OLM would make, definitions first, and says which
// workloads are to be waited for.
func (c *csv) install(im *Imported, v *Version, given []map[string]any) ([]map[string]any, []Workload) {
	if s := c.Spec.Install.Strategy; s != "deployment" {
		im.warn("the install strategy is %q: only deployment is known, and it is read as that", field.Shorten(s))
	}
	all := slices.Clone(given)
	slices.SortStableFunc(all, func(a, b map[string]any) int { return rank(a) - rank(b) })
	everywhere := c.everywhere(im, v.Namespace)
	all = append(all, c.accounts(given)...)
	for _, p := range c.Spec.Install.Spec.Permissions {
		all = grant(all, c.rights(im, p, "", v.Namespace, everywhere))
	}
	for _, p := range c.Spec.Install.Spec.ClusterPermissions {
		all = grant(all, c.rights(im, p, "cluster", v.Namespace, true))
	}
	if slices.ContainsFunc(all, func(o map[string]any) bool { return strings.HasSuffix(fmt.Sprint(o["kind"]), "Binding") }) {
		im.warn("its role bindings name the namespace %s: change them to install it into another one", v.Namespace)
	}
	var ready []Workload
	for _, d := range c.Spec.Install.Spec.Deployments {
		o := d.object(im, v.Namespace, everywhere)
		if o == nil {
			continue
		}
		all = append(all, o)
		ready = append(ready, Workload{Kind: "Deployment.apps", Name: d.Name})
	}
	return all, ready
}

// rank puts definitions before all else.
func rank(o map[string]any) int {
	if o["kind"] == "CustomResourceDefinition" {
		return 0
	}
	return 1
}

// everywhere says whether it can watch all namespaces, and warns of what it cannot.
func (c *csv) everywhere(im *Imported, namespace string) bool {
	modes := map[string]bool{}
	for _, m := range c.Spec.InstallModes {
		modes[m.Type] = m.Supported
	}
	switch all := modes["AllNamespaces"]; {
	case all && (modes["OwnNamespace"] || modes["SingleNamespace"] || modes["MultiNamespace"]):
		im.warn("it is configured to watch all namespaces: its support for single namespaces (installModes) is not converted")
		return true
	case all || len(modes) == 0:
		return true
	case !modes["OwnNamespace"]:
		im.warn("it watches neither all namespaces nor its own one (installModes): it is configured to watch its own, %s, which its authors do not support", namespace)
	default:
		im.warn("it cannot watch all namespaces (installModes): it is configured to watch its own, %s", namespace)
	}
	return false
}

func named(apiVersion, kind, name string) map[string]any {
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name}}
}

// accounts are the service accounts that are named and not given.
func (c *csv) accounts(given []map[string]any) []map[string]any {
	names := map[string]bool{}
	for _, p := range slices.Concat(c.Spec.Install.Spec.Permissions, c.Spec.Install.Spec.ClusterPermissions) {
		names[p.ServiceAccount] = true
	}
	for _, d := range c.Spec.Install.Spec.Deployments {
		if n := lookupNode(&d.Spec, "template", "spec", "serviceAccountName"); n != nil {
			names[n.Value] = true
		}
	}
	delete(names, "default") // every namespace has it
	for _, o := range given {
		if o["kind"] == "ServiceAccount" {
			metadata, _ := o["metadata"].(map[string]any)
			delete(names, fmt.Sprint(metadata["name"]))
		}
	}
	var all []map[string]any
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if len(validation.IsDNS1123Subdomain(name)) == 0 {
			all = append(all, named("v1", "ServiceAccount", name))
		}
	}
	return all
}

// A permission becomes a role and its binding. OLM grants the permissions of a namespace in every
// watched namespace.
func (c *csv) rights(im *Imported, p csvPermission, suffix, namespace string, everywhere bool) []map[string]any {
	m := &strict.Mapping{}
	rules, ok := free(m, &p.Rules).([]any)
	if len(validation.IsDNS1123Subdomain(p.ServiceAccount)) > 0 || !ok || len(m.Problems) > 0 {
		im.warn("the permissions of the service account %q are skipped: they are not a list of rules with a name", field.Shorten(p.ServiceAccount))
		return nil
	}
	operator, _, _ := strings.Cut(strings.ToLower(c.Metadata.Name), ".")
	name := operator + "-" + p.ServiceAccount
	if p.ServiceAccount == operator || strings.HasPrefix(p.ServiceAccount, operator+"-") {
		name = p.ServiceAccount
	}
	if suffix != "" {
		name += "-" + suffix
	}
	kind := "Role"
	if everywhere {
		kind = "ClusterRole"
	}
	role := named("rbac.authorization.k8s.io/v1", kind, name)
	role["rules"] = rules
	binding := named("rbac.authorization.k8s.io/v1", kind+"Binding", name)
	binding["roleRef"] = map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}
	binding["subjects"] = []any{map[string]any{"kind": "ServiceAccount", "name": p.ServiceAccount, "namespace": namespace}}
	return []map[string]any{role, binding}
}

// grant adds a role and its binding, or the rules alone where the role exists.
func grant(all, role []map[string]any) []map[string]any {
	if len(role) == 0 {
		return all
	}
	name := role[0]["metadata"].(map[string]any)["name"]
	for _, o := range all {
		if metadata, _ := o["metadata"].(map[string]any); o["kind"] == role[0]["kind"] && metadata["name"] == name {
			rules, _ := o["rules"].([]any)
			o["rules"] = append(rules, role[0]["rules"].([]any)...)
			return all
		}
	}
	return append(all, role...)
}

// targetNamespaces is the annotation of pods by which OLM says what is to be watched; an
// empty one is every namespace.
const targetNamespaces = "olm.targetNamespaces"

// object is the Deployment; nil where it cannot be one.
func (d *csvDeployment) object(im *Imported, namespace string, everywhere bool) map[string]any {
	spec := plainObject(&d.Spec)
	template, _ := spec["template"].(map[string]any)
	if len(validation.IsDNS1123Subdomain(d.Name)) > 0 || spec["selector"] == nil || template == nil {
		im.warn("the deployment %q is skipped: it has no name, selector or template of a Deployment", field.Shorten(d.Name))
		return nil
	}
	metadata, _ := template["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		template["metadata"] = metadata
	}
	annotations, _ := metadata["annotations"].(map[string]any)
	if annotations == nil {
		annotations = map[string]any{}
		metadata["annotations"] = annotations
	}
	annotations[targetNamespaces] = ""
	if !everywhere {
		annotations[targetNamespaces] = namespace
	}
	o := named("apps/v1", "Deployment", d.Name)
	o["spec"] = spec
	if len(d.Label) > 0 {
		labels := map[string]any{}
		for k, v := range d.Label {
			labels[k] = v
		}
		o["metadata"].(map[string]any)["labels"] = labels
	}
	return o
}
