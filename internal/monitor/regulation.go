package monitor

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// regulation is the app of the Deployment that regulate manifests makes for the System: its series say
// which apps are not Healthy, and which are held. It is false where there is none, or an app has it.
func (s *Scope) regulation() (App, bool) {
	watch := object.Ref{Group: "apps", Kind: "Deployment", Namespace: s.Namespace, Name: system.WatchName(s.Name)}
	has := func(all []*unstructured.Unstructured) bool {
		return slices.ContainsFunc(all, func(o *unstructured.Unstructured) bool { return object.RefOf(o) == watch })
	}
	if !s.System || !has(s.Cluster.Objects) {
		return App{}, false
	}
	app := App{Name: "regulation"}
	for _, a := range s.Apps {
		if has(a.Objects) {
			return App{}, false
		}
		if a.Name == app.Name {
			app.Name = watch.Name
		}
	}
	for _, o := range s.Cluster.Objects {
		owner := metav1.GetControllerOf(o)
		switch ofWatch := o.GetNamespace() == s.Namespace && owner != nil; {
		case object.RefOf(o) == watch,
			ofWatch && owner.Kind == "Deployment" && owner.Name == watch.Name,
			ofWatch && owner.Kind == "ReplicaSet" && strings.HasPrefix(owner.Name, watch.Name+"-") && o.GetLabels()[system.Label] == s.Name:
			app.Objects = append(app.Objects, o)
		}
	}
	return app, true
}

// regulationRules are the alerts about an app by the series of regulate watch.
func (m *maker) regulationRules(a *monitored) []rule {
	if !m.System || len(a.UsedBy) > 0 || a.Name == m.watched {
		return nil
	}
	series := func(name, more string) string {
		return fmt.Sprintf(`%s{system_namespace=%q,system=%q,app=%q%s}`, name, m.Namespace, m.Name, a.Name, more)
	}
	return []rule{
		{
			"SystemAppNotHealthy", "critical", m.threshold("notHealthyMinutes"),
			fmt.Sprintf(`max(%s) > 0`, series("sysop_regulate_app_health", `,health=~"Degraded|Missing|Progressing"`)),
			"it is not Healthy", a.Name + " is Degraded, Missing or Progressing.",
		},
		{
			"SystemAppHeld", "warning", m.threshold("heldMinutes"),
			fmt.Sprintf(`max(%s) > 0`, series("sysop_regulate_held", "")),
			"it is held", a.Name + " is held: what it needs fails, or is upgraded.",
		},
	}
}

// addRegulationGap says that no series says whether an app is Healthy or held.
func (m *maker) addRegulationGap() {
	if m.System && !m.Settings.NoAlerts && m.watched == "" && m.serves("PrometheusRule") {
		m.gap("", "kubectl sysop regulate manifests prints what runs it, for an adopted System",
			"SystemAppNotHealthy and SystemAppHeld cannot fire: no regulate watch of "+m.Name+" runs in the cluster")
	}
}
