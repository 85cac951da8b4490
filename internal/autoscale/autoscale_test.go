package autoscale_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/autoscale"
	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// deployment is a Deployment with a pod, whose template has something more.
func deployment(name string, replicas int, resources, more string) string {
	return fmt.Sprintf(`---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: shop}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
      containers: [{name: main, image: web, resources: {%[3]s}%[4]s}]
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: %[1]s-1, namespace: shop, uid: rs-%[1]s, labels: {app: %[1]s}, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: %[1]s, uid: d, controller: true}]}
spec: {selector: {matchLabels: {app: %[1]s}}, template: {metadata: {labels: {app: %[1]s}}, spec: {containers: [{name: main, image: web}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: %[1]s-1-a, namespace: shop, labels: {app: %[1]s}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: %[1]s-1, uid: rs-%[1]s, controller: true}]}
spec: {containers: [{name: main, image: web}]}
status: {phase: Running}
`, name, replicas, resources, more)
}

const requests = "requests: {cpu: 100m, memory: 100Mi}"

var web = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}

// world has an application of each Deployment and StatefulSet of a text.
func world(t *testing.T, text string) autoscale.World {
	t.Helper()
	state := checktest.Read(t, nil, text)
	w := autoscale.World{
		Graph: state.Graph, State: state.ClusterState, Stabilization: time.Minute, System: "shop-autoscaling", Source: "of the test", Currency: "EUR",
		Fields: func(object.Ref) map[string]any { return nil }, Usage: map[object.Ref]autoscale.Usage{}, PodCost: map[object.Ref]decimal.Decimal{}, Held: map[object.Ref]string{},
	}
	for _, wl := range state.Workloads() {
		top, _ := state.Graph.Find(state.Top(wl.Ref))
		w.Apps = append(w.Apps, autoscale.App{Name: wl.Ref.Name, Roots: []graph.ID{top}})
	}
	return w
}

// used is what pods use together: usual and peak millicores, and half of a request of memory each.
func used(pods int, usual, peak int64) autoscale.Usage {
	memory := int64(pods) * 50 << 20
	return autoscale.Usage{
		Pods: pods, CPU: autoscale.Percentiles{Usual: usual, Peak: peak}, Memory: autoscale.Percentiles{Usual: memory, Peak: memory},
		Containers: map[string]autoscale.Amounts{"main": {CPU: usual / int64(pods), Memory: 50 << 20}},
	}
}

func TestNumbers(t *testing.T) {
	const budget = `---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
`
	for name, c := range map[string]struct {
		more       string
		replicas   int
		usage      autoscale.Usage
		window     bool
		settings   system.AppAutoscaling
		want       string
		disruption bool
	}{
		"of a moment":               {replicas: 1, usage: used(1, 60, 60), want: "1 1 3"}, // 60/70 -> 1, 180/70 -> 3
		"of a window":               {replicas: 1, usage: used(1, 150, 300), window: true, want: "3 3 7"},
		"exactly one pod":           {replicas: 1, usage: used(1, 70, 70), window: true, want: "1 1 2"},
		"several replicas":          {replicas: 4, usage: used(4, 60, 60), window: true, want: "2 2 4"},
		"with a budget of pods":     {more: budget, replicas: 1, usage: used(1, 60, 60), window: true, want: "2 2 3", disruption: true},
		"a budget that allows none": {more: strings.Replace(budget, "minAvailable: 2", "maxUnavailable: 0", 1), replicas: 1, usage: used(1, 150, 300), window: true, want: "3 3 7", disruption: true},
		"one of no percent":         {more: strings.Replace(budget, "minAvailable: 2", "maxUnavailable: 0%", 1), replicas: 1, usage: used(1, 150, 300), window: true, want: "3 3 7", disruption: true},
		"a budget that allows one":  {more: strings.Replace(budget, "minAvailable: 2", "maxUnavailable: 1", 1), replicas: 1, usage: used(1, 150, 300), window: true, want: "3 3 7"},
		"CPU beside memory":         {replicas: 2, usage: used(2, 400, 400), window: true, settings: system.AppAutoscaling{Memory: 80}, want: "6 6 9"}, // 400/70 -> 6
		"the manifest bounds":       {replicas: 1, usage: used(1, 150, 300), window: true, settings: system.AppAutoscaling{Min: 2, Max: 4}, want: "2 3 4"},
		"a target of the app":       {replicas: 1, usage: used(1, 100, 100), window: true, settings: system.AppAutoscaling{CPU: 25}, want: "4 4 6"},
		"a target of memory":        {replicas: 2, usage: used(2, 10, 10), window: true, settings: system.AppAutoscaling{Memory: 25}, want: "4 4 6"},
		"the manifest, no usage":    {replicas: 1, settings: system.AppAutoscaling{Max: 5}, want: "1 1 5"},
	} {
		t.Run(name, func(t *testing.T) {
			w := world(t, deployment("web", c.replicas, requests, "")+c.more)
			w.Window, w.Apps[0].Settings = c.window, c.settings
			if c.usage.Pods > 0 {
				w.Usage[web] = c.usage
			}
			p := autoscale.Propose(w)
			if len(p.Proposals) != 1 || len(p.Refusals) != 0 {
				t.Fatalf("proposals %+v, refusals %+v", p.Proposals, p.Refusals)
			}
			r := p.Proposals[0]
			if got := fmt.Sprintf("%d %d %d", r.Min, r.Usual, r.Max); got != c.want || r.Scaler != autoscale.Horizontal {
				t.Errorf("min, usual and max are %s of %s, want %s: %q", got, r.Scaler, c.want, r.Reasons)
			}
			if found := len(p.Whole.Findings) > 0 && p.Whole.Findings[0].Reason == "Disruption"; found != c.disruption {
				t.Errorf("findings %+v, want a disruption: %t", p.Whole.Findings, c.disruption)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	hpa := "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web, namespace: shop, labels: {sysop.dev/installed-by: BY}}\nspec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n"
	plain := deployment("web", 1, requests, "")
	claim := "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: files, namespace: shop}\nspec: {accessModes: [ReadWriteOnce]}\n"
	mounted := strings.Replace(strings.Replace(plain, "resources", "volumeMounts: [{name: f, mountPath: /f}], resources", 1), "status: {phase: Running}", "", 1)
	mounted = strings.ReplaceAll(mounted, "image: web}]}\n", "image: web}], volumes: [{name: f, persistentVolumeClaim: {claimName: files}}]}\n")
	for name, c := range map[string]struct {
		text   string
		change func(*autoscale.World)
		reason string
		hint   string
		// proposed says that an HPA is proposed all the same, which does not exist yet.
		proposed bool
	}{
		"another scaler":        {text: plain + strings.Replace(hpa, "BY", "other", 1), reason: "Scaled", hint: "autoscaling: false"},
		"our scaler":            {text: plain + strings.Replace(hpa, "BY", "shop-autoscaling", 1)},
		"the manifest's scaler": {text: plain + strings.Replace(hpa, "labels: {sysop.dev/installed-by: BY}", "labels: {sysop.dev/installed-by: shop}, annotations: {meta.helm.sh/release-name: shop-scalers}", 1), reason: "Stated", hint: "upgrade -f"},
		"an app's own scaler":   {text: plain + strings.Replace(hpa, "labels: {sysop.dev/installed-by: BY}", "labels: {sysop.dev/installed-by: shop}, annotations: {meta.helm.sh/release-name: shop-web}", 1), reason: "Scaled", hint: "autoscaling: false"},
		"another plan's scaler": {text: plain + strings.Replace(hpa, "labels: {sysop.dev/installed-by: BY}", "labels: {sysop.dev/installed-by: web-autoscaling}, annotations: {meta.helm.sh/release-name: web-autoscaling-scalers}", 1), reason: "Scaled"},
		"our unknown usage":     {text: plain + strings.Replace(hpa, "BY", "shop-autoscaling", 1), change: func(w *autoscale.World) { w.Usage = nil }, reason: "Usage"},
		"Flux":                  {text: strings.Replace(plain, "namespace: shop}\nspec:\n  replicas", "namespace: shop, labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux}}\nspec:\n  replicas", 1), reason: "GitOps", hint: "gitops: ignore"},
		"Argo CD":               {text: strings.Replace(plain, "namespace: shop}\nspec:\n  replicas", "namespace: shop, annotations: {argocd.argoproj.io/tracking-id: \"apps:apps/Deployment:shop/web\"}}\nspec:\n  replicas", 1), reason: "GitOps", hint: "gitops: ignore"},
		"Flux, ignored":         {text: strings.Replace(plain, "namespace: shop}\nspec:\n  replicas", "namespace: shop, labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux}}\nspec:\n  replicas", 1), change: func(w *autoscale.World) { w.Apps[0].IgnoreGitOps = true }, proposed: true},
		"held":                  {text: plain, change: func(w *autoscale.World) { w.Held[web] = "Stop" }, reason: "Held"},
		"held app":              {text: plain, change: func(w *autoscale.World) { w.Apps[0].Held = "Stop" }, reason: "Held"},
		"at zero":               {text: deployment("web", 0, requests, ""), reason: "Zero"},
		"no requests":           {text: deployment("web", 1, "", ""), reason: "Requests", hint: "--requests=cpu=80m,memory=64Mi"},
		"a claim":               {text: mounted + claim, change: func(w *autoscale.World) { w.Apps[0].Settings.Max = 3 }, reason: "Claim"},
		"an operator": {text: "---\napiVersion: shop.dev/v1\nkind: Shop\nmetadata: {name: s, namespace: shop, uid: shop-1}\n" +
			strings.Replace(plain, "namespace: shop}\nspec:\n  replicas", "namespace: shop, ownerReferences: [{apiVersion: shop.dev/v1, kind: Shop, name: s, uid: shop-1, controller: true}]}\nspec:\n  replicas", 1), reason: "Operator", hint: "Shop/s"},
	} {
		t.Run(name, func(t *testing.T) {
			w := world(t, c.text)
			w.Usage[web] = used(1, 60, 60)
			if c.change != nil {
				c.change(&w)
			}
			p := autoscale.Propose(w)
			switch {
			case c.proposed && (len(p.Refusals) > 0 || p.Proposals[0].Scaler != autoscale.Horizontal):
				t.Errorf("refused: %+v; proposed: %+v", p.Refusals, p.Proposals)
			case c.proposed:
			case c.reason == "" && (len(p.Refusals) > 0 || p.Proposals[0].Exists.Name != "web"):
				t.Errorf("refused: %+v; proposed: %+v", p.Refusals, p.Proposals)
			case c.reason != "" && (len(p.Refusals) != 1 || p.Refusals[0].Reason != c.reason || !strings.Contains(p.Refusals[0].Hint, c.hint)):
				t.Errorf("refusals %+v, want %s with %q; proposed: %+v", p.Refusals, c.reason, c.hint, p.Proposals)
			}
		})
	}
}

// A shared database is the bottleneck, and the budget bounds the maxima in proportion.
func TestWhole(t *testing.T) {
	needs := ", env: [{name: DB_HOST, value: db}]"
	text := deployment("web", 1, requests, needs) + deployment("api", 1, requests, needs) + strings.NewReplacer("kind: Deployment", "kind: StatefulSet", ", kind: Deployment", ", kind: StatefulSet").Replace(deployment("db", 1, requests, "")) +
		"---\napiVersion: v1\nkind: Service\nmetadata: {name: db, namespace: shop}\nspec: {selector: {app: db}, ports: [{port: 3306}]}\n"
	api := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "api"}
	db := object.Ref{Group: "apps", Kind: "StatefulSet", Namespace: "shop", Name: "db"}
	plan := func(budget string) *autoscale.Plan {
		w := world(t, text)
		w.Window, w.Total, w.Defaults.Budget = true, decimal.NewFromInt(30), budget
		for _, ref := range []object.Ref{web, api, db} {
			w.PodCost[ref] = decimal.NewFromInt(10)
		}
		w.Usage[web], w.Usage[api], w.Usage[db] = used(1, 60, 140), used(1, 60, 280), used(1, 60, 60)
		return autoscale.Propose(w)
	}
	p := plan("")
	if got := p.Whole; got.Bottleneck != db || got.Current != "30.00" || got.Min != "30.00" || got.Max != "100.00" { // web 1 to 3, api 1 to 6
		t.Errorf("the whole is %+v", got)
	}
	for _, r := range p.Proposals {
		if r.Target == db && (r.Scaler != autoscale.Recommendation || len(r.Requests) != 1 || r.Requests[0].CPU != "80m") {
			t.Errorf("the database: %+v", r)
		}
	}
	p = plan("65") // half of what is above the minimum: web 1 + 1, api 1 + 2
	maxima := map[string]int{}
	for _, r := range p.Proposals {
		maxima[r.Target.Name] = r.Max
	}
	if maxima["web"] != 2 || maxima["api"] != 3 || p.Whole.Max != "60.00" {
		t.Errorf("within 65 the maxima are %v, and cost %s", maxima, p.Whole.Max)
	}
	if p = plan("20"); p.Whole.Findings[0].Reason != "Budget" || p.Whole.Max != "30.00" {
		t.Errorf("a budget below the minima: %+v", p.Whole)
	}
}

func TestObjects(t *testing.T) {
	w := world(t, deployment("web", 1, requests, ""))
	w.Usage[web] = used(1, 60, 60)
	text, err := yaml.Marshal(autoscale.Propose(w).Objects()[0].Object)
	if err != nil {
		t.Fatal(err)
	}
	var h autoscalingv2.HorizontalPodAutoscaler
	if err := yaml.UnmarshalStrict(text, &h); err != nil {
		t.Fatal(err)
	}
	if s := h.Spec; s.ScaleTargetRef.Name != "web" || s.ScaleTargetRef.APIVersion != "apps/v1" || *s.MinReplicas != 1 || s.MaxReplicas != 3 || *s.Metrics[0].Resource.Target.AverageUtilization != 70 || *s.Behavior.ScaleDown.StabilizationWindowSeconds != 60 {
		t.Errorf("the scaler is\n%s", text)
	}
}

// Scalers of targets with the same name have names of their own.
func TestScalerNames(t *testing.T) {
	w := world(t, deployment("web", 1, requests, "")+strings.NewReplacer("kind: Deployment", "kind: StatefulSet", "web-1", "web-2", "rs-web", "rs-2").Replace(deployment("web", 1, requests, "")))
	for i := range w.Apps {
		w.Apps[i].Settings.Max = 3
	}
	var names []string
	for _, o := range autoscale.Propose(w).Objects() {
		kind, _, _ := unstructured.NestedString(o.Object, "spec", "scaleTargetRef", "kind")
		names = append(names, o.GetName()+" of "+kind)
	}
	if got := strings.Join(names, ", "); got != "web of Deployment, web-statefulset of StatefulSet" {
		t.Errorf("the scalers are %s", got)
	}
}

func TestStatusOf(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
	limited := func(reason string) autoscalingv2.HorizontalPodAutoscalerCondition {
		return autoscalingv2.HorizontalPodAutoscalerCondition{Type: autoscalingv2.ScalingLimited, Status: corev1.ConditionTrue, Reason: reason, LastTransitionTime: at}
	}
	for name, c := range map[string]struct {
		conditions     []autoscalingv2.HorizontalPodAutoscalerCondition
		limit, problem string
		works          bool
	}{
		"fine":       {[]autoscalingv2.HorizontalPodAutoscalerCondition{{Type: autoscalingv2.ScalingActive, Status: corev1.ConditionTrue}}, "", "", true},
		"at maximum": {[]autoscalingv2.HorizontalPodAutoscalerCondition{limited("TooManyReplicas")}, "max", "", false},
		"at minimum": {[]autoscalingv2.HorizontalPodAutoscalerCondition{limited("TooFewReplicas")}, "min", "", true},
		"slowly":     {[]autoscalingv2.HorizontalPodAutoscalerCondition{limited("ScaleUpLimit")}, "", "", true},
		"blind":      {[]autoscalingv2.HorizontalPodAutoscalerCondition{{Type: autoscalingv2.ScalingActive, Status: corev1.ConditionFalse, Reason: "FailedGetResourceMetric"}}, "", "FailedGetResourceMetric", false},
		"new":        {nil, "", "not evaluated", false},
	} {
		h := &autoscalingv2.HorizontalPodAutoscaler{Spec: autoscalingv2.HorizontalPodAutoscalerSpec{MaxReplicas: 5}, Status: autoscalingv2.HorizontalPodAutoscalerStatus{DesiredReplicas: 3, Conditions: c.conditions}}
		s := autoscale.StatusOf(h, web, decimal.NewFromInt(7), "EUR")
		if s.Limit != c.limit || !strings.Contains(s.Problem, c.problem) || s.Works() != c.works || (s.Limit != "") != s.Since.Equal(at.Time) || s.LiftCost != "7.00" {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
