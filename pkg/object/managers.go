package object

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TrackingAnnotation is that of Argo CD: NAME:GROUP/KIND:NAMESPACE/NAME. The first NAME is that of
// the Application, prefixed with its namespace and _ unless that is the namespace of the controller
// (argo-cd@v3.6.1:util/argo/resource_tracking.go).
const TrackingAnnotation = "argocd.argoproj.io/tracking-id"

// Application returns the Argo CD Application that marks an object as its own; its namespace is
// empty where the mark has none. The zero Ref is no Application: a mark of another object does not
// count, since controllers copy annotations.
func (o Object) Application() Ref {
	app, rest, ok := strings.Cut(o.Meta.GetAnnotations()[TrackingAnnotation], ":")
	kind, self, both := strings.Cut(rest, ":")
	if app == "" || !ok || !both || kind != o.Group+"/"+o.Kind {
		return Ref{}
	}
	// For a cluster-scoped object the namespace is that of the destination.
	if namespace, name, _ := strings.Cut(self, "/"); name != o.Name || o.Namespace != "" && namespace != o.Namespace {
		return Ref{}
	}
	namespace, name, qualified := strings.Cut(app, "_")
	if !qualified {
		namespace, name = "", app
	}
	return Ref{Group: "argoproj.io", Kind: "Application", Namespace: namespace, Name: name}
}

// FluxManager returns the Kustomization or HelmRelease whose labels an object has. Flux writes
// GROUP/name and GROUP/namespace on all objects that it applies (fluxcd/kustomize-controller and
// helm-controller, docs/spec). Objects of a controller may have copies of them, which do not
// count.
func (o Object) FluxManager() Ref {
	if o.Meta == nil || metav1.GetControllerOfNoCopy(o.Meta) != nil {
		return Ref{}
	}
	labels := o.Meta.GetLabels()
	for _, m := range []Ref{{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization"}, {Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease"}} {
		m.Name, m.Namespace = labels[m.Group+"/name"], labels[m.Group+"/namespace"]
		if m.Name != "" && m.Namespace != "" {
			return m
		}
	}
	return Ref{}
}
