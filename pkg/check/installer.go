package check

import (
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// InstalledBy says what installed an object, by the marks that installers leave; empty where
// there is none.
func (w *ClusterState) InstalledBy(ref object.Ref) string {
	if name, ns := w.HelmRelease(ref); name != "" {
		return "Helm release " + ns + "/" + name
	}
	labels := w.Labels(ref)
	for _, key := range []string{
		"helm.sh/chart", "app.kubernetes.io/managed-by", "helm.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/name", "argocd.argoproj.io/instance",
		"applyset.kubernetes.io/part-of", "addonmanager.kubernetes.io/mode", "objectset.rio.cattle.io/hash", "kapp.k14s.io/app", "olm.owner", "olm.managed",
	} {
		if v := labels[key]; v != "" {
			return "label " + key + "=" + v
		}
	}
	if labels["heritage"] != "" && labels["chart"] != "" {
		return "label chart=" + labels["chart"]
	}
	for key := range labels {
		if strings.HasPrefix(key, "operators.coreos.com/") {
			return "label " + key
		}
	}
	for _, key := range []string{"argocd.argoproj.io/tracking-id", "argocd.argoproj.io/installation-id", "helm.sh/hook"} {
		if v, ok := w.Facts.Annotation(ref, key); ok {
			return "annotation " + key + "=" + v
		}
	}
	// What another object made goes and changes with that: a provider of Crossplane, an
	// operator of OLM.
	if owner, ok := w.Owner(ref); ok {
		return owner.String()
	}
	return ""
}

// CreatesDefinitions returns the grant by which definitions may be created.
func CreatesDefinitions(grants []Grant) (Grant, bool) {
	for _, g := range grants {
		if g.Namespace == "" && RuleHas(g.Rule.APIGroups, "apiextensions.k8s.io") && RuleHas(g.Rule.Resources, "customresourcedefinitions") && RuleHas(g.Rule.Verbs, "create") && len(g.Rule.ResourceNames) == 0 {
			return g, true
		}
	}
	return Grant{}, false
}
