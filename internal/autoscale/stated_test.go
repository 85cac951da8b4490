package autoscale_test

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/autoscale"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// stated are the scalers and the refusals of a System of one app.
func stated(t *testing.T, autoscaling, resources string) (scalers, refusals []string) {
	t.Helper()
	sys, problems := system.Parse("test", []byte("apiVersion: sysop.dev/v1alpha1\nkind: System\nmetadata: {name: shop, namespace: shop}\nspec:\n  apps:\n  - name: web\n    autoscaling: "+autoscaling+"\n    resources:\n"+resources))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	objects, refused := autoscale.Stated(sys, source.BuiltInKinds())
	for _, o := range objects {
		scalers = append(scalers, o.GetKind()+"/"+o.GetName())
	}
	for _, r := range refused {
		if r.Target.Name != "web" || r.App != "web" || r.Hint == "" {
			t.Errorf("the refusal is %+v", r)
		}
		refusals = append(refusals, r.Reason+": "+r.Message)
	}
	return scalers, refusals
}

func TestStated(t *testing.T) {
	workload := func(kind, meta, spec, container, volumes string) string {
		return "    - {apiVersion: apps/v1, kind: " + kind + ", metadata: {name: web" + meta + "}, spec: {" + spec + "template: {spec: {containers: [{name: main" + container + "}]" + volumes + "}}}}\n"
	}
	const (
		requested = ", resources: {requests: {cpu: 100m}}"
		claim     = "    - {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: files}, spec: {accessModes: [ReadWriteOnce]}}\n"
		mounted   = ", volumes: [{name: f, persistentVolumeClaim: {claimName: files}}]"
		hpa       = "    - {apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: own}, spec: {scaleTargetRef: {kind: Deployment, name: web}}}\n"
		vpa       = "    - {apiVersion: autoscaling.k8s.io/v1, kind: VerticalPodAutoscaler, metadata: {name: own}, spec: {targetRef: {kind: Deployment, name: web}, updatePolicy: {updateMode: Off}}}\n"
		keda      = "    - {apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: own}, spec: {scaleTargetRef: {name: web}}}\n"
		service   = "    - {apiVersion: v1, kind: Service, metadata: {name: web}}\n"
		shop      = "    - {apiVersion: shop.dev/v1, kind: Shop, metadata: {name: web}}\n"
	)
	plain := workload("Deployment", "", "", requested, "")
	set := workload("StatefulSet", "", "", requested, "")
	for name, c := range map[string]struct {
		autoscaling, resources string
		scalers                string
		refusal                string
	}{
		"a Deployment":             {"{min: 2, max: 5}", plain + service, "HorizontalPodAutoscaler/web", ""},
		"a StatefulSet":            {"{max: 5}", set, "HorizontalPodAutoscaler/web", ""},
		"usage decides":            {"{cpu: 50}", plain, "", ""},
		"excluded":                 {"false", plain, "", ""},
		"target by kind":           {"{max: 5, target: Deployment.apps/web}", plain + service, "HorizontalPodAutoscaler/web", ""},
		"target by plural":         {"{max: 5, target: deployments.apps/web}", plain + service, "HorizontalPodAutoscaler/web", ""},
		"target by short name":     {"{max: 5, target: deploy/shop/web}", plain + set, "HorizontalPodAutoscaler/web", ""},
		"target elsewhere":         {"{max: 5, target: deploy/other/web}", plain, "", ""},
		"a kind that is unserved":  {"{max: 5, target: shops.shop.dev/web}", shop, "HorizontalPodAutoscaler/web", ""},
		"a kind without scale":     {"{max: 5, target: service/web}", service, "", "Operator: its kind has no subresource scale"},
		"a kind that load is not":  {"{max: 5, target: daemonset/web}", workload("DaemonSet", "", "", requested, ""), "", "Kind: a DaemonSet runs one pod on each node"},
		"no requests":              {"{max: 5}", workload("Deployment", "", "", "", ""), "", "Requests: a utilization is a part of the requests, and its container main requests no cpu"},
		"no requests of memory":    {"{max: 5, memory: 80}", plain, "", "Requests: a utilization is a part of the requests, and its container main requests no memory"},
		"limits count as requests": {"{max: 5}", workload("Deployment", "", "", ", resources: {limits: {cpu: 1}}", ""), "HorizontalPodAutoscaler/web", ""},
		"a scaler of the manifest": {"{max: 5}", plain + hpa, "", "Scaled: HorizontalPodAutoscaler/own scales it already (of the manifest)"},
		"one of KEDA":              {"{max: 5}", plain + keda, "", "Scaled: ScaledObject/own"},
		"one of another target":    {"{max: 5}", set + hpa, "HorizontalPodAutoscaler/web", ""},
		"a VPA that recommends":    {"{max: 5}", plain + vpa, "HorizontalPodAutoscaler/web", ""},
		"a claim":                  {"{max: 5}", workload("Deployment", "", "", requested, mounted) + claim, "", "Claim: its pods share the claim files"},
		"a claim, one pod":         {"{max: 1}", workload("Deployment", "", "", requested, mounted) + claim, "HorizontalPodAutoscaler/web", ""},
		"a claim of many":          {"{max: 5}", workload("Deployment", "", "", requested, mounted) + strings.Replace(claim, "WriteOnce", "WriteMany", 1), "HorizontalPodAutoscaler/web", ""},
		"an operator":              {"{max: 5}", workload("Deployment", ", ownerReferences: [{apiVersion: shop.dev/v1, kind: Shop, name: s, uid: u, controller: true}]", "", requested, ""), "", "Operator: the controller of Shop/s sizes it"},
		"at zero":                  {"{max: 5}", workload("Deployment", "", "replicas: 0, ", requested, ""), "", "Zero: its replicas are 0"},
	} {
		t.Run(name, func(t *testing.T) {
			scalers, refusals := stated(t, c.autoscaling, c.resources)
			if got := strings.Join(scalers, " "); got != c.scalers {
				t.Errorf("the scalers are %q, want %q", got, c.scalers)
			}
			if got := strings.Join(refusals, "; "); !strings.HasPrefix(got, c.refusal) || (got == "") != (c.refusal == "") {
				t.Errorf("the refusals are %q, want %q", got, c.refusal)
			}
		})
	}
}
